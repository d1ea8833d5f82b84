-- name: trust/windows
-- description: The three windows of each subject over its whole history, in closed form: an exponentially weighted
--     mean from the prior on, s := s + alpha * (score - s) for each event in order of time, then id.
-- grain: one row per scope and key
-- reads: trust_events
-- params:
--   $categories VARCHAR[] categories and bare outcomes of the score table
--   $scores DOUBLE[] their scores, 0..1
--   $ignored VARCHAR[] categories that never move trust
--   $until TIMESTAMP later events are left out, UTC
--   $scope VARCHAR scope to compute, NULL for all
--   $keys VARCHAR[] keys to compute, NULL for all
--   $prior DOUBLE value before the first event, 0..1
--   $immediate DOUBLE alpha of the immediate window
--   $session DOUBLE alpha of the session window
--   $baseline DOUBLE alpha of the baseline window
-- returns:
--   scope VARCHAR project, session, tool, template
--   key VARCHAR which one
--   events BIGINT scored events
--   immediate DOUBLE 0..1
--   session DOUBLE 0..1
--   baseline DOUBLE 0..1
--   last_ts TIMESTAMP time of the last event, UTC
--   last_event_id VARCHAR its id
--   fingerprint UBIGINT changes when any event or its score does
--   capped BIGINT self-reported events, for which the closed form doesn't hold
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
        and ($scope::varchar is null or e.scope = $scope::varchar)
        and ($keys::varchar[] is null or e.key in (select unnest($keys::varchar[])))
),

numbered as (
    select
        scope,
        key,
        ts,
        event_id,
        score,
        is_capped,
        row_number() over (partition by scope, key order by ts nulls first, event_id) as i,
        count(*) over (partition by scope, key) as n
    from events
)

select
    scope,
    key,
    count(*) as events,
    any_value(power(1 - $immediate::double, n)) * $prior::double
    + sum($immediate::double * power(1 - $immediate::double, n - i) * score) as immediate,
    any_value(power(1 - $session::double, n)) * $prior::double
    + sum($session::double * power(1 - $session::double, n - i) * score) as session,
    any_value(power(1 - $baseline::double, n)) * $prior::double
    + sum($baseline::double * power(1 - $baseline::double, n - i) * score) as baseline,
    arg_max_null(ts, i) as last_ts,
    arg_max(event_id, i) as last_event_id,
    bit_xor(hash(event_id, score, is_capped)) as fingerprint,
    count(*) filter (where is_capped) as capped
from numbered
group by scope, key
order by scope, key;
