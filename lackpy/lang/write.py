"""Tree to text, the same on every Python.

`ast.unparse` writes all but f-strings alike everywhere; f-strings are written here, in the form that
the oldest supported Python parses wherever there is one.
"""

from __future__ import annotations

import ast
import re

_QUOTES = ("'", '"', "'''", '"""')
_MARK = re.compile("\x00([0-9]+)\x00")


def write(tree: ast.AST) -> str:
    r"""Return the source of `tree`, which stays as it is.

    >>> print(write(ast.parse('''f"{x[1]!r:>{n}} it's"''')))
    f'{x[1]!r:>{n}} it\'s'

    Args:
        tree: A module or an expression.
    """
    marker = _Marker()
    marked = marker.visit(tree)
    text = ast.unparse(marked)
    if not marker.texts:
        return text
    return _MARK.sub(lambda found: marker.texts[int(found.group(1))], text)


class _Marker(ast.NodeTransformer):
    """Puts a mark where an f-string stands, on copies of the nodes above it."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def generic_visit(self, node: ast.AST) -> ast.AST:
        changed: dict[str, object] = {}
        for name, old in ast.iter_fields(node):
            new: object = old
            if isinstance(old, ast.AST):
                new = self.visit(old)
            elif isinstance(old, list):
                items = [self.visit(item) if isinstance(item, ast.AST) else item for item in old]
                new = items if any(a is not b for a, b in zip(items, old, strict=True)) else old
            if new is not old:
                changed[name] = new
        if not changed:
            return node
        return ast.copy_location(type(node)(**{n: changed.get(n, v) for n, v in ast.iter_fields(node)}), node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        self.texts.append(_text(node))
        return ast.Name(f"\x00{len(self.texts) - 1}\x00", ast.Load())


def _text(node: ast.JoinedStr) -> str:
    parts = [part if isinstance(part, ast.Constant) else _field(part) for part in node.values]
    code = "".join(part for part in parts if isinstance(part, str))
    quote = next((q for q in _QUOTES if q not in code), "'")
    body = "".join(part if isinstance(part, str) else _literal(str(part.value), quote[0]) for part in parts)
    return f"f{quote}{body}{quote}"


def _literal(text: str, quote: str) -> str:
    """Return text as it stands between the fields of an f-string."""
    return "".join(_character(c, quote) for c in text).replace("{", "{{").replace("}", "}}")


def _character(c: str, quote: str) -> str:
    if c in {quote, "\\"}:
        return "\\" + c
    return c if c.isprintable() else repr(c)[1:-1]


def _field(node: ast.expr) -> str:
    if not isinstance(node, ast.FormattedValue):
        return "{" + write(node) + "}"
    code = write(node.value)
    if isinstance(node.value, (ast.Lambda, ast.IfExp)):
        code = f"({code})"
    elif code.startswith("{"):
        code = " " + code
    conversion = f"!{chr(node.conversion)}" if node.conversion != -1 else ""
    return "{" + code + conversion + _spec(node.format_spec) + "}"


def _spec(node: ast.expr | None) -> str:
    if not isinstance(node, ast.JoinedStr):
        return ""
    parts = (_literal(str(p.value), "") if isinstance(p, ast.Constant) else _field(p) for p in node.values)
    return ":" + "".join(parts)
