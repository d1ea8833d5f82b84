-- name: ratchet/rollup_rows
-- description: Attempts counted by normal form and session, for traces from a position on or for named normal forms.
-- grain: one row per normal form and session
-- reads: traces, feedback, normalised
-- params:
--   $seen BIGINT first trace row to count
--   $until BIGINT first trace row to leave out
--   $norm_ids VARCHAR[] only these normal forms, all when null
-- returns:
--   norm_id UHUGEINT normal form
--   session_id VARCHAR session
--   attempts BIGINT valid programs that a caller or model wrote
--   successes BIGINT of these, ran and were not marked bad
--   failures BIGINT of these, all others
--   bad BIGINT of these, marked bad
--   served BIGINT calls that a template or rule served
--   model_ms DOUBLE milliseconds spent on programs
--   cost_usd DOUBLE dollars
--   first_at TIMESTAMP first call, UTC
--   last_at TIMESTAMP last call, UTC
with fresh as (
    select trace_id, session_id, ts, intent, program, kit, tier, success, gen_ms, cost_usd
    from traces
    where
        rowid >= $seen
        and rowid < $until
        and valid
        and intent <> ''
        and program is not null
        and coalesce(error_kind, '') <> 'cancelled'
),

verdicts as (
    select trace_id, arg_max(verdict, ts) = 'bad' as is_bad from feedback group by trace_id
),

attempts as (
    select
        n.norm_id,
        f.session_id,
        f.ts,
        coalesce(f.tier, '') in ('0', '1') as is_served,
        f.success and not coalesce(v.is_bad, false) as is_success,
        coalesce(v.is_bad, false) as is_bad,
        f.gen_ms,
        f.cost_usd
    from fresh as f
    inner join normalised as n on n.intent = f.intent and n.program = f.program and n.kit = f.kit
    left join verdicts as v on v.trace_id = f.trace_id
    where $norm_ids is null or list_contains($norm_ids, n.norm_id::varchar)
)

select
    norm_id,
    session_id,
    count(*) filter (where not is_served) as attempts,
    count(*) filter (where not is_served and is_success) as successes,
    count(*) filter (where not is_served and not is_success) as failures,
    count(*) filter (where not is_served and is_bad) as bad,
    count(*) filter (where is_served) as served,
    coalesce(sum(gen_ms) filter (where not is_served), 0)::double as model_ms,
    coalesce(sum(cost_usd), 0)::double as cost_usd,
    min(ts) as first_at,
    max(ts) as last_at
from attempts
group by norm_id, session_id
