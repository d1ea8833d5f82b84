-- name: analytics/tier_share_session
-- description: How each session's calls were served.
-- grain: one row per session
-- reads: traces_v
-- params: none
-- returns:
--   session_id VARCHAR session
--   started_at TIMESTAMP first call, UTC
--   calls BIGINT calls
--   templates BIGINT template-served
--   models BIGINT served by a local or API model
--   callers BIGINT programs the caller passed
--   unserved BIGINT no tier had a program
--   template_share DOUBLE templates / calls, 0 to 1
select
    session_id,
    min(ts) as started_at,
    count(*) as calls,
    count(*) filter (where tier = '0') as templates,
    count(*) filter (where tier in ('2', '3')) as models,
    count(*) filter (where tier = 'caller') as callers,
    count(*) filter (where tier is null) as unserved,
    count(*) filter (where tier = '0') / count(*) as template_share
from traces_v
where not is_future
group by session_id
order by started_at, session_id
