-- name: brief/newest_session
-- description: The session with the newest event that isn't dated after now.
-- grain: one row
-- reads: traces, turns
-- params:
--   $until TIMESTAMP now, UTC
-- returns:
--   session_id VARCHAR session
--   ts TIMESTAMP its newest event, UTC
with seen as (
    select session_id, ts from traces
    union all
    select session_id, ts from turns where session_id <> ''
)

select session_id, max(ts) as ts
from seen
where ts <= $until::timestamp
group by session_id
order by ts desc, session_id
limit 1;
