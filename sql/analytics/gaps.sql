-- name: analytics/gaps
-- description: Requests that no tier served, grouped: what is missing.
-- grain: one row per request
-- reads: traces_v
-- params: none
-- returns:
--   request VARCHAR intent, lower case, numbers and quoted text blanked
--   calls BIGINT calls
--   sessions BIGINT sessions
--   last_at TIMESTAMP last call, UTC
--   example VARCHAR an intent as said
--   last_error VARCHAR first refused program's error, null when no program was proposed
with unserved as (
    select
        regexp_replace(regexp_replace(lower(intent), '"[^"]*"|`[^`]*`', '…', 'g'), '[0-9]+', '#', 'g') as request,
        intent,
        session_id,
        ts,
        error
    from traces_v
    where error_kind = 'no_program'
)

select
    request,
    count(*) as calls,
    count(distinct session_id) as sessions,
    max(ts) as last_at,
    arg_max(intent, ts) as example,
    arg_max(error, ts) as last_error
from unserved
group by request
order by calls desc, request
