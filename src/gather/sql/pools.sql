SELECT p.id, p.uuid, p.name, p.pool_type, p.host_address, p.port, p.path, {{storage_pool.p.scope}}, p.data_center_id,
       p.cluster_id, {{storage_pool.p.hypervisor}}, {{storage_pool.p.managed}}, p.removed
  FROM storage_pool p
 ORDER BY p.id
