-- name: ingest/add_endings
-- description: Adds how turns ended; the first ending of a turn stays.
-- grain: one row per added ending
-- reads: turn_endings
-- params:
--   $turn_id VARCHAR[] keys
--   $outcome VARCHAR[] success, failure, denied, unknown
--   $category VARCHAR[] key of the score table, empty for KIND-OUTCOME
--   $result VARCHAR[] JSON text: how it ended
--   $ended_at TIMESTAMP[] end, UTC
-- returns: none
insert into turn_endings
select
    unnest($turn_id::varchar[]),
    unnest($outcome::varchar[]),
    unnest($category::varchar[]),
    unnest($result::varchar[]),
    unnest($ended_at::timestamp[])
on conflict do nothing;
