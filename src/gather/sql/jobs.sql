SELECT j.id, j.related, j.job_cmd, j.job_type, j.job_status, j.instance_type, j.instance_id, w.vm_instance_id,
       p.instance_type, p.instance_id,
       CASE WHEN j.job_type = 'VmWork'
             AND j.job_cmd IN ('com.cloud.vm.VmWorkAttachVolume', 'com.cloud.vm.VmWorkDetachVolume')
             AND (p.instance_type IS NULL OR p.instance_type <> 'Volume' OR p.instance_id IS NULL)
            THEN j.job_cmd_info END,
       s.volume_id,
       j.created, j.last_updated, j.job_result LIKE '%blocking others%', i.id, i.queue_proc_number,
       j.job_executing_msid, j.job_init_msid, t.vm_id,
       CASE WHEN j.job_status <> 2 THEN NULL
            WHEN COALESCE(p.job_result, j.job_result) LIKE '%getDiskSeq%' THEN 'no-device-id'
            WHEN COALESCE(p.job_result, j.job_result) LIKE '%already in the process of unplug%' THEN 'unplug-pending'
            WHEN COALESCE(p.job_result, j.job_result) LIKE '%Could not detach volume after sending the command%' THEN 'still-plugged'
            WHEN COALESCE(p.job_result, j.job_result) LIKE '%duplicated%' THEN 'target-taken'
            WHEN COALESCE(p.job_result, j.job_result) LIKE '%already attached to a VM%' THEN 'already-attached'
            WHEN COALESCE(p.job_result, j.job_result) LIKE '%management server restart or shutdown%' THEN 'restart' END
  FROM async_job j
  LEFT JOIN vm_work_job w ON w.id = j.id
  LEFT JOIN async_job p ON p.id = CAST(NULLIF(j.related, '') AS UNSIGNED)
  LEFT JOIN snapshots s ON COALESCE(p.instance_type, j.instance_type) = 'Snapshot'
                       AND s.id = COALESCE(p.instance_id, j.instance_id)
  LEFT JOIN vm_snapshots t ON j.instance_type = 'VmSnapshot' AND t.id = j.instance_id
  LEFT JOIN sync_queue_item i ON i.content_type = 'AsyncJob' AND i.content_id = j.id AND j.job_status = 0
 WHERE j.job_status = 0
    OR j.job_cmd IN ('com.cloud.vm.VmWorkAttachVolume', 'com.cloud.vm.VmWorkDetachVolume',
                     'org.apache.cloudstack.api.command.user.volume.AttachVolumeCmd',
                     'org.apache.cloudstack.api.command.user.volume.DetachVolumeCmd',
                     'org.apache.cloudstack.api.command.admin.volume.AttachVolumeCmdByAdmin',
                     'org.apache.cloudstack.api.command.admin.volume.DetachVolumeCmdByAdmin')
 ORDER BY j.id
