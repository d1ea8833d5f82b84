-- name: audits/trust_sound
-- description: Trust windows outside 0 to 1, or without an event.
-- grain: one row per unsound subject
-- reads: trust_state
-- params: none
-- returns:
--   scope VARCHAR project, session, tool, template
--   key VARCHAR which one
select scope, key
from trust_state
where events < 1
    or not (immediate between 0 and 1 and session between 0 and 1 and baseline between 0 and 1)
order by scope, key;
