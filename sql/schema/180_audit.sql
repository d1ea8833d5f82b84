-- name: schema/180_audit
-- description: What a model answered when it was asked about a template-served call again. agrees is null when it had no
--   valid program; seen_at is the serve's time, ts that of the audit, both UTC.
-- grain: audits: one row per audited trace
create table audits (
    trace_id varchar primary key,
    template varchar not null,
    agrees boolean,
    model varchar,
    program varchar,
    served_program varchar not null,
    seen_at timestamp not null,
    ts timestamp not null
);
