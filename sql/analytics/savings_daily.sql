-- name: analytics/savings_daily
-- description: What template-served calls did not spend on a model: each is taken to cost the median of the model calls before the end of its day.
-- grain: one row per day with calls
-- reads: traces_v
-- params:
--   $model_ms DOUBLE milliseconds of a model call where none was seen
--   $model_usd DOUBLE dollars of a model call where none was seen
-- returns:
--   day DATE UTC calendar day
--   served BIGINT template-served calls
--   saved_seconds DOUBLE model seconds
--   saved_usd DOUBLE dollars
--   spent_seconds DOUBLE model seconds spent
--   spent_usd DOUBLE dollars spent
with model as (
    select
        coalesce(median(gen_ms) filter (where tier in ('2', '3')), $model_ms) as model_ms,
        coalesce(avg(cost_usd) filter (where tier in ('2', '3')), $model_usd) as model_usd
    from traces_v
)

select
    t.ts::date as day,
    count(*) filter (where t.tier = '0' and t.is_success) as served,
    count(*) filter (where t.tier = '0' and t.is_success) * any_value(m.model_ms) / 1000 as saved_seconds,
    (count(*) filter (where t.tier = '0' and t.is_success) * any_value(m.model_usd))::double as saved_usd,
    coalesce(sum(t.gen_ms) filter (where t.tier in ('2', '3')), 0) / 1000 as spent_seconds,
    coalesce(sum(t.cost_usd), 0) as spent_usd
from traces_v as t
cross join model as m
where not t.is_future
group by t.ts::date
order by day
