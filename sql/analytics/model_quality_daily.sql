-- name: analytics/model_quality_daily
-- description: How well the model tiers did: valid programs and successes by day and model.
-- grain: one row per day and model
-- reads: traces_v
-- params: none
-- returns:
--   day DATE UTC calendar day
--   tier VARCHAR 2 or 3
--   model VARCHAR model id
--   calls BIGINT calls
--   success_rate DOUBLE 0 to 1
--   repaired_rate DOUBLE share with a repair, 0 to 1
--   median_gen_ms DOUBLE milliseconds
select
    ts::date as day,
    tier,
    coalesce(model, 'unknown') as model,
    count(*) as calls,
    avg(is_success::integer) as success_rate,
    avg((coalesce(json_array_length(attempts, '$[#-1].repairs'), 0) > 0)::integer) as repaired_rate,
    median(gen_ms) as median_gen_ms
from traces_v
where tier in ('2', '3') and not is_future
group by ts::date, tier, coalesce(model, 'unknown')
order by day, tier, model
