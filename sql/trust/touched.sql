-- name: trust/touched
-- description: Templates that served a call, or whose call got a verdict, since the lifecycle last judged.
-- grain: one row per template
-- reads: traces, feedback, lifecycle_seen
-- params: none
-- returns:
--   template VARCHAR name
with seen as (
    select
        case when traces_seen > (select count(*) from traces) then 0 else traces_seen end as traces_seen,
        case when feedback_seen > (select count(*) from feedback) then 0 else feedback_seen end as feedback_seen
    from lifecycle_seen
),

fresh as (
    select t.template, t.tier, t.attempts
    from traces as t
    cross join seen as s
    where t.rowid >= s.traces_seen
    union all
    select t.template, t.tier, t.attempts
    from feedback as f
    cross join seen as s
    inner join traces as t on f.trace_id = t.trace_id
    where f.rowid >= s.feedback_seen
),

tried as (
    select unnest(json_extract_string(attempts, '$[*].template')) as template
    from fresh
    where tier is distinct from '0' and json_valid(attempts::varchar)
)

select template
from fresh
where tier = '0' and template is not null
union
select template
from tried
where template is not null
order by template;
