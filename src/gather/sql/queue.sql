SELECT i.content_id, i.id
  FROM sync_queue_item i
 WHERE i.content_type = 'AsyncJob'
 ORDER BY i.id
