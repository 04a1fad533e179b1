SELECT u.id, u.type, u.created, u.resource_id
  FROM usage_event u
 WHERE u.type IN ('VOLUME.ATTACH', 'VOLUME.DETACH')
   AND u.resource_id IN ({{where}})
 ORDER BY u.id DESC
