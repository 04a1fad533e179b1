SELECT h.id, h.uuid, h.name, h.private_ip_address, h.data_center_id, h.cluster_id, h.status, h.resource_state, h.removed
  FROM host h
 WHERE h.type = 'Routing' AND h.hypervisor_type = 'KVM' AND h.removed IS NULL
 ORDER BY h.id
