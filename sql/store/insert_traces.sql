-- name: store/insert_traces
-- description: Adds traces that the store doesn't have yet. A field of the wrong type becomes null; keys that are no
--   column arrive inside `extra`.
-- grain: one row per new trace
-- reads: traces
-- params:
--   $lines VARCHAR[] one JSON object a trace, no id twice
--   $now TIMESTAMP time of arrival, UTC
-- returns:
--   Count BIGINT rows added
with records as (
    select from_json(unnest($lines::varchar[]), '{
        "trace_id": "VARCHAR", "ts": "TIMESTAMP", "project": "VARCHAR", "session_id": "VARCHAR",
        "intent": "VARCHAR", "kit": "VARCHAR", "params": "JSON", "tier": "VARCHAR", "provider": "VARCHAR",
        "model": "VARCHAR", "template": "VARCHAR", "slots": "JSON", "program": "VARCHAR",
        "program_given": "VARCHAR", "attempts": "JSON", "valid": "BOOLEAN", "success": "BOOLEAN",
        "error_kind": "VARCHAR", "error": "VARCHAR", "grade_w": "TINYINT", "grade_d": "TINYINT",
        "calls": "JSON", "output_preview": "VARCHAR", "output_bytes": "BIGINT", "printed_bytes": "BIGINT",
        "executor": "VARCHAR", "gen_ms": "DOUBLE", "validate_ms": "DOUBLE", "run_ms": "DOUBLE",
        "total_ms": "DOUBLE", "tokens_in": "BIGINT", "tokens_out": "BIGINT", "cost_usd": "DOUBLE",
        "lackpy_version": "VARCHAR", "extra": "JSON"
    }') as r
),

fields as (
    select unnest(r) from records
)

insert into traces by name
select
    * replace (
        coalesce(project, '') as project,
        coalesce(session_id, '') as session_id,
        coalesce(intent, '') as intent,
        coalesce(kit, '') as kit,
        coalesce(valid, false) as valid,
        coalesce(success, false) as success
    ),
    $now::timestamp as ingested_at
from fields as f
where not exists (select 1 from traces as t where t.trace_id = f.trace_id);
