-- name: audits/feedback_once
-- description: Verdict ids that the store holds more than once, or verdicts that are neither good nor bad; must be empty.
-- grain: one row per wrong verdict
-- reads: feedback
-- params: none
-- returns:
--   feedback_id VARCHAR id
--   times BIGINT rows with it
select feedback_id, count(*) as times
from feedback
group by feedback_id
having count(*) > 1 or bool_or(verdict not in ('good', 'bad'));
