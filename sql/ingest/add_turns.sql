-- name: ingest/add_turns
-- description: Adds turns that the store doesn't have yet.
-- grain: one row per added turn
-- reads: turns
-- params:
--   $turn_id VARCHAR[] keys
--   $source VARCHAR[] source names
--   $session_id VARCHAR[] sessions
--   $ts TIMESTAMP[] start, UTC
--   $project VARCHAR[] workspace folder names
--   $kind VARCHAR[] call, tests, commit, prompt, mode, …
--   $tool VARCHAR[] tool names, empty for none
--   $outcome VARCHAR[] success, failure, denied, unknown
--   $category VARCHAR[] key of the score table, empty for KIND-OUTCOME
--   $provenance VARCHAR[] observed, self_reported
--   $parent_id VARCHAR[] turn or agent a side chain belongs to
--   $is_sidechain BOOLEAN[] a helper of the outer agent did it
--   $intent VARCHAR[] words
--   $program VARCHAR[] program text
--   $detail VARCHAR[] JSON text: what was asked
--   $result VARCHAR[] JSON text: how it ended
--   $ended_at TIMESTAMP[] end, UTC
-- returns: none
insert into turns
select
    unnest($turn_id::varchar[]),
    unnest($source::varchar[]),
    unnest($session_id::varchar[]),
    unnest($ts::timestamp[]),
    unnest($project::varchar[]),
    unnest($kind::varchar[]),
    unnest($tool::varchar[]),
    unnest($outcome::varchar[]),
    unnest($category::varchar[]),
    unnest($provenance::varchar[]),
    unnest($parent_id::varchar[]),
    unnest($is_sidechain::boolean[]),
    unnest($intent::varchar[]),
    unnest($program::varchar[]),
    unnest($detail::varchar[]),
    unnest($result::varchar[]),
    unnest($ended_at::timestamp[])
on conflict do nothing;
