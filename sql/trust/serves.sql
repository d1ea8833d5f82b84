-- name: trust/serves
-- description: The newest calls that each template served, whether it answered or fell through after its program
--     failed, with the counts over all of them.
-- grain: one row per template and served call
-- reads: served_v
-- params:
--   $templates VARCHAR[] names
--   $newest BIGINT at most so many of each template
-- returns:
--   template VARCHAR name
--   ts TIMESTAMP UTC
--   is_good BOOLEAN it ran to its value and nobody called it wrong
--   trace_id VARCHAR the call's trace
--   good BIGINT good serves in all
--   bad BIGINT bad serves in all
with serves as (
    select template, ts, event_id, category = 'serve-success' as is_good, trace_id
    from served_v
    where not is_future and list_contains($templates::varchar[], template)
),

totals as (
    select template, count(*) filter (where is_good) as good, count(*) filter (where not is_good) as bad
    from serves
    group by template
),

newest as (
    select template, unnest(max(
        {'ts': ts, 'event_id': event_id, 'is_good': is_good, 'trace_id': trace_id}, $newest::bigint
    )) as s
    from serves
    group by template
)

select n.template, n.s.ts as ts, n.s.is_good as is_good, n.s.trace_id as trace_id, t.good, t.bad
from newest as n
inner join totals as t on n.template = t.template
order by n.template, n.s.ts, n.s.event_id;
