SELECT h.id, h.uuid, h.name, h.private_ip_address, h.data_center_id, h.cluster_id, h.status, h.resource_state, h.removed
  FROM host h
 WHERE h.type = 'Routing' AND h.hypervisor_type = 'KVM'
   AND (h.removed IS NULL
        OR EXISTS (SELECT 1 FROM vm_instance i WHERE i.host_id = h.id AND i.removed IS NULL AND i.state = 'Running'))
 ORDER BY h.id
