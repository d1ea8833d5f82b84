-- name: store/insert_eval
-- description: Keeps one step of one evaluation.
-- grain: one row per (run_id, position)
-- reads: none
-- params:
--   $run_id VARCHAR id of the evaluation
--   $ran_at VARCHAR UTC time, ISO 8601
--   $provider VARCHAR provider's name
--   $model VARCHAR model id
--   $cases VARCHAR case file's name
--   $position INTEGER row in the table, from 0
--   $step VARCHAR step's name
--   $case_count INTEGER cases tried
--   $valid_raw INTEGER cases valid as the model wrote them
--   $valid_repaired INTEGER cases valid after repair
--   $valid INTEGER cases valid after the retry
--   $right_count INTEGER cases with a right output
--   $median_s DOUBLE median seconds in the model
--   $tokens_in DOUBLE mean prompt tokens, null when unknown
--   $tokens_out DOUBLE mean completion tokens, null when unknown
-- returns:
--   Count BIGINT rows written
insert into eval_runs by name
select
    $run_id as run_id,
    strptime($ran_at, '%Y-%m-%dT%H:%M:%S.%fZ') as ran_at,
    $provider as provider,
    $model as model,
    $cases as cases,
    $position as position,
    $step as step,
    $case_count as case_count,
    $valid_raw as valid_raw,
    $valid_repaired as valid_repaired,
    $valid as valid,
    $right_count as right_count,
    $median_s as median_s,
    $tokens_in as tokens_in,
    $tokens_out as tokens_out
