-- name: audits/traces_sound
-- description: Traces that contradict themselves; must be empty.
-- grain: one row per contradiction
-- reads: traces
-- params: none
-- returns:
--   trace_id VARCHAR id
--   problem VARCHAR what is wrong
select trace_id, 'succeeded without a valid program' as problem
from traces
where success and not valid
union all
select trace_id, 'succeeded with an error kind' as problem
from traces
where success and error_kind is not null
union all
select trace_id, 'negative duration' as problem
from traces
where least(gen_ms, validate_ms, run_ms, total_ms) < 0;
