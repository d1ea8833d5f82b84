-- name: trust/checks
-- description: How far each subject's stored windows are from its history: what they hold, unchanged or not, and how
--     many events came after.
-- grain: one row per scope and key with an event or a stored state
-- reads: trust_events, trust_state
-- params:
--   $categories VARCHAR[] categories and bare outcomes of the score table
--   $scores DOUBLE[] their scores, 0..1
--   $ignored VARCHAR[] categories that never move trust
--   $until TIMESTAMP later events are left out, UTC
--   $settings VARCHAR digest of alphas, prior and scores
-- returns:
--   scope VARCHAR project, session, tool, template
--   key VARCHAR which one
--   is_kept BOOLEAN the stored windows hold exactly the history up to their last event
--   is_gone BOOLEAN no event is left
--   after BIGINT events after the stored last one; all of them when nothing is stored
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
),

sums as (
    select
        e.scope,
        e.key,
        count(*) filter (where coalesce((coalesce(e.ts, '-infinity'::timestamp), e.event_id)
            <= (coalesce(s.last_ts, '-infinity'::timestamp), s.last_event_id), false)) as before,
        bit_xor(hash(e.event_id, e.score, e.is_capped)) filter (where coalesce(
            (coalesce(e.ts, '-infinity'::timestamp), e.event_id)
            <= (coalesce(s.last_ts, '-infinity'::timestamp), s.last_event_id), false)) as fingerprint,
        count(*) as events
    from events as e
    left join trust_state as s on e.scope = s.scope and e.key = s.key
    group by e.scope, e.key
)

select
    coalesce(a.scope, s.scope) as scope,
    coalesce(a.key, s.key) as key,
    coalesce(
        s.settings = $settings::varchar and a.before = s.events and a.fingerprint = s.fingerprint, false
    ) as is_kept,
    a.events is null as is_gone,
    coalesce(a.events - a.before, 0) as after
from sums as a
full join trust_state as s on a.scope = s.scope and a.key = s.key
order by 1, 2;
