-- name: trust/fresh
-- description: Scored events after the last one that the stored windows hold, in the order that the windows take them.
-- grain: one row per scope, key and event
-- reads: trust_events, trust_state
-- params:
--   $categories VARCHAR[] categories and bare outcomes of the score table
--   $scores DOUBLE[] their scores, 0..1
--   $ignored VARCHAR[] categories that never move trust
--   $until TIMESTAMP later events are left out, UTC
-- returns:
--   scope VARCHAR project, session, tool, template
--   key VARCHAR which one
--   ts TIMESTAMP UTC
--   event_id VARCHAR id of the event
--   score DOUBLE 0..1
--   is_capped BOOLEAN self-reported: may not raise a window
--   mark UBIGINT the event's share of the fingerprint
with scores as (
    select unnest($categories::varchar[]) as category, unnest($scores::double[]) as score
),

events as (
    select
        e.scope,
        e.key,
        e.ts,
        e.event_id,
        coalesce(c.score, o.score) as score,
        e.provenance = 'self_reported' as is_capped
    from trust_events as e
    left join scores as c on e.category = c.category
    left join scores as o on e.outcome = o.category
    where coalesce(c.score, o.score) is not null
        and not list_contains($ignored::varchar[], e.category)
        and (e.ts is null or e.ts <= $until::timestamp)
)

select
    e.scope,
    e.key,
    e.ts,
    e.event_id,
    e.score,
    e.is_capped,
    hash(e.event_id, e.score, e.is_capped) as mark
from events as e
inner join trust_state as s on e.scope = s.scope and e.key = s.key
where (coalesce(e.ts, '-infinity'::timestamp), e.event_id)
    > (coalesce(s.last_ts, '-infinity'::timestamp), s.last_event_id)
order by e.scope, e.key, e.ts nulls first, e.event_id;
