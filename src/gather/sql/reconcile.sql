SELECT r.resource_type, r.resource_id, r.command_name, r.created
  FROM reconcile_commands r
 WHERE r.removed IS NULL
