"""The form an intent asks its answer in, where a program gives the rows in its place: a count, true or false.

Acts only where the intent says the form outright and the program's value is certainly a list or a set. Pure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from lackpy.lang.shapes import Shapes
from lackpy.lang.signature import Signature

_BOOL = re.compile(
    r"(?:^|[,.;:?!(-]|\banswer\b|\bas\b)\W*(?:(?:answer|just|only|return|say|tell me|with|as|an?|simple)\s+)*"
    r"(?:true\s*(?:/|or)\s*false|yes\s*(?:/|or)\s*no|bool(?:ean)?)(?=\W*$|[:,?])",
    re.IGNORECASE,
)
"""A wish beside the question, at an end of it: `bool` and `true or false` inside it are what is looked for."""
_COUNT = re.compile(
    r"^\W*(?:(?:please|tell me|say|give me|i need|i want|what is|what's|the|total|count|compute)\W+)*"
    r"(how many|number of|count of|count the)\b",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\b(per|each|every|by|grouped?|dict|map|mapping|which|list|names?|show)\b|->|[{\[]", re.IGNORECASE
)
"""Words that ask for more than one number."""


def wanted_form(intent: str) -> str | None:
    """Return `bool` or `count` where an intent asks for exactly that, else `None`."""
    if _BOOL.search(intent):
        return None if re.search(r"\b(per|each|every|dict|map)\b|->|\{", intent, re.IGNORECASE) else "bool"
    return "count" if _COUNT.search(intent) and not _MORE.search(intent) else None


def in_wanted_form(
    program: str, intent: str, signatures: Mapping[str, Signature], params: Mapping[str, str]
) -> tuple[str, bool]:
    """Return the program with its list made the asked count or truth, and whether that changed it."""
    wanted = wanted_form(intent)
    if wanted is None:
        return program, False
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return program, False
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        return program, False
    shape = Shapes(tree, signatures, params).of(last.value)
    if shape is None or shape.kind not in ("list", "set"):
        return program, False
    size = ast.Call(ast.Name("len", ast.Load()), [last.value], [])
    last.value = size if wanted == "count" else ast.Compare(size, [ast.Gt()], [ast.Constant(0)])
    return ast.unparse(ast.fix_missing_locations(tree)), True
