-- name: trust/add_template_state
-- description: Records one transition of a template.
-- grain: one row per transition
-- reads: template_states
-- params:
--   $template VARCHAR name
--   $since TIMESTAMP when, UTC
--   $state VARCHAR new state
--   $was VARCHAR state before, NULL for the first one seen
--   $reason VARCHAR one clause
--   $decided_by VARCHAR riggs, or who changed the file
--   $file_hash VARCHAR digest of pattern, program and slots
-- returns: none
insert into template_states
values (
    $template::varchar,
    $since::timestamp,
    $state::varchar,
    $was::varchar,
    $reason::varchar,
    $decided_by::varchar,
    $file_hash::varchar
);
