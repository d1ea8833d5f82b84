"""Learning: thresholds, failures, feedback, noise, and patterns no wider than their evidence."""

from __future__ import annotations

import pytest

from lackpy.intent import Entry, PatternSet
from lackpy.lang import canonical, fill
from lackpy.templates.format import parse
from riggs import backtest, induce, learn
from riggs.induce import InductionError, Pattern
from riggs.learn import candidates, group, group_id, observations
from riggs.thresholds import Thresholds, wilson_low

NAMES = ["alpha_one", "beta_two", "gamma", "delta", "Epsilon", "zeta9", "eta", "theta_x"]


def rows(count: int, sessions: int, *, success: bool = True, phrase: str = "callers of {n}") -> list[tuple]:
    return [
        (phrase.format(n=NAMES[i % 8]), f'find_callers("{NAMES[i % 8]}")', success, f"s{i % sessions}")
        for i in range(count)
    ]


def serve(found, intent: str) -> str | None:
    by_name = {t.name: t for t in found}
    hit = PatternSet([Entry(t.name, t.pattern, t.slots) for t in found]).match(intent).hit
    if hit is None:
        return None
    t = by_name[hit.key]
    return canonical(fill(t.program, t.slots, hit.slots))


def test_enough_evidence_gives_a_template() -> None:
    (found,) = learn(rows(5, 3))
    assert (found.name, found.pattern, found.program, found.slots) == (
        "callers-of",
        "callers of {name}",
        'find_callers("{name}")',
        {"name": "identifier"},
    )
    assert (found.evidence.successes, found.evidence.failures, found.evidence.sessions) == (5, 0, 3)
    file = parse(found.text)
    assert (file.pattern, file.program, file.state) == (found.pattern, found.program, "probation")
    assert serve([found], "who calls never_seen?") == "find_callers('never_seen')"


@pytest.mark.parametrize(
    ("count", "sessions", "yes"), [(4, 3, False), (5, 3, True), (6, 3, True), (5, 2, False), (8, 4, True)]
)
def test_thresholds_at_their_edges(count: int, sessions: int, yes: bool) -> None:
    assert bool(learn(rows(count, sessions))) is yes


@pytest.mark.parametrize(
    ("good", "failed", "yes"), [(8, 3, False), (8, 2, True), (8, 1, True), (5, 5, False)]
)
def test_failures_count(good: int, failed: int, yes: bool) -> None:
    assert bool(learn(rows(good, 3) + rows(failed, 3, success=False))) is yes


def test_bad_feedback_is_a_failure() -> None:
    good = [{"intent": i, "program": p, "success": True, "session": s} for i, p, _, s in rows(8, 3)]
    bad = [dict(r, feedback="bad") for r in good[:3]]
    assert learn(good + bad[:2])
    assert not learn(good[3:] + bad)


def test_thresholds_can_be_overridden() -> None:
    assert learn(rows(2, 1), frequency=2, sessions=1)
    with pytest.raises(ValueError, match="'frequency' must be >= 1"):
        learn(rows(2, 1), frequency=0)


def test_rows_may_be_mappings_tuples_or_objects() -> None:
    class Row:
        def __init__(self, row: tuple) -> None:
            self.intent, self.program, self.success, self.session_id = row

    data = rows(6, 3)
    mappings = [dict(zip(("intent", "program", "success", "session_id"), r, strict=True)) for r in data]
    assert learn(data) == learn(mappings) == learn([Row(r) for r in data])
    with pytest.raises(ValueError, match="row 1 has no 'program'"):
        learn([{"intent": "x"}])


def test_order_of_rows_does_not_matter() -> None:
    data = rows(6, 3) + rows(6, 3, phrase="who calls {n}?") + rows(6, 3, phrase="jump to the users of {n}")
    assert learn(data)[0].text == learn(list(reversed(data)))[0].text


def test_aggregated_rows_learn_the_same() -> None:
    data = rows(9, 3) + rows(1, 1, success=False)
    assert learn(observations(data)) == learn(data)


def test_served_calls_prove_nothing() -> None:
    data = [
        {"intent": i, "program": p, "success": True, "session": s, "tier": 0} for i, p, _, s in rows(9, 3)
    ]
    assert learn(data) == []


def test_a_slot_that_never_varied_is_a_literal() -> None:
    data = [("show callers of Main", 'find_callers("Main")', True, f"s{i}") for i in range(6)]
    (found,) = learn(data)
    assert (found.pattern, found.slots, found.program) == ("show callers of Main", {}, 'find_callers("Main")')
    assert serve([found], "show callers of main") is None


def test_slot_types_are_the_narrowest() -> None:
    for values, kind in ((["a/b.py", "c.ts", "d.py"], "path"), (["a/b", "src", "lib"], "dir")):
        data = [(f"frobnicate {v} soon", f'glob("{v}")', True, f"s{i}") for i, v in enumerate(values * 2)]
        (found,) = learn(data)
        assert list(found.slots.values()) == [kind]


def test_decisive_words_never_merge() -> None:
    """Fail and pass, callers and callees, importing and imported stay different templates."""
    pairs = [
        (
            "list tests that fail in {n}",
            'run_tests("{n}")["failures"]',
            "list tests that pass in {n}",
            'run_tests("{n}")["passed"]',
        ),
        (
            "find callers of {n}",
            'find_callers("{n}")',
            "find callees of {n}",
            'grep("\\\\w+\\\\(", "{n}.py")',
        ),
        (
            "files importing {n}",
            'grep("import {n}", "**/*.py")',
            "files {n} imports",
            'grep("import", "{n}.py")',
        ),
        ("add {n} to main", 'edit("m.py", "", "{n}")', "remove {n} from main", 'edit("m.py", "{n}", "")'),
    ]
    for one, program, other, program2 in pairs:
        data = []
        for i in range(20):
            n = NAMES[i % 8]
            data.append((one.format(n=n), program.replace("{n}", n), True, f"s{i % 4}"))
            data.append((other.format(n=n), program2.replace("{n}", n), True, f"s{i % 4}"))
        found = learn(data)
        assert len(found) == 2
        assert serve(found, one.format(n="unseen_x")) == canonical(program.replace("{n}", "unseen_x"))
        assert serve(found, other.format(n="unseen_x")) == canonical(program2.replace("{n}", "unseen_x"))


def test_a_phrasing_answered_two_ways_serves_neither() -> None:
    data = rows(6, 3)
    data += [(i, f'find_definitions("{i.split()[-1]}")', True, s) for i, _, _, s in data]
    assert learn(data) == []


def test_a_lone_wrong_program_neither_spreads_nor_blocks() -> None:
    data = [*rows(20, 4), ("callers of gamma", 'find_definitions("gamma")', True, "s9")]
    (found,) = learn(data)
    assert found.evidence.wrong_serves == 0
    assert found.evidence.disagreements == 1


def test_noise_raises_the_support_each_phrasing_needs() -> None:
    """Once silently wrong programs were seen, one success of a new phrasing isn't proof."""
    clean = [*rows(30, 5), ("zap the users of gamma", 'find_callers("gamma")', True, "s1")]
    noise = [(f"callers of {n}", f'find_definitions("{n}")', True, "s2") for n in NAMES[:3]]
    assert serve(learn(clean), "zap the users of delta") == "find_callers('delta')"
    assert serve(learn(clean + noise), "zap the users of delta") is None
    more = [("zap the users of " + n, f'find_callers("{n}")', True, "s3") for n in NAMES[:4]]
    assert serve(learn(clean + noise + more), "zap the users of delta") == "find_callers('delta')"


def test_a_program_that_missed_a_condition_is_no_evidence() -> None:
    data = [*rows(8, 3), ("callers of gamma, but only the first 4", 'find_callers("gamma")', True, "s1")]
    assert serve(learn(data), "callers of delta, but only the first 4") is None


def test_ids_depend_on_program_and_kit_only() -> None:
    narrow = learn(rows(6, 3))
    wide = learn(rows(6, 3) + rows(6, 3, phrase="users of {n} please"))
    assert narrow[0].id == wide[0].id == group_id("debug", 'find_callers("{name}")')


def test_kits_stay_apart() -> None:
    data = [
        {"intent": i, "program": p, "success": True, "session": s, "kit": k}
        for i, p, _, s in rows(6, 3)
        for k in ("a", "b")
    ]
    assert len(learn(data)) == 2


def test_refused_phrasings_say_why() -> None:
    data = [*rows(8, 3), ("callers of gamma, first 4", 'find_callers("gamma")', True, "s1")]
    (found,) = group(data)
    assert found.refused == {"callers of gamma, first 4": "the program doesn't use '4' of the intent"}


def test_candidates_keep_their_evidence() -> None:
    observed = observations(rows(8, 3) + rows(1, 1, success=False))
    (one,) = candidates(group(observed), Thresholds(), observed)
    assert (one.evidence.success_rate, one.evidence.coverage) == (8 / 9, 1.0)
    assert one.evidence.wilson_low == wilson_low(8, 1)


def test_conflicts_with_live_templates_are_named() -> None:
    live = {"old": Pattern("callers of {name}", 'find_definitions("{name}")', {"name": "identifier"})}
    observed = observations(rows(8, 3))
    (one,) = candidates(group(observed), Thresholds(), observed, live)
    assert one.evidence.conflicts == {"old": 8}


# ---------------------------------------------------------------- induce, backtest


def test_induce_writes_one_readable_pattern() -> None:
    pattern = induce(
        [
            ("zap the rows of foo", 'grep("foo", "a.py")'),
            ("please zap every row of bar", 'grep("bar", "a.py")'),
            ("kindly zap the rows of baz", 'grep("baz", "a.py")'),
        ]
    )
    assert pattern.pattern == "zap (rows|every row) of {name}" or "{" in pattern.pattern
    assert pattern.match("zap rows of qux_1") is not None
    assert pattern.match("zap rows of qux_1 and more") is None


def test_induce_refuses_different_programs() -> None:
    with pytest.raises(InductionError, match="different programs"):
        induce([("callers of foo", 'find_callers("foo")'), ("callers of bar", 'find_definitions("bar")')])
    with pytest.raises(InductionError, match="no examples"):
        induce([])


PATTERN = Pattern("callers of {name}", 'find_callers("{name}")', {"name": "identifier"})


def test_backtest_counts_right_and_wrong() -> None:
    history = [
        ("who calls foo?", 'rows = find_callers("foo")\nrows', True),
        ("callers of bar", 'find_callers("bar")', True),
        ("callers of baz", 'find_callers("baz")', False),
        ("callers of bar in tests", 'find_callers("bar")', True),
    ]
    found = backtest(PATTERN, history)
    assert (found.served, found.right, found.wrong, found.total, found.coverage) == (2, 2, 0, 4, 0.5)


def test_backtest_calls_another_program_wrong() -> None:
    found = backtest(PATTERN, [("callers of foo", 'find_definitions("foo")', True)])
    assert (found.right, found.wrong) == (0, 1)
    assert found.wrong_examples == (("callers of foo", 'find_definitions("foo")', "find_callers('foo')"),)


def test_backtest_takes_escaped_text_as_the_same_text() -> None:
    pattern = Pattern('grep "{text}" in {path}', 'grep("{text}", "{path}")', {"text": "text", "path": "path"})
    found = backtest(pattern, [('grep "a.b(" in x.py', 'grep("a\\\\.b\\\\(", "x.py")', True)])
    assert (found.right, found.wrong) == (1, 0)


def test_wilson_interval() -> None:
    assert [round(wilson_low(*x), 4) for x in ((5, 0), (5, 5), (0, 0), (100, 0))] == [
        0.5655,
        0.2366,
        0.0,
        0.963,
    ]
