SELECT j.id, j.instance_id, j.uuid,
       CASE WHEN j.job_cmd_info LIKE '%"ctxStartEventId":"%'
            THEN CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(j.job_cmd_info, '"ctxStartEventId":"', -1), '"', 1) AS UNSIGNED) END
  FROM async_job j
 WHERE j.instance_type = 'Volume'
   AND j.instance_id IN ({{where}})
 ORDER BY j.id
