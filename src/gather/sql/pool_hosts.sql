SELECT r.pool_id, r.host_id
  FROM storage_pool_host_ref r
 ORDER BY r.pool_id, r.host_id
