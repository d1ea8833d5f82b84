"""The analytics models against a small fixed store with known answers."""

from __future__ import annotations

import datetime as dt
import json
import re

import pytest

from lackpy.traces.journal import Journal
from lackpy.traces.record import Feedback, Trace
from riggs.analytics import frame, model, models, plain_rows, query
from riggs.errors import RiggsError
from riggs.report import html
from riggs.store import Store

# (day, session, tier, intent, success, gen_ms, cost)
CALLS = [
    (1, "a", "2", "callers of alpha_x", True, 1000.0, 0.002),
    (1, "a", "2", "callers of beta_x", True, 2000.0, 0.004),
    (1, "b", None, "frob 3 wugs", False, 0.0, None),
    (1, "b", "caller", "callers of gamma_x", False, 0.0, None),
    (2, "c", "0", "callers of alpha_x", True, 0.1, None),
    (2, "c", "0", "callers of beta_x", True, 0.1, None),
    (2, "d", "0", "callers of delta_x", True, 0.1, None),
    (2, "d", "2", "who wrote this", True, 3000.0, 0.003),
    (3, "e", "0", "callers of beta_x", False, 0.1, None),
    (3, "e", None, "frob 7 wugs", False, 0.0, None),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = tmp_path_factory.mktemp("analytics")
    journal = Journal(root / ".lackpy" / "journal")
    for n, (day, session, tier, intent, success, gen_ms, cost) in enumerate(CALLS):
        journal.append(
            Trace(
                trace_id=f"00000000-0000-7000-8000-{n:012d}",
                ts=f"2026-03-{day + 27:02d}T23:30:00.000000Z",
                project="p",
                session_id=session,
                intent=intent,
                kit="debug",
                tier=tier,
                provider=None,
                model="m" if tier == "2" else None,
                template="callers" if tier == "0" else None,
                program=f'find_callers("{intent.split()[-1]}")' if tier else None,
                valid=tier is not None,
                success=success,
                error_kind=None if success else ("no_program" if tier is None else "runtime"),
                gen_ms=gen_ms,
                total_ms=gen_ms + 1,
                cost_usd=cost,
            )
        )
    journal.append(
        Feedback(
            "00000000-0000-7000-8000-000000000006", "2026-03-30T00:00:00.000000Z", "bad", "not what I asked"
        )
    )
    journal.close()
    store = Store(root)
    store.sync()
    return store


def rows(store, name, *columns):
    return [tuple(row[c] for c in columns) for row in model(store, name)]


def test_template_share_daily(store):
    """One bucket a calendar day, across a change to summer time; a bad serve is no served call."""
    assert rows(store, "template_share_daily", "day", "calls", "served", "share", "wrong") == [
        (dt.date(2026, 3, 28), 4, 0, 0.0, 0),
        (dt.date(2026, 3, 29), 4, 2, 0.5, 1),
        (dt.date(2026, 3, 30), 2, 0, 0.0, 1),
    ]


def test_tier_share_daily(store):
    assert rows(store, "tier_share_daily", "tier", "calls", "share")[:3] == [
        ("2", 2, 0.5),
        ("caller", 1, 0.25),
        ("none", 1, 0.25),
    ]


def test_crossover_is_strictly_more_than_half(store):
    assert rows(store, "crossover", "crossover_number", "steady_share", "calls") == [(None, 0.2, 10)]


def test_tier_share_session(store):
    assert rows(
        store, "tier_share_session", "session_id", "calls", "templates", "models", "callers", "unserved"
    ) == [
        ("a", 2, 0, 2, 0, 0),
        ("b", 2, 0, 0, 1, 1),
        ("c", 2, 2, 0, 0, 0),
        ("d", 2, 1, 1, 0, 0),
        ("e", 2, 1, 0, 0, 1),
    ]


def test_long_tail(store):
    found = rows(store, "long_tail", "rank", "request", "calls", "served")
    assert found[0] == (1, "callers of {name}", 7, 4)
    assert rows(store, "long_tail", "cumulative_share")[-1] == (pytest.approx(1.0),)


def test_latency_by_tier(store):
    assert rows(store, "latency_by_tier", "tier", "calls", "success_rate", "median_ms", "cost_usd")[:2] == [
        ("0", 4, 0.5, 1.1, 0.0),
        ("2", 3, 1.0, 2001.0, pytest.approx(0.009)),
    ]


def test_template_serves(store):
    assert rows(
        store,
        "template_serves",
        "template",
        "served",
        "successes",
        "failures",
        "bad",
        "wrong_rate",
        "age_days",
    ) == [("callers", 4, 2, 2, 1, 0.5, 1)]


def test_wrong_serves_give_the_callers_reason(store):
    assert rows(store, "wrong_serves", "intent", "reason") == [
        ("callers of delta_x", "not what I asked"),
        ("callers of beta_x", "runtime"),
    ]


def test_savings_daily(store):
    """Two good serves on the second day, each worth the median model call."""
    assert rows(store, "savings_daily", "served", "saved_seconds", "saved_usd", "spent_seconds") == [
        (0, 0.0, 0.0, 3.0),
        (2, 4.0, pytest.approx(0.006), 3.0),
        (0, 0.0, 0.0, 0.0),
    ]


def test_gaps_group_by_shape(store):
    assert rows(store, "gaps", "request", "calls", "sessions", "example") == [
        ("frob # wugs", 2, 2, "frob 7 wugs")
    ]


def test_candidates_over_time(store):
    assert [tuple(r.values()) for r in model(store, "candidates_over_time", {"frequency": 2})] == [
        (dt.date(2026, 3, 28), 1, 1)
    ]


def test_a_model_as_a_data_frame(store):
    found = frame(store, "template_share_daily")
    assert found.columns == ["day", "calls", "served", "share", "wrong"]
    assert found["share"].to_list() == [0.0, 0.5, 0.0]


def test_every_model_runs_on_an_empty_store(tmp_path):
    empty = Store(tmp_path)
    for name in models():
        json.dumps(plain_rows(model(empty, name)), allow_nan=False)


@pytest.mark.parametrize(
    "text",
    [
        "delete from traces",
        "create table x (a int)",
        "select * from read_csv('/etc/passwd')",
        "copy traces to '/tmp/x'",
        "selec 1",
    ],
)
def test_an_analysts_query_can_only_read(store, text):
    with pytest.raises(RiggsError, match="the query was refused"):
        query(store, text)
    assert query(store, "select count(*) as n from lackpy_traces") == [{"n": 10}]


def test_report_is_one_page_that_fetches_nothing(store, tmp_path):
    """Figures, five charts as SVG, tables; no script, no link to fetch; an empty store is explained."""
    page = html(store, now=dt.datetime(2026, 4, 1, tzinfo=dt.UTC))
    assert page.count("<svg") == 5
    assert "callers of {name}" in page
    assert not re.search(r"<script|<link|src=|@import|url\((?!#)", page)
    assert "No calls are recorded yet" in html(Store(tmp_path))
