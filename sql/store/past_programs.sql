-- name: store/past_programs
-- description: Intents with a program that is known to answer them: written by the caller or marked good, never marked
--   bad. Newest first.
-- grain: one row per trace
-- reads: traces, feedback
-- params:
--   $kit VARCHAR kit name, null for every kit
--   $limit INTEGER rows at most, >= 1
-- returns:
--   trace_id VARCHAR id
--   intent VARCHAR the caller's words
--   program VARCHAR program that ran
with verdicts as (
    select
        trace_id,
        bool_or(verdict = 'good') as is_good,
        bool_or(verdict = 'bad') as is_bad
    from feedback
    group by trace_id
)

select
    t.trace_id,
    t.intent,
    t.program
from traces as t
left join verdicts as v on v.trace_id = t.trace_id
where
    t.success
    and t.program is not null
    and trim(t.intent) <> ''
    and (t.tier = 'caller' or coalesce(v.is_good, false))
    and not coalesce(v.is_bad, false)
    and ($kit::varchar is null or t.kit = $kit)
order by t.ts desc, t.trace_id desc
limit $limit
