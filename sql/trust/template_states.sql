-- name: trust/template_states
-- description: Where each template stood last, and how often it was quarantined since it was last promoted.
-- grain: one row per template
-- reads: template_states
-- params: none
-- returns:
--   template VARCHAR name
--   since TIMESTAMP when the state began, UTC
--   state VARCHAR probation, active, quarantined, retired, disabled
--   reason VARCHAR one clause
--   decided_by VARCHAR riggs, or who changed the file
--   file_hash VARCHAR digest of pattern, program and slots
--   quarantines BIGINT since a person last decided
with last_decision as (
    select template, max(rowid) as at_row
    from template_states
    where decided_by <> 'riggs'
    group by template
)

select
    s.template,
    arg_max(s.since, s.rowid) as since,
    arg_max(s.state, s.rowid) as state,
    arg_max(s.reason, s.rowid) as reason,
    arg_max(s.decided_by, s.rowid) as decided_by,
    arg_max(s.file_hash, s.rowid) as file_hash,
    count(*) filter (
        where s.state = 'quarantined' and s.decided_by = 'riggs' and s.rowid > coalesce(d.at_row, -1)
    ) as quarantines
from template_states as s
left join last_decision as d on s.template = d.template
group by s.template
order by s.template;
