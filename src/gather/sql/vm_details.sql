SELECT d.vm_id, d.name, d.value
  FROM {{details}} d
 WHERE (d.name = 'dataDiskController' OR d.name LIKE 'extraconfig-%')
   AND {{where}}
 ORDER BY d.vm_id, d.name
