-- name: trust/put_state
-- description: Stores a subject's windows.
-- grain: one row per scope and key
-- reads: trust_state
-- params:
--   $scope VARCHAR[] project, session, tool, template
--   $key VARCHAR[] which one
--   $events BIGINT[] scored events
--   $immediate DOUBLE[] 0..1
--   $session DOUBLE[] 0..1
--   $baseline DOUBLE[] 0..1
--   $last_ts TIMESTAMP[] time of the last event, UTC
--   $last_event_id VARCHAR[] its id
--   $fingerprint UBIGINT[] changes when any event or its score does
--   $settings VARCHAR digest of alphas, prior and scores
-- returns: none
insert into trust_state
select
    unnest($scope::varchar[]),
    unnest($key::varchar[]),
    unnest($events::bigint[]),
    unnest($immediate::double[]),
    unnest($session::double[]),
    unnest($baseline::double[]),
    unnest($last_ts::timestamp[]),
    unnest($last_event_id::varchar[]),
    unnest($fingerprint::ubigint[]),
    $settings::varchar
on conflict do update set
    events = excluded.events,
    immediate = excluded.immediate,
    session = excluded.session,
    baseline = excluded.baseline,
    last_ts = excluded.last_ts,
    last_event_id = excluded.last_event_id,
    fingerprint = excluded.fingerprint,
    settings = excluded.settings;
