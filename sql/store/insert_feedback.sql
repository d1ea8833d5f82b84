-- name: store/insert_feedback
-- description: Adds verdicts that the store doesn't have yet.
-- grain: one row per new verdict
-- reads: feedback
-- params:
--   $lines VARCHAR[] one JSON object a verdict, no id twice
--   $now TIMESTAMP time of arrival, UTC
-- returns:
--   Count BIGINT rows added
with records as (
    select from_json(unnest($lines::varchar[]), '{
        "feedback_id": "VARCHAR", "trace_id": "VARCHAR", "ts": "TIMESTAMP", "verdict": "VARCHAR", "note": "VARCHAR"
    }') as r
),

fields as (
    select unnest(r) from records
)

insert into feedback by name
select *, $now::timestamp as ingested_at
from fields as f
where not exists (select 1 from feedback as b where b.feedback_id = f.feedback_id);
