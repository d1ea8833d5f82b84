-- name: analytics/template_share_daily
-- description: The convergence curve: template-served share of each UTC calendar day.
-- grain: one row per day with calls
-- reads: traces_v
-- params: none
-- returns:
--   day DATE UTC calendar day
--   calls BIGINT calls
--   served BIGINT served from a template and successful
--   share DOUBLE served / calls, 0 to 1
--   wrong HUGEINT template-served calls marked bad or failed
select
    ts::date as day,
    count(*) as calls,
    count(*) filter (where tier = '0' and is_success) as served,
    count(*) filter (where tier = '0' and is_success) / count(*) as share,
    sum((tier = '0' and not is_success)::integer) as wrong
from traces_v
where not is_future
group by day
order by day
