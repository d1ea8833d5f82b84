-- name: ratchet/observations
-- description: What the learner reads: every distinct request with its normal form and counts.
-- grain: one row per (intent, program, kit)
-- reads: rollup, normalised
-- params: none
-- returns:
--   intent VARCHAR as given
--   program VARCHAR lowered program
--   kit VARCHAR kit name
--   group_id VARCHAR kit and program template
--   intent_normalized VARCHAR concept text with typed slots
--   program_template VARCHAR program with typed slots
--   successes HUGEINT attempts that ran and were not marked bad
--   failures HUGEINT all other attempts
--   bad HUGEINT marked bad
--   served HUGEINT calls that a template or rule served
--   sessions VARCHAR[] sessions with a success
--   model_ms DOUBLE milliseconds spent on programs
--   cost_usd DOUBLE dollars
--   last_at TIMESTAMP last call, UTC
select
    n.intent,
    n.program,
    n.kit,
    n.group_id,
    n.intent_normalized,
    n.program_template,
    sum(r.successes) as successes,
    sum(r.failures) as failures,
    sum(r.bad) as bad,
    sum(r.served) as served,
    list(distinct r.session_id) filter (where r.successes > 0) as sessions,
    sum(r.model_ms) as model_ms,
    sum(r.cost_usd) as cost_usd,
    max(r.last_at) as last_at
from rollup as r
inner join normalised as n on r.norm_id = n.norm_id
group by n.norm_id, n.intent, n.program, n.kit, n.group_id, n.intent_normalized, n.program_template
order by n.norm_id
