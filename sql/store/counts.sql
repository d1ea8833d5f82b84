-- name: store/counts
-- description: How many records the store holds.
-- grain: one row
-- reads: traces, feedback, journal_problems
-- params: none
-- returns:
--   traces BIGINT traces
--   feedback BIGINT verdicts
--   problems BIGINT journal lines that were no records
select
    (select count(*) from traces) as traces,
    (select count(*) from feedback) as feedback,
    (select count(*) from journal_problems) as problems;
