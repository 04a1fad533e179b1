SELECT u.id, u.type, u.created
  FROM usage_event u
 WHERE u.type IN ('VOLUME.ATTACH', 'VOLUME.DETACH')
   AND u.resource_id = {{where}}
 ORDER BY u.id DESC
 LIMIT 500
