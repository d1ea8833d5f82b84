-- name: candidates_rollup
-- description: Program groups that recur often, widely and reliably enough to become a template, read from the rollup.
--   An attempt is a valid program that a caller or a model wrote and that ran, cancelled calls apart; feedback `bad` is a
--   failure. Calls that a template or rule served are no evidence. `wilson_low` is the lower end of the 95 % Wilson score
--   interval (Wilson 1927) of the success rate.
-- grain: one row per group (kit and program template)
-- reads: group_counts
-- params:
--   $frequency INTEGER successes >= 1
--   $sessions INTEGER distinct sessions with a success >= 1
--   $success_rate DOUBLE successes / attempts, 0 to 1
-- returns:
--   group_id VARCHAR key of the group
--   kit VARCHAR kit name
--   program_template VARCHAR program with typed slots
--   attempts HUGEINT successes and failures
--   successes HUGEINT attempts that succeeded and were not marked bad
--   failures HUGEINT all other attempts
--   sessions BIGINT distinct sessions with a success
--   success_rate DOUBLE 0 to 1
--   wilson_low DOUBLE 0 to 1
with rated as (
    select
        *,
        attempts - successes as failures,
        successes / attempts as success_rate,
        (
            successes / attempts + 1.9208 / attempts
            - 1.96 * sqrt((successes / attempts) * (1 - successes / attempts) / attempts + 0.9604 / (attempts * attempts))
        ) / (1 + 3.8416 / attempts) as wilson_low
    from group_counts
)

select group_id, kit, program_template, attempts, successes, failures, sessions, success_rate, wilson_low
from rated
where successes >= $frequency and sessions >= $sessions and success_rate >= $success_rate
order by successes desc, group_id
