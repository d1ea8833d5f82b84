-- name: analytics/candidates_over_time
-- description: When groups became ripe: the day on which a group had its $frequency-th success.
-- grain: one row per day on which a group became ripe
-- reads: lackpy_traces
-- params:
--   $frequency INTEGER successes >= 1
-- returns:
--   day DATE UTC calendar day
--   ripe BIGINT groups that became ripe
--   ripe_so_far HUGEINT groups ripe by the end of the day
with successes as (
    select
        group_id,
        ts,
        row_number() over (partition by group_id order by ts, trace_id) as nth
    from lackpy_traces
    where valid and success and group_id is not null and coalesce(tier, '') not in ('0', '1')
),

ripened as (
    select ts::date as day, count(*) as ripe
    from successes
    where nth = $frequency
    group by day
)

select day, ripe, sum(ripe) over (order by day)::hugeint as ripe_so_far
from ripened
order by day
