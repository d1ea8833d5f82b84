-- name: audits/turns_sound
-- description: Turns whose outcome or provenance no reader knows, or that lack a source or category.
-- grain: one row per unsound turn
-- reads: turns_v
-- params: none
-- returns:
--   turn_id VARCHAR key
--   problem VARCHAR what is wrong
select
    turn_id,
    case
        when outcome not in ('success', 'failure', 'denied', 'unknown') then 'outcome ' || outcome
        when provenance not in ('observed', 'self_reported') then 'provenance ' || provenance
        else 'no source or category'
    end as problem
from turns_v
where outcome not in ('success', 'failure', 'denied', 'unknown')
    or provenance not in ('observed', 'self_reported')
    or source = ''
    or category = ''
order by turn_id;
