-- name: brief/calls
-- description: Delegate calls in a span of time.
-- grain: one row
-- reads: traces_v
-- params:
--   $since TIMESTAMP start, UTC
--   $until TIMESTAMP end, UTC
--   $session VARCHAR one session, NULL for all
-- returns:
--   calls BIGINT calls
--   good BIGINT calls that succeeded and weren't called wrong
--   by_template BIGINT served from tier 0
--   by_rule BIGINT served from tier 1
--   by_model BIGINT served by a model
--   by_caller BIGINT programs of the caller
--   unserved BIGINT no tier had a program
--   bad_serves BIGINT template-served calls that failed or were called wrong
--   spent_seconds DOUBLE model seconds
--   spent_usd DOUBLE dollars
--   saved_seconds DOUBLE model seconds that template-served calls would have cost at the median of all model calls
--   saved_usd DOUBLE dollars, at the mean of all model calls
with model as (
    select
        coalesce(median(gen_ms) filter (where tier in ('2', '3')), 0) / 1000 as seconds,
        coalesce(avg(cost_usd) filter (where tier in ('2', '3')), 0) as usd
    from traces_v
),

span as (
    select *
    from traces_v
    where ts > $since::timestamp and ts <= $until::timestamp
        and ($session::varchar is null or session_id = $session::varchar)
)

select
    count(*) as calls,
    count(*) filter (where is_success) as good,
    count(*) filter (where tier = '0') as by_template,
    count(*) filter (where tier = '1') as by_rule,
    count(*) filter (where tier in ('2', '3')) as by_model,
    count(*) filter (where tier = 'caller') as by_caller,
    count(*) filter (where tier is null) as unserved,
    count(*) filter (where tier = '0' and not is_success) as bad_serves,
    coalesce(sum(gen_ms) filter (where tier in ('2', '3')), 0) / 1000 as spent_seconds,
    coalesce(sum(cost_usd), 0)::double as spent_usd,
    coalesce(count(*) filter (where tier = '0' and is_success) * any_value(m.seconds), 0) as saved_seconds,
    coalesce(count(*) filter (where tier = '0' and is_success) * any_value(m.usd), 0)::double as saved_usd
from span
cross join model as m;
