-- name: trust/audit_due
-- description: Template-served calls to ask a model about: all in probation, a share of the others, newest first. Which
--     calls are in the share depends on their ids alone, so asking again picks the same ones.
-- grain: one row per call
-- reads: traces_v, audits
-- params:
--   $probation VARCHAR[] templates in probation
--   $served VARCHAR[] all templates that are served
--   $share DOUBLE of the calls of templates not in probation, 0..1
--   $budget BIGINT calls, >= 0
-- returns:
--   trace_id VARCHAR id
--   ts TIMESTAMP when it was served, UTC
--   template VARCHAR that served it
--   intent VARCHAR as given
--   kit VARCHAR kit name
--   params JSON parameter name to type source
--   program VARCHAR that ran
select t.trace_id, t.ts, t.template, t.intent, t.kit, t.params, t.program
from traces_v as t
where t.tier = '0'
    and t.valid
    and t.program is not null
    and not t.is_future
    and coalesce(t.error_kind, '') not in ('cancelled', 'usage')
    and list_contains($served::varchar[], t.template)
    and (
        list_contains($probation::varchar[], t.template)
        or ('0x' || substr(md5(t.trace_id), 1, 8))::bigint < $share::double * 4294967296
    )
    and not exists (select 1 from audits as a where a.trace_id = t.trace_id)
order by list_contains($probation::varchar[], t.template) desc, t.ts desc, t.trace_id
limit $budget::bigint;
