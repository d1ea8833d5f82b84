"""The decoding grammar: what it can derive parses and calls only what exists; what it can't is out of the language."""

from __future__ import annotations

import random
import re

import pytest

from lackpy.infer.retrieve import bank
from lackpy.lang import Grade, Param, RowType, Signature, check
from lackpy.lang.gbnf import gbnf

ROW = RowType("Row", (("name", "str"), ("file", "str"), ("line", "int"), ("text", "str"), ("type", "str")))


def _tool(name, *params, returns="list[Row]"):
    return Signature(name, params, returns, (ROW,) if "Row" in returns else (), Grade(0, 0))


TOOLS = {
    s.name: s
    for s in (
        _tool("read", Param("path", "str"), returns="str"),
        _tool("glob", Param("pattern", "str"), returns="list[str]"),
        _tool("grep", Param("pattern", "str"), Param("glob", "str", '"**/*"')),
        _tool("find_definitions", Param("name", "str")),
        _tool("find_callers", Param("name", "str")),
        _tool("outline", Param("path", "str")),
    )
}

# A small reader of GBNF: enough to derive random texts and to recognise given ones.
_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\[\^?(?:[^\]\\]|\\.)*\]|\{\d*,?\d*\}|[()|*+?]|[A-Za-z][\w-]*)')


def _parse(text):
    rules = {}
    for line in text.strip().splitlines():
        name, _, body = line.partition(" ::= ")
        rules[name] = _alternatives(_TOKEN.findall(body))[0]
    return rules


def _alternatives(words, i=0):
    options, sequence = [], []
    while i < len(words) and words[i] != ")":
        word = words[i]
        if word == "|":
            options.append(sequence)
            sequence = []
            i += 1
            continue
        if word == "(":
            item, i = _alternatives(words, i + 1)
        elif word[0] == '"':
            item = ("text", word[1:-1].replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\"))
        elif word[0] == "[":
            item = ("set", word)
        else:
            item = ("rule", word)
        i += 1
        least, most = 1, 1
        if i < len(words) and (words[i] in "*+?" or words[i][0] == "{"):
            mark = words[i]
            least, most = {"*": (0, 3), "+": (1, 3), "?": (0, 1)}.get(mark, (0, 0))
            if mark[0] == "{":
                low, _, high = mark[1:-1].partition(",")
                least, most = int(low), min(int(high), int(low) + 2)
            i += 1
        sequence.append((item, least, most))
    options.append(sequence)
    return ("or", options), i


def _derive(rules, item, rng, depth=0):
    kind, value = item
    if kind == "text":
        return value
    if kind == "set":
        pattern = re.compile(value)
        return rng.choice([c for c in map(chr, range(32, 127)) if pattern.fullmatch(c)])
    if kind == "rule":
        return _derive(rules, rules[value], rng, depth + 1)
    options = value
    if depth > 18:
        options = sorted(value, key=lambda s: sum(len(str(i)) for i in s))[:1]
    out = []
    for part, least, most in rng.choice(options):
        times = least if depth > 12 else rng.randint(least, most)
        out.extend(_derive(rules, part, rng, depth + 1) for _ in range(times))
    return "".join(out)


RULES = _parse(gbnf(TOOLS))
LEFT_TO_THE_VALIDATOR = {"unknown-name", "used-before-assignment", "too-deep"}


@pytest.mark.parametrize("seed", range(150))
def test_a_derived_statement_parses_and_calls_only_what_exists(seed):
    rng = random.Random(seed)
    try:
        text = _derive(RULES, ("rule", "statement-0"), rng)
    except RecursionError:
        return
    rules = {v.rule for v in check(text, TOOLS).violations}
    assert not rules - LEFT_TO_THE_VALIDATOR, (text, [str(v) for v in check(text, TOOLS).violations])


def test_names_leave_the_tree_of_taken_words():
    rng = random.Random(7)
    names = {_derive(RULES, ("rule", "name"), rng) for _ in range(400)}
    for name in names:
        assert name.isidentifier()
        assert name not in TOOLS
        assert not name.startswith("__")
        assert check(f"{name} = 1\n{name}", TOOLS).ok, name


def test_every_rule_that_is_used_exists():
    text = gbnf(TOOLS)
    defined = set(RULES)
    bare = re.sub(r'"(?:[^"\\]|\\.)*"|\[\^?(?:[^\]\\]|\\.)*\]', " ", text)
    used = {w for line in bare.splitlines() for w in re.findall(r"[a-z][\w-]*", line.partition("::=")[2])}
    assert used <= defined


def test_a_large_kit_gives_a_bounded_grammar():
    tools = {
        f"tool_number_{n}": _tool(f"tool_number_{n}", Param("a", "str"), Param("b", "int", "1"))
        for n in range(60)
    }
    assert len(gbnf(tools)) < 100_000


def test_a_kit_of_unnamed_rows_allows_any_key():
    assert "subscript ::= slice | ternary" in gbnf({"get": _tool("get", returns="dict")})


def test_the_bank_is_what_the_grammar_is_for():
    assert sum(check(e.program, TOOLS).ok for e in bank()) > 190
