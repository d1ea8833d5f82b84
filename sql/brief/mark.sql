-- name: brief/mark
-- description: When the last brief of a project was shown.
-- grain: one row
-- reads: brief_marks
-- params:
--   $project VARCHAR workspace folder's name
-- returns:
--   marked_at TIMESTAMP UTC
select marked_at
from brief_marks
where project = $project;
