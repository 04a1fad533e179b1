SELECT m.msid
  FROM mshost m
 WHERE m.state = 'Up' AND m.removed IS NULL
