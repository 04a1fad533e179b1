SELECT z.id, z.uuid, z.name
  FROM data_center z
 WHERE z.removed IS NULL
 ORDER BY z.id
