-- name: ratchet/observations
-- description: What the learner reads: requests with their normal form and counts. Of requests that differ in slot values
--   only, the $keep most used stand for themselves and the others are added to the first of them.
-- grain: one row per kept (intent, program, kit)
-- reads: rollup, normalised
-- params:
--   $keep INTEGER requests kept per phrasing and program template, >= 1
-- returns:
--   intent VARCHAR as given
--   program VARCHAR lowered program
--   kit VARCHAR kit name
--   successes HUGEINT attempts that ran and were not marked bad
--   failures HUGEINT all other attempts
--   bad HUGEINT marked bad
--   sessions VARCHAR[] sessions with a success
--   model_ms DOUBLE milliseconds spent on programs
--   cost_usd DOUBLE dollars
with requests as (
    select
        n.norm_id,
        n.intent,
        n.program,
        n.kit,
        n.group_id,
        n.intent_normalized,
        sum(r.successes) as successes,
        sum(r.failures) as failures,
        sum(r.bad) as bad,
        list(distinct r.session_id) filter (where r.successes > 0) as sessions,
        sum(r.model_ms) as model_ms,
        sum(r.cost_usd) as cost_usd
    from rollup as r
    inner join normalised as n on r.norm_id = n.norm_id
    group by n.norm_id, n.intent, n.program, n.kit, n.group_id, n.intent_normalized
    having sum(r.attempts) > 0
),

ranked as (
    select
        *,
        row_number() over (
            partition by group_id, intent_normalized, kit order by successes desc, failures, norm_id
        ) as place
    from requests
),

placed as (
    select *, case when place > $keep then 1 else place end as stands_at
    from ranked
)

select
    any_value(intent) filter (where place <= $keep) as intent,
    any_value(program) filter (where place <= $keep) as program,
    kit,
    sum(successes)::hugeint as successes,
    sum(failures)::hugeint as failures,
    sum(bad)::hugeint as bad,
    list_distinct(flatten(list(coalesce(sessions, [])))) as sessions,
    sum(model_ms) as model_ms,
    sum(cost_usd) as cost_usd
from placed
group by group_id, intent_normalized, kit, stands_at, case when group_id is null then norm_id end
order by successes desc, intent, program
