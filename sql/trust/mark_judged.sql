-- name: trust/mark_judged
-- description: Remembers that every trace and verdict in the store has been judged.
-- grain: one row
-- reads: lifecycle_seen, traces, feedback
-- params: none
-- returns: none
update lifecycle_seen
set
    traces_seen = (select count(*) from traces),
    feedback_seen = (select count(*) from feedback);
