-- name: store/insert_problems
-- description: Remembers journal lines that are no records.
-- grain: one row per line
-- reads: none
-- params:
--   $segments VARCHAR[] file names
--   $lines BIGINT[] line numbers, from 1
--   $offsets BIGINT[] bytes before the line
--   $reasons VARCHAR[] why
--   $samples VARCHAR[] start of the line, masked
--   $now TIMESTAMP time of the drain, UTC
-- returns:
--   Count BIGINT rows added
insert into journal_problems
select
    unnest($segments::varchar[]),
    unnest($lines::bigint[]),
    unnest($offsets::bigint[]),
    unnest($reasons::varchar[]),
    unnest($samples::varchar[]),
    $now::timestamp;
