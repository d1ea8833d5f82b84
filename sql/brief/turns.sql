-- name: brief/turns
-- description: What the sources recorded in a span of time.
-- grain: one row per source
-- reads: turns_v
-- params:
--   $since TIMESTAMP start, UTC
--   $until TIMESTAMP end, UTC
--   $session VARCHAR one session, NULL for all
-- returns:
--   source VARCHAR source
--   turns BIGINT turns
--   successes BIGINT turns that succeeded
--   failures BIGINT turns that failed
--   denied BIGINT turns that someone stopped
--   sessions BIGINT sessions
select
    source,
    count(*) as turns,
    count(*) filter (where outcome = 'success') as successes,
    count(*) filter (where outcome = 'failure') as failures,
    count(*) filter (where outcome = 'denied') as denied,
    count(distinct nullif(session_id, '')) as sessions
from turns_v
where ts > $since::timestamp and ts <= $until::timestamp
    and ($session::varchar is null or session_id = $session::varchar)
group by source
order by source;
