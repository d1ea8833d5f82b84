-- name: schema/151_trust
-- description: Who is scored and on what. served_v has one row per time a template served a call, including those that
--     fell through to another tier after its program failed. trust_events has one row per scored subject (project,
--     session, tool, template) and event; a session that the outer agent's own log covers is not counted again from
--     kibitzer's hooks. trust_state keeps the windows reached so far with a fingerprint of the events they hold.
--     template_states has one row per transition of a template.
create view served_v as
with calls as (
    select
        trace_id,
        ts,
        project,
        session_id,
        tier,
        template,
        valid,
        is_success,
        is_bad,
        is_future,
        error_kind,
        case when tier is distinct from '0' and json_valid(attempts::varchar) then attempts end as attempts
    from traces_v
),

failed_first as (
    select
        c.trace_id,
        c.ts,
        c.project,
        c.session_id,
        c.is_future,
        unnest(from_json(c.attempts, '[{"tier":"VARCHAR","ok":"BOOLEAN","template":"VARCHAR","program":"VARCHAR"}]')) as a
    from calls as c
    where c.attempts is not null
)

select
    trace_id || '/served' as event_id,
    trace_id,
    ts,
    project,
    session_id,
    template,
    is_future,
    case when is_bad then 'serve-bad' when is_success then 'serve-success' else 'serve-failure' end as category
from calls
where tier = '0' and template is not null and valid and coalesce(error_kind, '') not in ('cancelled', 'usage')
union all
select
    trace_id || '/failed' as event_id,
    trace_id,
    ts,
    project,
    session_id,
    a.template as template,
    is_future,
    'serve-failure' as category
from failed_first
where a.tier = '0' and not a.ok and a.template is not null and a.program is not null;

create view trust_events as
with logged as (
    select distinct session_id from turns where source = 'claude_code' and session_id <> ''
),

steps as (
    select
        t.turn_id as event_id,
        t.ts,
        t.project,
        t.session_id,
        t.tool,
        t.category,
        t.outcome,
        t.provenance
    from turns_v as t
    where t.outcome <> 'unknown'
        and not (t.source = 'kibitzer' and t.session_id in (select session_id from logged))
),

delegates as (
    select
        trace_id as event_id,
        ts,
        project,
        session_id,
        calls,
        case when is_bad then 'delegate-bad' when is_success then 'delegate-success' else 'delegate-failure' end as category,
        case when is_success then 'success' else 'failure' end as outcome
    from traces_v
    where valid and not is_future and coalesce(error_kind, '') not in ('cancelled', 'usage')
),

tool_calls as (
    select
        d.event_id,
        d.ts,
        unnest(from_json(d.calls, '[{"tool":"VARCHAR","ok":"BOOLEAN"}]')) as c,
        generate_subscripts(from_json(d.calls, '[{"tool":"VARCHAR","ok":"BOOLEAN"}]'), 1) as step
    from delegates as d
    where json_valid(d.calls::varchar) and d.calls::varchar <> '[]'
)

select 'project' as scope, project as key, ts, event_id, category, outcome, provenance from steps
union all
select 'session', session_id, ts, event_id, category, outcome, provenance from steps where session_id <> ''
union all
select 'tool', tool, ts, event_id, category, outcome, provenance from steps where tool <> ''
union all
select 'project', project, ts, event_id, category, outcome, 'observed' from delegates
union all
select 'session', session_id, ts, event_id, category, outcome, 'observed' from delegates where session_id <> ''
union all
select
    'tool',
    'lackpy.' || c.tool,
    ts,
    event_id || '/' || lpad(step::varchar, 5, '0'),
    case when c.ok then 'call-success' else 'call-failure' end,
    case when c.ok then 'success' else 'failure' end,
    'observed'
from tool_calls
where c.tool is not null
union all
select
    'template',
    template,
    ts,
    event_id,
    category,
    case when category = 'serve-success' then 'success' else 'failure' end,
    'observed'
from served_v
where not is_future;

create table trust_state (
    scope varchar not null,
    key varchar not null,
    events bigint not null,
    immediate double not null,
    session double not null,
    baseline double not null,
    last_ts timestamp,
    last_event_id varchar not null,
    fingerprint ubigint not null,
    settings varchar not null,
    primary key (scope, key)
);

create table template_states (
    template varchar not null,
    since timestamp not null,
    state varchar not null,
    was varchar,
    reason varchar not null,
    decided_by varchar not null,
    file_hash varchar
);

create table brief_marks (
    project varchar primary key,
    marked_at timestamp not null
);
