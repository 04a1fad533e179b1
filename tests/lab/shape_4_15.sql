-- Turns the 4.22 shape of schema.sql into that of 4.15.
DROP TABLE reconcile_commands;
RENAME TABLE vm_instance_details TO user_vm_details;
ALTER TABLE volumes DROP COLUMN last_id, DROP COLUMN delete_protection, DROP COLUMN passphrase_id, DROP COLUMN encrypt_format, DROP COLUMN external_uuid;
ALTER TABLE event DROP COLUMN resource_id, DROP COLUMN resource_type;
ALTER TABLE host DROP COLUMN last_mgmt_server_id, DROP COLUMN storage_access_groups;
ALTER TABLE vm_instance DROP COLUMN delete_protection;
ALTER TABLE storage_pool DROP COLUMN used_iops;
ALTER TABLE disk_offering DROP COLUMN encrypt, DROP COLUMN compute_only;
ALTER TABLE vm_template DROP COLUMN deploy_as_is;
ALTER TABLE vm_work_job DROP COLUMN secondary_object;
UPDATE version SET version = '4.15.2.0' WHERE version = '4.22.1.0';
