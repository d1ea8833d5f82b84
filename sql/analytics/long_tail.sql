-- name: analytics/long_tail
-- description: Requests by how often they come, with the share that the most frequent ones hold. Requests are alike when their concept text with typed slots is; those without one count as they were said.
-- grain: one row per request
-- reads: lackpy_traces
-- params: none
-- returns:
--   rank BIGINT 1 is the most frequent
--   request VARCHAR concept text, or the intent as said
--   calls BIGINT calls
--   served BIGINT template-served
--   share DOUBLE of all calls, 0 to 1
--   cumulative_share DOUBLE of all calls up to this rank, 0 to 1
--   is_top_fifth BOOLEAN among the first 20 % of requests
with requests as (
    select
        coalesce(intent_normalized, lower(intent)) as request,
        count(*) as calls,
        count(*) filter (where tier = '0') as served
    from lackpy_traces
    where intent <> ''
    group by request
),

ranked as (
    select
        row_number() over (order by calls desc, request) as rank,
        request,
        calls,
        served,
        calls / sum(calls) over () as share,
        count(*) over () as requests
    from requests
)

select
    rank,
    request,
    calls,
    served,
    share,
    sum(share) over (order by rank) as cumulative_share,
    rank <= ceil(requests * 0.2) as is_top_fifth
from ranked
order by rank
