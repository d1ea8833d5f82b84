-- name: analytics/crossover
-- description: First day on which more than half of the calls were template-served, and the share since the last ten days.
-- grain: one row
-- reads: traces_v
-- params: none
-- returns:
--   first_day DATE first day with calls, null without any
--   crossover_day DATE first day above one half, null when there is none
--   crossover_number BIGINT its number, the first day being 1
--   steady_share DOUBLE template-served share of the last ten days with calls, 0 to 1
--   calls HUGEINT calls over all days
with days as (
    select
        ts::date as day,
        count(*) as calls,
        count(*) filter (where tier = '0' and is_success) as served
    from traces_v
    where not is_future
    group by day
),

recent as (
    select * from days order by day desc limit 10
)

select
    (select min(day) from days) as first_day,
    (select min(day) from days where served > calls / 2) as crossover_day,
    (select min(day) from days where served > calls / 2) - (select min(day) from days) + 1 as crossover_number,
    (select sum(served) / nullif(sum(calls), 0) from recent) as steady_share,
    (select coalesce(sum(calls), 0) from days)::hugeint as calls
