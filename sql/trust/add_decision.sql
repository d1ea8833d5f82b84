-- name: trust/add_decision
-- description: Puts a template's transition into the history of decisions.
-- grain: one row per transition
-- reads: decisions
-- params:
--   $decision_id VARCHAR key
--   $ts TIMESTAMP when it was written, UTC
--   $action VARCHAR new state
--   $template VARCHAR name
--   $reason VARCHAR one clause
--   $evidence VARCHAR JSON text: state before, serves that decided, counts
--   $file_hash VARCHAR digest of pattern, program and slots
-- returns: none
insert into decisions (decision_id, ts, action, template, reason, evidence, decided_by, file_hash)
values (
    $decision_id::varchar,
    $ts::timestamp,
    $action::varchar,
    $template::varchar,
    $reason::varchar,
    $evidence::varchar,
    'riggs',
    $file_hash::varchar
);
