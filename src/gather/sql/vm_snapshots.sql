SELECT DISTINCT s.vm_id
  FROM vm_snapshots s
 WHERE s.removed IS NULL
