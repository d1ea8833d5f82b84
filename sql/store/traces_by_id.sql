-- name: store/traces_by_id
-- description: Traces whose id starts or ends with a text, at most 100.
-- grain: one row per trace
-- reads: traces_v
-- params:
--   $part VARCHAR id, or its first or last characters
-- returns:
--   trace_id VARCHAR UUIDv7
--   ts TIMESTAMP start, UTC
--   project VARCHAR workspace folder's name
--   session_id VARCHAR session
--   intent VARCHAR words, as given
--   kit VARCHAR kit name
--   params JSON parameter name to type
--   tier VARCHAR 0, 1, 2, 3, caller or null
--   provider VARCHAR who proposed the program
--   model VARCHAR model name
--   template VARCHAR template's name
--   slots JSON slot values
--   program VARCHAR program that ran, lowered
--   program_given VARCHAR before lowering, when it differs
--   attempts JSON every try
--   valid BOOLEAN a program validated
--   success BOOLEAN it ran to its value
--   error_kind VARCHAR stable id
--   error VARCHAR sentence
--   grade_w TINYINT world coupling 0..3
--   grade_d TINYINT effects 0..3
--   calls JSON tool calls
--   output_preview VARCHAR JSON text, cut
--   output_bytes BIGINT bytes of the whole output
--   printed_bytes BIGINT bytes printed
--   executor VARCHAR monty or inline
--   gen_ms DOUBLE milliseconds
--   validate_ms DOUBLE milliseconds
--   run_ms DOUBLE milliseconds
--   total_ms DOUBLE milliseconds
--   tokens_in BIGINT model tokens read
--   tokens_out BIGINT model tokens written
--   cost_usd DOUBLE dollars
--   lackpy_version VARCHAR version that wrote it
--   extra JSON fields this version doesn't know
--   ingested_at TIMESTAMP arrival in the store, UTC
--   feedback VARCHAR latest verdict: good, bad or null
--   feedback_note VARCHAR its note
--   is_bad BOOLEAN latest verdict is bad
--   is_success BOOLEAN ran and not marked bad
--   is_future BOOLEAN dated later than it arrived
select
    trace_id,
    ts,
    project,
    session_id,
    intent,
    kit,
    params,
    tier,
    provider,
    model,
    template,
    slots,
    program,
    program_given,
    attempts,
    valid,
    success,
    error_kind,
    error,
    grade_w,
    grade_d,
    calls,
    output_preview,
    output_bytes,
    printed_bytes,
    executor,
    gen_ms,
    validate_ms,
    run_ms,
    total_ms,
    tokens_in,
    tokens_out,
    cost_usd,
    lackpy_version,
    extra,
    ingested_at,
    feedback,
    feedback_note,
    is_bad,
    is_success,
    is_future
from traces_v
where starts_with(trace_id, $part::varchar) or ends_with(trace_id, $part::varchar)
order by trace_id
limit 100;
