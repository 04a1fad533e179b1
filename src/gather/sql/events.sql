SELECT e.id, e.type, e.state, e.level, e.start_id, e.created, e.description, {{event.e.resource_id}}
  FROM event e
 WHERE e.type IN ('VOLUME.ATTACH', 'VOLUME.DETACH')
   AND {{where}}
 ORDER BY e.id DESC
