-- name: brief/troubled
-- description: Templates out of service, and what moved in a span of time.
-- grain: one row per template
-- reads: template_states
-- params:
--   $since TIMESTAMP start, UTC
-- returns:
--   template VARCHAR name
--   state VARCHAR present state
--   reason VARCHAR why it is in it
--   since TIMESTAMP when that began, UTC
--   is_new BOOLEAN it moved in the span
with present as (
    select
        template,
        arg_max(state, rowid) as state,
        arg_max(reason, rowid) as reason,
        arg_max(since, rowid) as since
    from template_states
    group by template
)

select template, state, reason, since, since > $since::timestamp as is_new
from present
where state = 'quarantined'
    or (since > $since::timestamp and state in ('retired', 'disabled', 'active', 'probation') and reason <> 'first seen')
order by template;
