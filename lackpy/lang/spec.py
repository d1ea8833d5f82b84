"""The language described for people and for machines, from the tables in `grammar` and nothing else."""

from __future__ import annotations

from lackpy.lang import grammar
from lackpy.lang.rules import RULES

_GROUPS = (
    ("Statements", grammar.ALLOWED_STATEMENTS),
    ("Expressions", grammar.ALLOWED_EXPRESSIONS),
    ("Operators", grammar.ALLOWED_OPERATORS),
)


def spec_json() -> dict[str, object]:
    """Return the language as plain data: allowed and refused nodes, builtins, methods, lowerings, limits."""
    return {
        "allowed_nodes": sorted(grammar.ALLOWED_NODES),
        "refused_nodes": {
            name: {"what": r.what, "hint": r.hint} for name, r in sorted(grammar.REFUSED_NODES.items())
        },
        "builtins": {name: builtin.text for name, builtin in grammar.BUILTINS.items()},
        "methods": {kind: sorted(methods) for kind, methods in grammar.SAFE_METHODS.items()},
        "lowerings": [{"written": written, "meaning": meaning} for written, meaning in grammar.LOWERINGS],
        "rules": {form: demand for form, (demand, _) in RULES.items()},
        "limits": {
            "source_chars": grammar.MAX_SOURCE_CHARS,
            "nodes": grammar.MAX_NODES,
            "depth": grammar.MAX_DEPTH,
            "loop_depth": grammar.MAX_LOOP_DEPTH,
            "int_bits": grammar.MAX_INT_BITS,
            "static_items": grammar.MAX_STATIC_SIZE,
            "format_width": grammar.MAX_FORMAT_WIDTH,
        },
    }


def spec_text() -> str:
    """Return the language as Markdown, stable between calls."""
    out = [
        "# The language",
        "",
        "Python with most of it removed. The last expression is the program's output.",
        "",
    ]
    for title, nodes in _GROUPS:
        out += [f"## {title}", "", ", ".join(f"`{name}`" for name in sorted(nodes)), ""]
    out += ["## Builtins", "", *(f"- `{builtin.text}`" for builtin in grammar.BUILTINS.values()), ""]
    out += ["## Methods", ""]
    out += [
        f"- {kind}: " + ", ".join(f"`{m}`" for m in sorted(ms)) for kind, ms in grammar.SAFE_METHODS.items()
    ]
    out += ["", "## Written so, meant so", "", "| written | meaning |", "|---|---|"]
    out += [f"| `{_cell(written)}` | `{_cell(meaning)}` |" for written, meaning in grammar.LOWERINGS]
    out += ["", "## Refused", "", "| node | what | write instead |", "|---|---|---|"]
    out += [
        f"| `{n}` | {_cell(r.what)} | {_cell(r.hint)} |" for n, r in sorted(grammar.REFUSED_NODES.items())
    ]
    out += ["", "## Extra rules", "", *(f"- `{form}`: {demand}" for form, (demand, _) in RULES.items())]
    out += ["", "## Limits", ""]
    limits = spec_json()["limits"]
    if isinstance(limits, dict):
        out += [f"- {name.replace('_', ' ')}: {value:,}" for name, value in limits.items()]
    return "\n".join(out) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
