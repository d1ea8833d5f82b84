-- name: schema/152_lifecycle
-- description: How many traces and verdicts the template lifecycle has judged, so that it looks only at templates that
--     something happened to since.
create table lifecycle_seen (
    traces_seen bigint not null,
    feedback_seen bigint not null
);
insert into lifecycle_seen values (0, 0);
