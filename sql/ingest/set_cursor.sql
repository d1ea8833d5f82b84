-- name: ingest/set_cursor
-- description: Remembers where a stream was left.
-- grain: one row per stream
-- reads: source_cursors
-- params:
--   $source VARCHAR source name
--   $stream VARCHAR stream within the source
--   $cursor VARCHAR JSON text that the source understands
-- returns: none
insert into source_cursors values ($source::varchar, $stream::varchar, $cursor::varchar)
on conflict do update set cursor = excluded.cursor;
