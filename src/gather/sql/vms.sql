SELECT i.id, i.uuid, i.name, i.instance_name, i.state, i.type, i.host_id, i.last_host_id, {{vm_instance.i.power_host}},
       i.account_id, i.domain_id, i.data_center_id, i.hypervisor_type, i.removed, i.update_time,
       {{vm_instance.i.backup_offering_id}}
  FROM vm_instance i
 WHERE {{where}}
 ORDER BY i.id
