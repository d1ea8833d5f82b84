-- name: ratchet/forms_new
-- description: Distinct (intent, program, kit) of traces not rolled up yet that have no normal form.
-- grain: one row per (intent, program, kit)
-- reads: traces, normalised
-- params:
--   $seen BIGINT traces already rolled up
-- returns:
--   norm_id UHUGEINT md5 of intent, program and kit
--   intent VARCHAR as given
--   program VARCHAR lowered program
--   kit VARCHAR kit name
with fresh as (
    select distinct intent, program, kit
    from traces
    where rowid >= $seen and valid and program is not null and intent <> ''
)

select
    md5_number(f.intent || chr(31) || f.program || chr(31) || f.kit) as norm_id,
    f.intent,
    f.program,
    f.kit
from fresh as f
where not exists (
    select 1 from normalised as n where n.intent = f.intent and n.program = f.program and n.kit = f.kit
)
