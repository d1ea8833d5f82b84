-- name: brief/set_mark
-- description: Remembers when a brief of a project was shown.
-- grain: one row per project
-- reads: brief_marks
-- params:
--   $project VARCHAR workspace folder's name
--   $marked_at TIMESTAMP UTC
-- returns: none
insert into brief_marks values ($project::varchar, $marked_at::timestamp)
on conflict do update set marked_at = excluded.marked_at;
