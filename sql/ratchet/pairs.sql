-- name: ratchet/pairs
-- description: Training material: successful calls that nobody marked bad, one per distinct request and canonical program,
--   and, where the same request also had a refused or failed program, that one as the rejected answer.
-- grain: one row per (intent, canonical program, kit)
-- reads: lackpy_traces
-- params: none
-- returns:
--   intent VARCHAR as said
--   kit VARCHAR kit name
--   program VARCHAR lowered program that succeeded
--   program_canonical VARCHAR its canonical form
--   group_id VARCHAR kit and program template, the unit that is split
--   program_template VARCHAR program with typed slots
--   calls BIGINT calls behind it
--   rejected VARCHAR a program that failed or was marked bad for the same request, null when there is none
with good as (
    select
        intent,
        kit,
        arg_min(program, ts) as program,
        program_canonical,
        any_value(group_id) as group_id,
        any_value(program_template) as program_template,
        count(*) as calls
    from lackpy_traces
    where valid and success and not is_bad and intent <> '' and group_id is not null
    group by intent, kit, program_canonical
),

failed as (
    select intent, kit, arg_max(program, ts) as program
    from lackpy_traces
    where not success and program is not null and intent <> '' and error_kind is distinct from 'cancelled'
    group by intent, kit
)

select
    g.intent,
    g.kit,
    g.program,
    g.program_canonical,
    g.group_id,
    g.program_template,
    g.calls,
    case when f.program <> g.program then f.program end as rejected
from good as g
left join failed as f on g.intent = f.intent and g.kit = f.kit
order by g.group_id, g.intent, g.program_canonical
