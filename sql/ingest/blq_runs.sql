-- name: ingest/blq_runs
-- description: Runs that blq recorded in the attached database `blq`; its times are local, without a zone.
-- grain: one row per attempt, finished or not, and per invocation of an older blq that kept no attempts
-- reads: blq.attempts, blq.outcomes, blq.invocations, blq.events
-- params: none
-- returns:
--   id VARCHAR key of the run
--   session_id VARCHAR session
--   started_at TIMESTAMP local time
--   cmd VARCHAR command line
--   source_name VARCHAR registered command, or what blq derived
--   source_type VARCHAR run, exec, import, capture
--   format_hint VARCHAR detected log format
--   git_commit VARCHAR head commit
--   is_done BOOLEAN it ended, or was given up
--   exit_code INTEGER exit code
--   signal INTEGER signal that ended it
--   is_timeout BOOLEAN blq's time limit ended it
--   duration_ms BIGINT milliseconds
--   completed_at TIMESTAMP local time
--   errors BIGINT events of severity error
with runs as (
    select
        a.id::varchar as id,
        a.session_id,
        a.timestamp as started_at,
        a.cmd,
        a.source_name,
        a.source_type,
        a.format_hint,
        a.git_commit,
        o.attempt_id is not null as is_done,
        o.exit_code,
        o.signal,
        coalesce(o.timeout, false) as is_timeout,
        o.duration_ms,
        o.completed_at
    from blq.attempts as a
    left join blq.outcomes as o on o.attempt_id = a.id
    union all
    select
        i.id::varchar,
        i.session_id,
        i.timestamp,
        i.cmd,
        i.source_name,
        i.source_type,
        i.format_hint,
        i.git_commit,
        true,
        i.exit_code,
        null,
        false,
        i.duration_ms,
        i.timestamp + to_milliseconds(i.duration_ms)
    from blq.invocations as i
    where not exists (select 1 from blq.attempts as a where a.id = i.id)
),

failing as (
    select invocation_id::varchar as id, count(*) as errors
    from blq.events
    where severity = 'error'
    group by invocation_id
)

select
    r.id,
    r.session_id,
    r.started_at,
    r.cmd,
    r.source_name,
    r.source_type,
    r.format_hint,
    r.git_commit,
    r.is_done,
    r.exit_code,
    r.signal,
    r.is_timeout,
    r.duration_ms,
    r.completed_at,
    coalesce(f.errors, 0) as errors
from runs as r
left join failing as f on r.id = f.id
order by r.started_at, r.id;
