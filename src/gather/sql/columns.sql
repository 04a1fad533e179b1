SELECT table_name, column_name
  FROM information_schema.columns
 WHERE table_schema = DATABASE()
   AND table_name IN ('volumes', 'vm_instance', 'host', 'cluster', 'data_center', 'storage_pool',
                      'storage_pool_host_ref', 'async_job', 'vm_work_job', 'sync_queue_item', 'snapshots',
                      'vm_snapshots', 'user_vm_details', 'vm_instance_details', 'mshost', 'reconcile_commands',
                      'version', 'event', 'usage_event')
