-- name: store/set_segments
-- description: Remembers how far journal segments were read.
-- grain: one row per segment file
-- reads: none
-- params:
--   $segments VARCHAR[] file names
--   $offsets BIGINT[] first byte not read yet
--   $lines BIGINT[] lines read so far
-- returns:
--   Count BIGINT rows written
insert into journal_segments
select unnest($segments::varchar[]), unnest($offsets::bigint[]), unnest($lines::bigint[])
on conflict (segment) do update set offset_bytes = excluded.offset_bytes, lines = excluded.lines;
