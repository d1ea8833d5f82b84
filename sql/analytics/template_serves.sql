-- name: analytics/template_serves
-- description: What each template served, and how it went.
-- grain: one row per template that served a call
-- reads: traces_v
-- params: none
-- returns:
--   template VARCHAR template name
--   served BIGINT calls
--   successes BIGINT ran and not marked bad
--   failures BIGINT failed or marked bad
--   bad BIGINT marked bad
--   wrong_rate DOUBLE failures / served, 0 to 1
--   first_at TIMESTAMP first serve, UTC
--   last_at TIMESTAMP last serve, UTC
--   age_days BIGINT days from first to last serve
--   median_ms DOUBLE whole call, milliseconds
select
    template,
    count(*) as served,
    count(*) filter (where is_success) as successes,
    count(*) filter (where not is_success) as failures,
    count(*) filter (where is_bad) as bad,
    avg((not is_success)::integer) as wrong_rate,
    min(ts) as first_at,
    max(ts) as last_at,
    date_diff('day', min(ts), max(ts)) as age_days,
    median(total_ms) as median_ms
from traces_v
where tier = '0' and template is not null and error_kind is distinct from 'cancelled'
group by template
order by served desc, template
