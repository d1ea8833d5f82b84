-- name: schema/090_eval
-- description: Evaluations of model tiers. One row per step of one evaluation; counts are cases, median_s is seconds in
--   the model, tokens are means a case. Rows are only ever added.
create table eval_runs (
    run_id varchar not null,
    ran_at timestamp not null,
    provider varchar not null,
    model varchar not null,
    cases varchar not null,
    position integer not null,
    step varchar not null,
    case_count integer not null,
    valid_raw integer not null,
    valid_repaired integer not null,
    valid integer not null,
    right_count integer not null,
    median_s double not null,
    tokens_in double,
    tokens_out double,
    primary key (run_id, position)
);
