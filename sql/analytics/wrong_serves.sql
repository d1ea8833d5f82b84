-- name: analytics/wrong_serves
-- description: Template-served calls that failed or that their caller marked bad.
-- grain: one row per such call
-- reads: traces_v
-- params: none
-- returns:
--   ts TIMESTAMP UTC
--   trace_id VARCHAR trace
--   template VARCHAR template name
--   intent VARCHAR as said
--   program VARCHAR as it ran
--   reason VARCHAR the caller's note, else the error
select ts, trace_id, template, intent, program, coalesce(feedback_note, error, error_kind) as reason
from traces_v
where tier = '0' and not is_success and error_kind is distinct from 'cancelled'
order by ts, trace_id
