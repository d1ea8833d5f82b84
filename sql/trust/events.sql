-- name: trust/events
-- description: Scored events of some subjects in the order that the windows take them.
-- grain: one row per scope, key and event
-- reads: trust_events
-- params:
--   $categories VARCHAR[] categories and bare outcomes of the score table
--   $scores DOUBLE[] their scores, 0..1
--   $ignored VARCHAR[] categories that never move trust
--   $until TIMESTAMP later events are left out, UTC
--   $scope VARCHAR scope to read
--   $keys VARCHAR[] keys to read
--   $newest BIGINT at most so many of each key, the last ones
-- returns:
--   key VARCHAR which one
--   ts TIMESTAMP UTC
--   event_id VARCHAR id of the event
--   score DOUBLE 0..1
--   is_capped BOOLEAN self-reported: may not raise a window
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
        and e.scope = $scope::varchar
        and e.key in (select unnest($keys::varchar[]))
)

select key, ts, event_id, score, is_capped
from events
qualify row_number() over (partition by key order by ts desc nulls last, event_id desc) <= $newest::bigint
order by key, ts nulls first, event_id;
