"""The language as data: what a program may hold, what it may not and why.

Everyone who needs to know reads these tables: the validator, the spec, the grammar for constrained
decoding, prompts and README. The allowed set is the authority; the refused table exists so that a
refusal can say what to write instead. A node in neither table is refused by its name.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_SOURCE_CHARS = 100_000
"""Longest program, in characters."""
MAX_NODES = 20_000
"""Most syntax-tree nodes, operators and contexts not counted."""
MAX_DEPTH = 100
"""Deepest nesting of nodes; the tree is walked, written and compiled by recursive code."""
MAX_LOOP_DEPTH = 15
"""Deepest nesting of `for` statements, comprehension loops and lambdas together.

CPython compiles 20 nested blocks, and 3.12 and 3.13 crash on deeper comprehensions instead of raising.
"""
MAX_INT_BITS = 3_320
"""Largest integer literal, about 1,000 decimal digits."""
MAX_STATIC_SIZE = 10_000_000
"""Largest text or list, in items, that a literal repetition may ask for."""
MAX_FORMAT_WIDTH = 100_000
"""Largest width or precision a literal format specification may ask for."""

ALLOWED_STATEMENTS = frozenset({"Module", "Expr", "Assign", "AugAssign", "For", "If", "With", "withitem"})
ALLOWED_EXPRESSIONS = frozenset(
    {
        "Call",
        "Name",
        "Attribute",
        "Subscript",
        "List",
        "Dict",
        "Tuple",
        "Set",
        "ListComp",
        "DictComp",
        "SetComp",
        "Compare",
        "BoolOp",
        "UnaryOp",
        "BinOp",
        "JoinedStr",
        "FormattedValue",
        "Constant",
        "Starred",
        "Slice",
        "Lambda",
        "comprehension",
        "IfExp",
        "keyword",
        "arguments",
        "arg",
    }
)
ALLOWED_CONTEXTS = frozenset({"Load", "Store", "Del"})
ALLOWED_OPERATORS = frozenset(
    {
        "Add",
        "Sub",
        "Mult",
        "Div",
        "Mod",
        "FloorDiv",
        "Eq",
        "NotEq",
        "Lt",
        "LtE",
        "Gt",
        "GtE",
        "Is",
        "IsNot",
        "In",
        "NotIn",
        "And",
        "Or",
        "Not",
        "USub",
        "UAdd",
    }
)
ALLOWED_NODES = ALLOWED_STATEMENTS | ALLOWED_EXPRESSIONS | ALLOWED_CONTEXTS | ALLOWED_OPERATORS
"""Every node type a lowered program may hold."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a node isn't in the language.

    Attributes:
        what: How a reader names the construct.
        hint: What to write instead.
    """

    what: str
    hint: str


_LIST = "write a list comprehension: `[f(x) for x in xs]`"
_SEQUENCE = "write the steps one after another, without defining anything"
_VALUES = "check the value first: `x if x else None`"
_BITS = "use + - * / // % and the comparison operators"
_ASYNC = "call the tool directly; every call waits for its result"
_MATCH = "use if / elif / else"

REFUSED_NODES: dict[str, Refusal] = {
    "Import": Refusal("import", "remove the import; everything a program may use is already there"),
    "alias": Refusal("import", "remove the import; everything a program may use is already there"),
    "ImportFrom": Refusal("import", "remove the import; everything a program may use is already there"),
    "FunctionDef": Refusal("function definition", _SEQUENCE),
    "AsyncFunctionDef": Refusal("function definition", _SEQUENCE),
    "ClassDef": Refusal("class definition", "use a dict for a record and a list for a collection"),
    "While": Refusal("while loop", "loop over something that ends: `for x in items:`"),
    "Try": Refusal("try", f"a failing call ends the program; {_VALUES}"),
    "TryStar": Refusal("try", f"a failing call ends the program; {_VALUES}"),
    "ExceptHandler": Refusal("except", f"a failing call ends the program; {_VALUES}"),
    "Raise": Refusal("raise", "end the program with the value you want to report"),
    "Global": Refusal("global", "remove the line; a program has one scope"),
    "Nonlocal": Refusal("nonlocal", "remove the line; a program has one scope"),
    "Yield": Refusal("yield", "append to a list and end the program with it"),
    "YieldFrom": Refusal("yield", "append to a list and end the program with it"),
    "Await": Refusal("await", _ASYNC),
    "AsyncFor": Refusal("async for", _ASYNC),
    "AsyncWith": Refusal("async with", _ASYNC),
    "Assert": Refusal("assert", "end the program with the condition itself: its value is the output"),
    "Delete": Refusal("del", "leave the name alone, or build a new list or dict without the item"),
    "Match": Refusal("match", _MATCH),
    "Return": Refusal("return", "put the value on the last line; the last expression is the output"),
    "NamedExpr": Refusal("walrus (:=)", "assign on a line of its own: `x = value`"),
    "GeneratorExp": Refusal("generator", _LIST),
    "AnnAssign": Refusal("annotation without a value", "assign a value: `x = value`"),
    "TypeAlias": Refusal("type statement", "remove the line; a program declares no types"),
    "TemplateStr": Refusal("template string", 'use an f-string: `f"{x}"`'),
    "Interpolation": Refusal("template string", 'use an f-string: `f"{x}"`'),
    "Pass": Refusal("pass", "remove the line"),
    "Break": Refusal("break outside a loop", "remove the line"),
    "Continue": Refusal("continue outside a loop", "remove the line"),
    "Pow": Refusal("power operator (**)", "write the product: `x * x`"),
    "MatMult": Refusal("matrix product (@)", _BITS),
    "LShift": Refusal("shift operator", _BITS),
    "RShift": Refusal("shift operator", _BITS),
    "BitOr": Refusal(
        "operator |", "join sets with `a.union(b)`, dicts with `{**a, **b}`, conditions with `or`"
    ),
    "BitXor": Refusal("operator ^", "use `a.symmetric_difference(b)` on sets, `!=` on conditions"),
    "BitAnd": Refusal("operator &", "use `a.intersection(b)` on sets, `and` on conditions"),
    "Invert": Refusal("operator ~", "use `not` on conditions"),
    "MatchValue": Refusal("match", _MATCH),
    "MatchSingleton": Refusal("match", _MATCH),
    "MatchSequence": Refusal("match", _MATCH),
    "MatchMapping": Refusal("match", _MATCH),
    "MatchClass": Refusal("match", _MATCH),
    "MatchStar": Refusal("match", _MATCH),
    "MatchAs": Refusal("match", _MATCH),
    "MatchOr": Refusal("match", _MATCH),
    "match_case": Refusal("match", _MATCH),
    "TypeVar": Refusal("type parameter", "remove it; a program declares no types"),
    "ParamSpec": Refusal("type parameter", "remove it; a program declares no types"),
    "TypeVarTuple": Refusal("type parameter", "remove it; a program declares no types"),
}
"""Node types that are not in the language, each with the words of its refusal."""

ABSTRACT_NODES = frozenset(
    {
        "AST",
        "mod",
        "stmt",
        "expr",
        "expr_context",
        "boolop",
        "operator",
        "unaryop",
        "cmpop",
        "excepthandler",
        "pattern",
        "type_ignore",
        "type_param",
        "slice",
    }
)
"""Base classes of `ast`; no parsed program holds one."""
NEVER_PARSED_NODES = frozenset(
    {
        "Expression",
        "Interactive",
        "FunctionType",
        "TypeIgnore",
        "Suite",
        "AugLoad",
        "AugStore",
        "Param",
        "Index",
        "ExtSlice",
        "Num",
        "Str",
        "Bytes",
        "NameConstant",
        "Ellipsis",
    }
)
"""Other modes of the parser and names that older Pythons kept; `ast.parse` of a program makes none."""


@dataclass(frozen=True, slots=True)
class Builtin:
    """How a builtin may be called.

    Attributes:
        least: Fewest positional arguments.
        most: Most positional arguments; `None` for any number.
        keywords: Keyword arguments it takes; `None` for any.
        text: Signature shown to people and models.
        keyable: It may stand as a `key=` on its own.
        is_type: It may stand as the second argument of `isinstance`.
    """

    least: int
    most: int | None
    keywords: frozenset[str] | None
    text: str
    keyable: bool = False
    is_type: bool = False


def _of(*names: str) -> frozenset[str]:
    return frozenset(names)


BUILTINS: dict[str, Builtin] = {
    "len": Builtin(1, 1, _of(), "len(items) -> int", keyable=True),
    "sorted": Builtin(1, 1, _of("key", "reverse"), "sorted(items, key=None, reverse=False) -> list"),
    "reversed": Builtin(1, 1, _of(), "reversed(items)"),
    "enumerate": Builtin(1, 2, _of("start"), "enumerate(items, start=0)"),
    "zip": Builtin(0, None, _of("strict"), "zip(a, b, ...)"),
    "range": Builtin(1, 3, _of(), "range(stop) or range(start, stop, step=1)"),
    "min": Builtin(1, None, _of("key", "default"), "min(items, key=None, default=...)"),
    "max": Builtin(1, None, _of("key", "default"), "max(items, key=None, default=...)"),
    "sum": Builtin(1, 2, _of("start"), "sum(items, start=0)"),
    "any": Builtin(1, 1, _of(), "any(items) -> bool"),
    "all": Builtin(1, 1, _of(), "all(items) -> bool"),
    "abs": Builtin(1, 1, _of(), "abs(x)", keyable=True),
    "round": Builtin(1, 2, _of("ndigits"), "round(x, ndigits=None)", keyable=True),
    "str": Builtin(0, 1, _of(), "str(x) -> str", keyable=True, is_type=True),
    "int": Builtin(0, 2, _of("base"), "int(x, base=10) -> int", keyable=True, is_type=True),
    "float": Builtin(0, 1, _of(), "float(x) -> float", keyable=True, is_type=True),
    "bool": Builtin(0, 1, _of(), "bool(x) -> bool", keyable=True, is_type=True),
    "list": Builtin(0, 1, _of(), "list(items) -> list", keyable=True, is_type=True),
    "dict": Builtin(0, 1, None, "dict(pairs, **items) -> dict", is_type=True),
    "set": Builtin(0, 1, _of(), "set(items) -> set", is_type=True),
    "tuple": Builtin(0, 1, _of(), "tuple(items) -> tuple", keyable=True, is_type=True),
    "isinstance": Builtin(2, 2, _of(), "isinstance(x, type) -> bool"),
    "print": Builtin(0, None, _of("sep", "end"), 'print(x, ..., sep=" ", end="\\n")'),
    "sort_by": Builtin(2, 3, _of("items", "key", "reverse"), "sort_by(items, key, reverse=False) -> list"),
}
"""Functions every program has, with how they may be called."""

LAMBDA_HOSTS = frozenset({"sorted", "min", "max", "sort_by"})
"""Builtins whose `key=` takes a lambda; `list.sort` is the one method that does."""

SAFE_METHODS: dict[str, frozenset[str]] = {
    "str": _of(
        *("capitalize", "casefold", "center", "count", "endswith", "expandtabs", "find", "index", "isalnum"),
        *(
            "isalpha",
            "isascii",
            "isdecimal",
            "isdigit",
            "isidentifier",
            "islower",
            "isnumeric",
            "isprintable",
        ),
        *("isspace", "istitle", "isupper", "join", "ljust", "lower", "lstrip", "partition", "removeprefix"),
        *("removesuffix", "replace", "rfind", "rindex", "rjust", "rpartition", "rsplit", "rstrip", "split"),
        *("splitlines", "startswith", "strip", "swapcase", "title", "upper", "zfill"),
    ),
    "list": _of(
        *(
            "append",
            "clear",
            "copy",
            "count",
            "extend",
            "index",
            "insert",
            "pop",
            "remove",
            "reverse",
            "sort",
        ),
    ),
    "dict": _of(
        *("clear", "copy", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"),
    ),
    "set": _of(
        *("add", "clear", "copy", "difference", "difference_update", "discard", "intersection"),
        *("intersection_update", "isdisjoint", "issubset", "issuperset", "pop", "remove"),
        *("symmetric_difference", "symmetric_difference_update", "union", "update"),
    ),
    "tuple": _of("count", "index"),
}
"""Methods a program may call, by the plain type that has them."""
ALL_METHODS = frozenset().union(*SAFE_METHODS.values())
"""Union of `SAFE_METHODS`: a call's receiver has no known type, so one set decides."""
MUTATORS = frozenset(
    {
        *("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort", "popitem", "setdefault"),
        *("update", "add", "discard", "difference_update", "intersection_update"),
        "symmetric_difference_update",
    }
)
"""Methods that change their receiver."""
LIVE_VIEWS = frozenset({"items", "keys", "values"})
"""Methods whose result follows later changes of the receiver."""
ALIASING_METHODS = frozenset({"get", "pop", "setdefault", "popitem", "items", "keys", "values"})
"""Methods whose result can share an object with the receiver."""

REFUSED_METHODS: dict[str, str] = {
    "format": 'write an f-string: f"{x}"',
    "format_map": 'write an f-string: f"{x}"',
    "encode": "compare and search text as text; there are no bytes",
    "decode": "values are text already",
    "translate": "use .replace(old, new)",
    "maketrans": "use .replace(old, new)",
    "read": "call the tool: read(path) returns the whole text",
    "read_text": "call the tool: read(path) returns the whole text",
    "readlines": "use read(path).splitlines()",
    "write": "programs write only through a tool of the kit",
    "write_text": "programs write only through a tool of the kit",
    "match": "use `in`, .startswith(text) or a search tool of the kit",
    "search": "use `in`, .startswith(text) or a search tool of the kit",
    "findall": "use .split(text) or a search tool of the kit",
    "sub": "use .replace(old, new)",
}
"""Methods people reach for that aren't in the table, with what to write instead."""

REFUSED_NAMES: dict[str, str] = {
    "open": "use a tool of the kit that reads files",
    "eval": "write the expression itself",
    "exec": "write the statements themselves",
    "compile": "write the statements themselves",
    "getattr": "values are plain data: use x['key'] or x.get('key')",
    "setattr": "values are plain data: use x['key'] = value",
    "hasattr": "use 'key' in x",
    "vars": "values are plain data: use x.items()",
    "dir": "values are plain data: use x.keys()",
    "type": "use isinstance(x, str) and the like",
    "map": "write a list comprehension: [f(x) for x in xs]",
    "filter": "write a list comprehension: [x for x in xs if f(x)]",
    "next": "take the first item: xs[0] if xs else None",
    "iter": "loop over the value itself",
    "input": "put the value into the program",
    "pow": "write the product: x * x",
    "divmod": "use x // y and x % y",
    "frozenset": "use set(items)",
    "ord": "compare text as text",
    "chr": "write the character itself",
    "repr": 'use f"{x!r}"',
    "format": 'use f"{x:.2f}"',
    "bytes": "values are text; there are no bytes",
    "bytearray": "values are text; there are no bytes",
    "globals": "use the names the program assigned",
    "locals": "use the names the program assigned",
    "os": "use the tools of the kit",
    "sys": "use the tools of the kit",
    "re": "use `in`, .startswith(text) or a search tool of the kit",
    "subprocess": "use the tools of the kit",
    "json": "values are plain data already",
    "Path": "paths are text: use p.split('/')[-1], p.endswith('.py')",
    "Counter": "count in a dict: d[k] = d.get(k, 0) + 1",
    "defaultdict": "use d.setdefault(k, []).append(x)",
    "true": "write True",
    "false": "write False",
    "null": "write None",
    "none": "write None",
}
"""Names people reach for that a program doesn't have, with what to write instead."""

RESERVED_NAMES = frozenset({"None", "True", "False", "__debug__"})
"""Names Python's compiler refuses to bind, reachable through look-alike letters."""

LOWERINGS: tuple[tuple[str, str], ...] = (
    ("f(g(x) for x in xs)", "f([g(x) for x in xs])"),
    ("x: int = 1", "x = 1"),
    ("pass", "nothing"),
    ("continue and break in a loop", "if statements with the same effects"),
    ("for … else", "the else block after the loop"),
    ("with value as x:", "x = value, then the block"),
    ("x ** 2", "x * x"),
    ("a | b, a & b and a ^ b on sets", "a.union(b), a.intersection(b), a.symmetric_difference(b)"),
    ('"{} of {}".format(a, b)', 'f"{a} of {b}"'),
    ("sort_by(rows, 'line')", "sorted(rows, key=lambda r: r['line'])"),
    ("key=str.lower", "key=lambda v: v.lower()"),
    ("dict.fromkeys(xs)", "{k: None for k in xs}"),
    ("a tool call inside a key= lambda", "computed before the sort"),
    ("for x in xs, when the body may change xs", "for x in list(xs)"),
    ("a last line print(x) or x = …", "the same, then x as the output"),
)
"""(surface, meaning) pairs: what may be written and what it is turned into."""
