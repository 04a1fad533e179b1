SELECT v.id, v.uuid, v.name, v.path, {{volumes.v.iscsi_name}}, v.pool_id, v.last_pool_id, v.instance_id, v.device_id,
       v.volume_type, v.state, v.account_id, v.domain_id, v.data_center_id, v.size, v.attached, v.updated, v.removed,
       v.update_count, {{volumes.v.passphrase_id}}, {{volumes.v.last_id}}
  FROM volumes v
 WHERE {{where}}
 ORDER BY v.id
