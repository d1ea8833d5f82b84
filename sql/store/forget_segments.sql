-- name: store/forget_segments
-- description: Drops the cursors of journal segments that are gone.
-- grain: one row per dropped cursor
-- reads: journal_segments
-- params:
--   $present VARCHAR[] file names that still exist
-- returns:
--   Count BIGINT rows removed
delete from journal_segments
where not list_contains($present::varchar[], segment);
