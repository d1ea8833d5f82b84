-- name: trust/states
-- description: Stored windows of every subject of a scope, those with most events first.
-- grain: one row per key
-- reads: trust_state
-- params:
--   $scope VARCHAR project, session, tool, template
-- returns:
--   key VARCHAR which one
--   events BIGINT scored events
--   immediate DOUBLE 0..1
--   session DOUBLE 0..1
--   baseline DOUBLE 0..1
--   last_ts TIMESTAMP time of the last event, UTC
select key, events, immediate, session, baseline, last_ts
from trust_state
where scope = $scope
order by events desc, key;
