-- name: trust/stored
-- description: Every subject's stored windows with what it takes to go on from them.
-- grain: one row per scope and key
-- reads: trust_state
-- params: none
-- returns:
--   scope VARCHAR project, session, tool, template
--   key VARCHAR which one
--   events BIGINT scored events
--   immediate DOUBLE 0..1
--   session DOUBLE 0..1
--   baseline DOUBLE 0..1
--   last_ts TIMESTAMP time of the last event, UTC
--   last_event_id VARCHAR its id
--   fingerprint UBIGINT changes when any event or its score does
select scope, key, events, immediate, session, baseline, last_ts, last_event_id, fingerprint
from trust_state
order by scope, key;
