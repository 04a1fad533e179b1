SELECT v.version
  FROM version v
 WHERE v.step = 'Complete'
 ORDER BY v.id DESC
 LIMIT 1
