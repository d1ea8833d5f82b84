-- name: analytics/tier_share_daily
-- description: How each UTC calendar day's calls were served; calls stamped in the future are left out.
-- grain: one row per day and tier
-- reads: traces_v
-- params: none
-- returns:
--   day DATE UTC calendar day
--   tier VARCHAR 0, 1, 2, 3, caller, or none when no tier served it
--   calls BIGINT calls
--   share DOUBLE of the day's calls, 0 to 1
with calls as (
    select ts::date as day, coalesce(tier, 'none') as tier
    from traces_v
    where not is_future
),

counted as (
    select day, tier, count(*) as calls
    from calls
    group by day, tier
)

select day, tier, calls, calls / sum(calls) over (partition by day) as share
from counted
order by day, tier
