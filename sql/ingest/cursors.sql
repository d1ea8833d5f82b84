-- name: ingest/cursors
-- description: Where each stream of a source was left.
-- grain: one row per stream
-- reads: source_cursors
-- params:
--   $source VARCHAR source name
-- returns:
--   stream VARCHAR stream within the source
--   cursor VARCHAR JSON text that the source understands
select stream, cursor::varchar as cursor
from source_cursors
where source = $source
order by stream;
