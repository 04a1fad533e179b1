SELECT j.id, CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(j.job_cmd_info, '"ctxStartEventId":"', -1), '"', 1) AS UNSIGNED)
  FROM async_job j
 WHERE j.instance_type = 'Volume'
   AND j.instance_id = {{where}}
   AND j.job_cmd_info LIKE '%"ctxStartEventId":"%'
 ORDER BY j.id
