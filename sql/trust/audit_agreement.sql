-- name: trust/audit_agreement
-- description: How often a model agreed with each template since the template last began its probation, or a person last
--     decided about it: what led to an earlier quarantine isn't held against it twice.
-- grain: one row per audited template
-- reads: audits, template_states
-- params: none
-- returns:
--   template VARCHAR name
--   agrees BIGINT calls
--   disagrees BIGINT calls
--   silent BIGINT calls for which the model had no valid program
--   example VARCHAR trace of the newest disagreement
with began as (
    select template, max(since) as since
    from template_states
    where state = 'probation' or decided_by <> 'riggs'
    group by template
)

select
    a.template,
    count(*) filter (where a.agrees) as agrees,
    count(*) filter (where not a.agrees) as disagrees,
    count(*) filter (where a.agrees is null) as silent,
    arg_max(a.trace_id, a.seen_at) filter (where not a.agrees) as example
from audits as a
left join began as b on a.template = b.template
where a.seen_at >= coalesce(b.since, a.seen_at)
group by a.template
order by disagrees desc, a.template;
