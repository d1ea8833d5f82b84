"""Programs made up by Hypothesis: whole ones that run, with every surface construct that is lowered."""

from __future__ import annotations

from hypothesis import strategies as st

NAMES = ("a", "b", "c", "items", "row")


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> str:
    """An expression over whole numbers, in which every name holds one."""
    if depth == 0:
        return draw(st.sampled_from(("0", "1", "2", "7", *NAMES[:3])))
    left, right = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    form = draw(
        st.sampled_from(
            (
                "({l} + {r})",
                "({l} * {r} % 97)",
                "({l} if {r} > 1 else {r})",
                "f({l})",
                "len('x' * ({l} % 5))",
                "sum(i + {l} for i in [1, {r}])",
                "max([{l}, {r}], key=lambda v: g(v))",
                "({l} % 9) ** 2",
                "int('{{}}{{}}'.format({l}, {r} % 10)) % 89",
                "({l} or {r})",
                "sort_by([[{l}], [{r}]], 0)[0][0]",
                "sorted([{l}, {r}, 3], key=lambda v: f(v), reverse=True)[0]",
                "len({{{l}}} | {{{r}}})",
            )
        )
    )
    return form.format(l=left, r=right)


@st.composite
def blocks(draw: st.DrawFn, depth: int, *, loop: bool) -> list[str]:
    """A few statements; jumps only inside a loop."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        lines += draw(statements(depth, loop=loop))
    return lines


@st.composite
def statements(draw: st.DrawFn, depth: int, *, loop: bool) -> list[str]:
    """One statement, as its lines."""
    kinds = ["assign", "aug", "print", "pass", "annotated", "pair", "append"]
    if loop:
        kinds += ["break", "continue"]
    if depth:
        kinds += ["if", "if", "for", "for-else"]
    kind = draw(st.sampled_from(kinds))
    value = draw(expressions(1))
    name = draw(st.sampled_from(NAMES[:3]))
    if kind in {"if", "for", "for-else"}:
        inner = draw(blocks(depth - 1, loop=loop or kind != "if"))
        head = f"if {value} > 2:" if kind == "if" else f"for {name} in range({value} % 4):"
        lines = [head, *("    " + line for line in inner)]
        if kind == "for-else" or (kind == "if" and draw(st.booleans())):
            lines += ["else:", *("    " + line for line in draw(blocks(depth - 1, loop=loop)))]
        return lines
    return [
        {
            "assign": f"{name} = {value}",
            "aug": f"{name} += {value}",
            "print": f"print({name}, {value})",
            "pass": "pass",
            "annotated": f"{name}: int = {value}",
            "pair": f"{name}, c = {value}, {name}",
            "append": f"items.append({value})",
            "break": "break",
            "continue": "continue",
        }[kind]
    ]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A whole program ending in an expression over its names."""
    body = draw(blocks(3, loop=False))
    return "\n".join(["a = 1", "b = 2", "c = f(3)", "items = []", *body, "[a, b, c, items]"])
