-- name: ratchet/group_rows
-- description: Counts of whole groups, from the rollup.
-- grain: one row per group with attempts
-- reads: rollup, normalised
-- params:
--   $group_ids VARCHAR[] only these groups, all when null
-- returns:
--   group_id VARCHAR kit and program template
--   kit VARCHAR kit name
--   program_template VARCHAR program with typed slots
--   attempts HUGEINT valid programs that a caller or model wrote
--   successes HUGEINT of these, ran and were not marked bad
--   sessions BIGINT distinct sessions with a success
with sums as (
    select
        n.group_id,
        r.session_id,
        any_value(n.kit) as kit,
        any_value(n.program_template) as program_template,
        sum(r.attempts) as attempts,
        sum(r.successes) as successes
    from rollup as r
    inner join normalised as n on r.norm_id = n.norm_id
    where n.group_id is not null and ($group_ids is null or list_contains($group_ids, n.group_id))
    group by n.group_id, r.session_id
)

select
    group_id,
    any_value(kit) as kit,
    any_value(program_template) as program_template,
    sum(attempts)::hugeint as attempts,
    sum(successes)::hugeint as successes,
    count(*) filter (where successes > 0) as sessions
from sums
group by group_id
having sum(attempts) > 0
