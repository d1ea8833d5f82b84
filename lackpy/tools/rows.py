"""The shapes that builtin tools return, keys in the order that results carry them."""

from __future__ import annotations

from typing import TypedDict


class GrepRow(TypedDict):
    """One matching line."""

    file: str
    line: int
    text: str


class DefinitionRow(TypedDict):
    """One definition; `type` is `function`, `class` or `method`."""

    name: str
    type: str
    file: str
    line: int
    text: str


class CallerRow(TypedDict):
    """One call site; `name` is the enclosing definition or `<module>`."""

    name: str
    file: str
    line: int
    text: str


class OutlineRow(TypedDict):
    """One definition of a file."""

    name: str
    type: str
    line: int


class TestFailure(TypedDict):
    """One failed test, or one reason why tests couldn't run."""

    test: str
    message: str


class TestReport(TypedDict):
    """What a test run gave; `duration_s` is seconds."""

    passed: int
    failed: int
    errors: int
    duration_s: float
    failures: list[TestFailure]


class Written(TypedDict):
    """What `write` stored; `bytes` is the file's new size."""

    path: str
    bytes: int


class Edited(TypedDict):
    """What `edit` changed; `replaced` counts places."""

    path: str
    replaced: int
