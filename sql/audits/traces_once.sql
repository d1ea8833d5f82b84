-- name: audits/traces_once
-- description: Trace ids that the store holds more than once; must be empty.
-- grain: one row per id held twice
-- reads: traces
-- params: none
-- returns:
--   trace_id VARCHAR id
--   times BIGINT rows with it
select trace_id, count(*) as times
from traces
group by trace_id
having count(*) > 1;
