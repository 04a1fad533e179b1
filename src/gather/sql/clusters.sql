SELECT c.id, c.uuid, c.name, c.data_center_id, c.hypervisor_type
  FROM cluster c
 WHERE c.removed IS NULL
 ORDER BY c.id
