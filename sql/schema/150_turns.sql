-- name: schema/150_turns
-- description: What the sibling tools and the outer agent's logs recorded. Rows are only ever added: how a turn ended
--     may come later, from another record, and stands in turn_endings; turns_v joins them. Times are UTC.
-- grain: turns: one row per step; turn_endings: one row per turn that ended later; source_cursors: one row per stream
--     read; source_problems: one row per record that couldn't be read
create table turns (
    turn_id varchar primary key,
    source varchar not null,
    session_id varchar not null,
    ts timestamp,
    project varchar not null,
    kind varchar not null,
    tool varchar not null,
    outcome varchar not null,
    category varchar not null,
    provenance varchar not null,
    parent_id varchar,
    is_sidechain boolean not null,
    intent varchar,
    program varchar,
    detail json,
    result json,
    ended_at timestamp
);
create table turn_endings (
    turn_id varchar primary key,
    outcome varchar not null,
    category varchar not null,
    result json,
    ended_at timestamp
);
create table source_cursors (
    source varchar not null,
    stream varchar not null,
    cursor json not null,
    primary key (source, stream)
);
create table source_problems (
    source varchar not null,
    stream varchar not null,
    position bigint not null,
    reason varchar not null,
    primary key (source, stream, position)
);
create view turns_v as
select
    t.turn_id,
    t.source,
    t.session_id,
    t.ts,
    t.project,
    t.kind,
    t.tool,
    coalesce(e.outcome, t.outcome) as outcome,
    coalesce(nullif(coalesce(e.category, t.category), ''), t.kind || '-' || coalesce(e.outcome, t.outcome)) as category,
    t.provenance,
    t.parent_id,
    t.is_sidechain,
    t.intent,
    t.program,
    t.detail,
    coalesce(e.result, t.result) as result,
    coalesce(e.ended_at, t.ended_at) as ended_at
from turns as t
left join turn_endings as e on t.turn_id = e.turn_id;
