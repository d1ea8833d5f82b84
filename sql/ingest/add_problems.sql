-- name: ingest/add_problems
-- description: Adds records that couldn't be read.
-- grain: one row per added record
-- reads: source_problems
-- params:
--   $source VARCHAR source name
--   $stream VARCHAR stream within the source
--   $position BIGINT[] byte offsets or record ids
--   $reason VARCHAR[] clauses
-- returns: none
insert into source_problems
select $source::varchar, $stream::varchar, unnest($position::bigint[]), unnest($reason::varchar[])
on conflict do nothing;
