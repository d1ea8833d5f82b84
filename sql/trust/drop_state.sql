-- name: trust/drop_state
-- description: Forgets the windows of a subject that has no events.
-- grain: one row per scope and key
-- reads: trust_state
-- params:
--   $scope VARCHAR project, session, tool, template
--   $key VARCHAR which one
-- returns: none
delete from trust_state where scope = $scope and key = $key;
