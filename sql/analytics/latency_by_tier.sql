-- name: analytics/latency_by_tier
-- description: Time and money by who wrote the program.
-- grain: one row per tier
-- reads: traces_v
-- params: none
-- returns:
--   tier VARCHAR 0, 1, 2, 3, caller, or none
--   calls BIGINT calls
--   success_rate DOUBLE 0 to 1
--   median_ms DOUBLE whole call, milliseconds
--   p95_ms DOUBLE whole call, milliseconds
--   median_gen_ms DOUBLE finding the program, milliseconds
--   tokens_in HUGEINT prompt tokens, null when unknown
--   tokens_out HUGEINT completion tokens, null when unknown
--   cost_usd DOUBLE dollars together
select
    coalesce(tier, 'none') as tier,
    count(*) as calls,
    avg(is_success::integer) as success_rate,
    median(total_ms) as median_ms,
    quantile_cont(total_ms, 0.95) as p95_ms,
    median(gen_ms) as median_gen_ms,
    sum(tokens_in) as tokens_in,
    sum(tokens_out) as tokens_out,
    coalesce(sum(cost_usd), 0) as cost_usd
from traces_v
where error_kind is distinct from 'cancelled'
group by coalesce(tier, 'none')
order by tier
