-- name: store/segments
-- description: How far each journal segment was read.
-- grain: one row per segment file
-- reads: journal_segments
-- params: none
-- returns:
--   segment VARCHAR file name
--   offset_bytes BIGINT first byte not read yet
--   lines BIGINT lines read so far
select segment, offset_bytes, lines
from journal_segments;
