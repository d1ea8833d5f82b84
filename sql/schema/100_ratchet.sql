-- name: schema/100_ratchet
-- description: What riggs derives from traces: normal forms, counts, decisions; and the view that analysts read.
-- grain: normalised: one row per distinct (intent, program, kit); rollup: rows per normal form and session, to be summed;
--   group_counts: one row per group with attempts;
--   decisions: one row per decision; lackpy_traces: one row per trace
create table normalised (
    norm_id uhugeint primary key,
    intent varchar not null,
    program varchar not null,
    kit varchar not null,
    normaliser_version integer not null,
    intent_normalized varchar,
    program_template varchar,
    program_canonical varchar,
    slots json,
    group_id varchar,
    problem varchar
);
create table rollup (
    norm_id uhugeint not null,
    session_id varchar not null,
    attempts bigint not null,
    successes bigint not null,
    failures bigint not null,
    bad bigint not null,
    served bigint not null,
    model_ms double not null,
    cost_usd double not null,
    first_at timestamp not null,
    last_at timestamp not null
);
create table group_counts (
    group_id varchar not null,
    kit varchar not null,
    program_template varchar not null,
    attempts hugeint not null,
    successes hugeint not null,
    sessions bigint not null
);
create table rollup_state (
    traces_seen bigint not null,
    feedback_seen bigint not null
);
insert into rollup_state values (0, 0);
create table decisions (
    decision_id varchar primary key,
    ts timestamp not null,
    action varchar not null,
    candidate_id varchar,
    template varchar,
    reason varchar,
    evidence json,
    decided_by varchar,
    file_hash varchar
);
create view lackpy_traces as
select
    t.trace_id,
    t.ts,
    t.project,
    t.session_id,
    t.intent,
    t.kit,
    t.tier,
    t.provider,
    t.model,
    t.template,
    t.program,
    t.valid,
    t.is_success as success,
    t.is_bad,
    t.error_kind,
    t.error,
    t.grade_w,
    t.total_ms,
    t.gen_ms,
    t.tokens_in,
    t.tokens_out,
    t.cost_usd,
    n.norm_id,
    n.group_id,
    n.intent_normalized,
    n.program_template,
    n.program_canonical,
    n.slots
from traces_v as t
left join normalised as n
    on n.intent = t.intent and n.program = t.program and n.kit = t.kit;
