-- name: schema/001_traces
-- description: Traces, feedback and the journal cursor. Times are UTC; durations milliseconds by the monotonic clock.
--   OpenTelemetry names: model = gen_ai.response.model, provider = gen_ai.provider.name, tokens_in =
--   gen_ai.usage.input_tokens, tokens_out = gen_ai.usage.output_tokens, session_id = gen_ai.conversation.id,
--   calls[].tool = gen_ai.tool.name, error_kind = error.type.
-- grain: traces: one row per delegate call; feedback: one row per verdict; journal_segments: one row per segment file
create table traces (
    trace_id varchar not null,
    ts timestamp not null,
    project varchar not null,
    session_id varchar not null,
    intent varchar not null,
    kit varchar not null,
    params json,
    tier varchar,
    provider varchar,
    model varchar,
    template varchar,
    slots json,
    program varchar,
    program_given varchar,
    attempts json,
    valid boolean not null,
    success boolean not null,
    error_kind varchar,
    error varchar,
    grade_w tinyint,
    grade_d tinyint,
    calls json,
    output_preview varchar,
    output_bytes bigint,
    printed_bytes bigint,
    executor varchar,
    gen_ms double,
    validate_ms double,
    run_ms double,
    total_ms double,
    tokens_in bigint,
    tokens_out bigint,
    cost_usd double,
    lackpy_version varchar,
    ingested_at timestamp not null default (current_timestamp at time zone 'UTC')
);
create table feedback (
    trace_id varchar not null,
    ts timestamp not null,
    verdict varchar not null,
    note varchar
);
create table journal_segments (
    segment varchar primary key,
    offset_bytes bigint not null,
    skipped_lines bigint not null default 0
);
create view traces_v as
with verdicts as (
    select trace_id, arg_max(verdict, ts) as verdict, arg_max(note, ts) as note
    from feedback
    group by trace_id
)
select
    t.*,
    v.verdict as feedback,
    v.note as feedback_note,
    coalesce(v.verdict = 'bad', false) as is_bad,
    t.success and coalesce(v.verdict <> 'bad', true) as is_success,
    t.ts > t.ingested_at + interval 1 day as is_future
from traces as t
left join verdicts as v on t.trace_id = v.trace_id;
