-- name: macros/steps
-- description: The outer agent's own calls and what it was asked between them, in the order it made them.
-- grain: one row per call or prompt
-- reads: turns, turn_endings
-- params:
--   $source VARCHAR source of the log
-- returns:
--   session_id VARCHAR session
--   is_sidechain BOOLEAN a helper of the agent did it
--   turn_id VARCHAR key
--   kind VARCHAR call, tests, prompt
--   tool VARCHAR the outer agent's name of the tool
--   outcome VARCHAR success, failure, denied, unknown
--   args VARCHAR JSON object of arguments
--   head VARCHAR first characters of the result
select
    t.session_id,
    t.is_sidechain,
    t.turn_id,
    t.kind,
    t.tool,
    coalesce(e.outcome, t.outcome) as outcome,
    case when json_valid(t.detail::varchar) then json_extract(t.detail, '$.args')::varchar end as args,
    case when json_valid(coalesce(e.result, t.result)::varchar)
        then json_extract_string(coalesce(e.result, t.result), '$.head') end as head
from turns as t
left join turn_endings as e on t.turn_id = e.turn_id
where t.source = $source::varchar
order by t.session_id, t.is_sidechain, t.ts nulls first, t.rowid;
