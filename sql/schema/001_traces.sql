-- name: schema/001_traces
-- description: Traces, verdicts on them, and how far each journal segment was read. Times are UTC without a zone;
--   durations are milliseconds by the monotonic clock; unknown is null. Rows of traces and feedback are only ever added,
--   so rowid is the order of arrival. OpenTelemetry names (GenAI and MCP conventions) of the columns:
--     model gen_ai.response.model · provider gen_ai.provider.name · tokens_in gen_ai.usage.input_tokens ·
--     tokens_out gen_ai.usage.output_tokens · session_id gen_ai.conversation.id · error_kind error.type ·
--     calls[].tool gen_ai.tool.name · calls[].args gen_ai.tool.call.arguments · calls[].preview
--     gen_ai.tool.call.result · intent gen_ai.input.messages · output_preview gen_ai.output.messages
-- grain: traces: one row per delegate call; feedback: one row per verdict; journal_segments: one row per segment file;
--   journal_problems: one row per journal line that is no record
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
    extra json,
    ingested_at timestamp not null
);
create table feedback (
    feedback_id varchar not null,
    trace_id varchar not null,
    ts timestamp not null,
    verdict varchar not null,
    note varchar,
    ingested_at timestamp not null
);
create table journal_segments (
    segment varchar primary key,
    offset_bytes bigint not null,
    lines bigint not null
);
create table journal_problems (
    segment varchar not null,
    line bigint not null,
    offset_bytes bigint not null,
    reason varchar not null,
    sample varchar,
    found_at timestamp not null
);
create view traces_v as
with verdicts as (
    select trace_id, arg_max(verdict, (ts, rowid)) as verdict, arg_max(note, (ts, rowid)) as note
    from feedback
    group by trace_id
)
select
    t.*,
    v.verdict as feedback,
    v.note as feedback_note,
    coalesce(v.verdict = 'bad', false) as is_bad,
    t.success and coalesce(v.verdict <> 'bad', true) as is_success,
    t.ts > t.ingested_at + interval 5 minutes as is_future
from traces as t
left join verdicts as v on t.trace_id = v.trace_id;
