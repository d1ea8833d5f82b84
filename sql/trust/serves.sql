-- name: trust/serves
-- description: Every time a template served a call, whether it answered or fell through after its program failed.
-- grain: one row per template and served call
-- reads: served_v
-- params: none
-- returns:
--   template VARCHAR name
--   ts TIMESTAMP UTC
--   is_good BOOLEAN it ran to its value and nobody called it wrong
--   trace_id VARCHAR the call's trace
select template, ts, category = 'serve-success' as is_good, trace_id
from served_v
where not is_future
order by template, ts, event_id;
