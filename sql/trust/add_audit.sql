-- name: trust/add_audit
-- description: Records what a model answered about one call.
-- grain: one row per audited call
-- reads: audits
-- params:
--   $trace_id VARCHAR the call
--   $template VARCHAR that served it
--   $agrees BOOLEAN the model wrote the same program, NULL when it wrote no valid one
--   $model VARCHAR that was asked
--   $program VARCHAR it wrote
--   $served_program VARCHAR that the template ran
--   $seen_at TIMESTAMP when it was served, UTC
--   $now TIMESTAMP of the audit, UTC
-- returns: none
insert or ignore into audits
values (
    $trace_id::varchar,
    $template::varchar,
    $agrees::boolean,
    $model::varchar,
    $program::varchar,
    $served_program::varchar,
    $seen_at::timestamp,
    $now::timestamp
);
