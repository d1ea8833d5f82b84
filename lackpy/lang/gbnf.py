"""A grammar for constrained decoding, in GBNF: what a model can write under it parses and calls only what exists.

Built from the tables in `grammar` and a kit's signatures: keywords, tools and builtins can't be variable names, only
tools and builtins can be called, with arguments that fit, only safe methods exist, `lambda` stands only as a `key=`,
a text subscript is a row key the kit knows. Blank space, nesting of blocks, statements, items and operators in a row
are bounded, so that a model can't loop on them. One rule is left to the validator because no context-free grammar
holds it: a name is assigned before it is read.

Source: GBNF as llama.cpp's `grammars/README.md` describes it.
"""

from __future__ import annotations

import itertools
import keyword
import string
from collections.abc import Iterable, Mapping

from lackpy.lang import grammar
from lackpy.lang.signature import Param, Signature

MAX_BLOCK_DEPTH = 3
"""Deepest nesting of `for` and `if`."""
MAX_STATEMENTS = 16
"""Most statements of one block."""
_FIRST = string.ascii_letters + "_"
_REST = _FIRST + string.digits
_SPLIT_OPTIONAL = 3
"""More optional parameters than this are passed by position only; every subset would be a rule."""

_FIXED = r"""
ternary ::= or (" if " or " else " ternary)?
or ::= and (" or " and){0,6}
and ::= not (" and " not){0,6}
not ::= "not "? compare
compare ::= sum (comparison sum){0,2}
comparison ::= ws ("==" | "!=" | "<=" | ">=" | "<" | ">") ws | " in " | " not in " | " is " | " is not "
sum ::= term (ws [+-] ws term){0,8}
term ::= unary (ws ("*" | "//" | "/" | "%") ws unary){0,4}
unary ::= "-"? postfix
postfix ::= atom trailer{0,8}
trailer ::= "[" subscript "]" | method
atom ::= call | name | number | string | fstring | "True" | "False" | "None" | list | braces | parens
list ::= "[" nl (ternary (comprehension | more))? nl "]"
parens ::= "(" nl ternary ("," nl (ternary more)?)? nl ")"
braces ::= "{" nl (ternary (":" ws ternary (comprehension | more-pairs) | comprehension | more))? nl "}"
more ::= ("," nl ternary){0,40} ","?
more-pairs ::= ("," nl ternary ":" ws ternary){0,40} ","?
comprehension ::= (nl-or-space "for " targets " in " or (nl-or-space "if " or)*)+
targets ::= name ("," ws name)*
slice ::= sum? ":" sum? (":" sum?)?
number ::= ("0" | [1-9] [0-9]{0,8}) ("." [0-9]{1,6})?
string ::= "\"" double* "\"" | "'" single* "'" | "r\"" raw-double* "\"" | "r'" raw-single* "'"
double ::= [^"\\\n] | escape
single ::= [^'\\\n] | escape
escape ::= "\\" [^xuUN\n]
raw-double ::= [^"\\\n] | "\\" [^\n]
raw-single ::= [^'\\\n] | "\\" [^\n]
fstring ::= "f\"" (ftext | "'" | fhole)* "\"" | "f'" (ftext | "\"" | fhole-double)* "'"
ftext ::= [^"'\\{}\n] | "\\" [nt"'\\]
fhole ::= "{" name fpart* fspec? "}" | "{len(" name fpart* ")" fspec? "}"
fpart ::= "['" [a-zA-Z0-9_ ./-]{1,40} "']" | "[" "-"? [0-9]{1,4} "]"
fhole-double ::= "{" name fpart-double* fspec? "}" | "{len(" name fpart-double* ")" fspec? "}"
fpart-double ::= "[\"" [a-zA-Z0-9_ ./-]{1,40} "\"]" | "[" "-"? [0-9]{1,4} "]"
fspec ::= ":" [<>^]? [0-9]{0,2} ("." [0-9])? [dfs%]?
method ::= "." (methods) "(" nl (ternary (comprehension | more))? nl ")" | ".sort(" sort-args? ")"
sort-args ::= sort-key ("," ws sort-reverse)? | sort-reverse
sort-key ::= "key=" key
sort-reverse ::= "reverse=" ("True" | "False")
key ::= "lambda " name ": " ternary | keyable
simple ::= ternary | name (("," ws name)+ | index-part*) ws "=" ws ternary | name index-part* ws [+*-] "=" ws ternary
index-part ::= "[" or "]"
ws ::= " "?
nl ::= (" " | "\n" " "{0,12})?
nl-or-space ::= " " | "\n" " "{0,12}
"""


def gbnf(
    signatures: Mapping[str, Signature], params: Iterable[str] = (), names: Iterable[str] | None = None
) -> str:
    """Return the grammar of the programs that these tools allow.

    Args:
        signatures: The kit's tools.
        params: Names that hold a value.
        names: The only names that variables may have besides the parameters; `None` allows every name that isn't
            taken. A short list keeps a model from writing prose, which is names and operators to a grammar.
    """
    rules = [*_blocks(), *_FIXED.strip().splitlines()]
    rules += _calls(signatures)
    rules.append(f"methods ::= {_words(grammar.ALL_METHODS - {'sort'})}")
    rules.append(f"keyable ::= {_words(n for n, b in grammar.BUILTINS.items() if b.keyable)}")
    rules.append(_subscript(signatures))
    taken = {*keyword.kwlist, *grammar.BUILTINS, *grammar.RESERVED_NAMES, *signatures, "__"}
    if names is None:
        rules += _names(taken)
    else:
        rules.append(f"name ::= {_words({*names, *params} - taken)}")
    return "\n".join(rules) + "\n"


def _blocks() -> list[str]:
    """Statements at each indentation; the innermost level holds simple ones only."""
    more = f"{{0,{MAX_STATEMENTS - 1}}}"
    rules = [f'root ::= statement-0 ("\\n" statement-0){more} "\\n"?']
    for level in range(MAX_BLOCK_DEPTH + 1):
        alternatives = ["simple"]
        if level < MAX_BLOCK_DEPTH:
            inner, outer = '"\\n' + "    " * (level + 1) + '" ', '"\\n' + "    " * level
            block = f"({inner}statement-{level + 1}){{1,{MAX_STATEMENTS}}}"
            alternatives.append(f'"for " targets " in " ternary ":" {block}')
            alternatives.append(
                f'"if " ternary ":" {block} ({outer}elif " ternary ":" {block})* ({outer}else:" {block})?'
            )
        rules.append(f"statement-{level} ::= {' | '.join(alternatives)}")
    return rules


def _calls(signatures: Mapping[str, Signature]) -> list[str]:
    rules: list[str] = []
    names: list[str] = []
    for index, signature in enumerate(signatures.values()):
        rules.append(
            f'tool-{index} ::= {_quote(signature.name + "(")} nl ({_arguments(signature.params)}) nl ")"'
        )
        names.append(f"tool-{index}")
    for name in grammar.BUILTINS:
        rules.append(f'builtin-{name.replace("_", "-")} ::= {_quote(name + "(")} {_builtin(name)} ")"')
        names.append(f"builtin-{name.replace('_', '-')}")
    rules.append(f"call ::= {' | '.join(names)}")
    return rules


def _arguments(params: tuple[Param, ...]) -> str:
    """Return every way to pass the parameters: some by position, the rest by name."""
    required = [p for p in params if p.required]
    optional = [p for p in params if not p.required]
    ways: list[str] = []
    for given in range(len(params) + 1):
        by_name_required = [p for p in params[given:] if p.required]
        by_name_optional = [p for p in params[given:] if not p.required]
        subsets: Iterable[tuple[Param, ...]] = [()]
        if len(optional) <= _SPLIT_OPTIONAL:
            subsets = itertools.chain.from_iterable(
                itertools.combinations(by_name_optional, n) for n in range(len(by_name_optional) + 1)
            )
        for subset in subsets:
            parts = ["ternary"] * given + [
                f"{_quote(p.name + '=')} ternary" for p in (*by_name_required, *subset)
            ]
            ways.append(' "," nl '.join(parts))
    del required
    return " | ".join(way or '""' for way in dict.fromkeys(ways))


def _builtin(name: str) -> str:
    """Return the arguments of a builtin; a generator may be its only one."""
    builtin = grammar.BUILTINS[name]
    if name == "isinstance":
        types = _words(n for n, b in grammar.BUILTINS.items() if b.is_type)
        return f'ternary "," ws ({types})'
    if name == "sort_by":
        return 'ternary "," ws (string | key | "key=" key) ("," ws sort-reverse)?'
    options: list[str] = []
    keywords = builtin.keywords or frozenset()
    if "key" in keywords:
        options.append("sort-key")
    if "reverse" in keywords:
        options.append("sort-reverse")
    if "default" in keywords:
        options.append('"default=" ternary')
    named = f' ("," ws ({" | ".join(options)})){{0,{len(options)}}}' if options else ""
    most = builtin.most if builtin.most is not None else 8
    if most == 1:
        some = f"nl ternary comprehension?{named} nl"
    else:
        some = f'nl ternary (comprehension | ("," nl ternary){{0,{most - 1}}}){named} nl'
        if builtin.least > 1:
            some = f'nl ternary ("," nl ternary){{{builtin.least - 1},{most - 1}}}{named} nl'
    return some if builtin.least else f"({some})?"


def _subscript(signatures: Mapping[str, Signature]) -> str:
    """Return what may stand between brackets: text only from the row keys, unless a tool gives unnamed dicts."""
    keys = list(dict.fromkeys(key for s in signatures.values() for row in s.rows for key, _ in row.fields))
    named = {row.name for s in signatures.values() for row in s.rows}
    opaque = any("dict" in s.returns or "Any" in s.returns for s in signatures.values())
    if not keys or opaque or not named:
        return "subscript ::= slice | ternary"
    texts = [f'"\\"{k}\\"" | "\'{k}\'"' for k in keys]
    return (
        f"subscript ::= slice | {' | '.join(texts)} | index\nindex ::= index-term (ws [+-] ws index-term)*\n"
        'index-term ::= "-"? index-atom trailer*\nindex-atom ::= call | name | number | fstring | parens'
    )


def _names(taken: set[str]) -> list[str]:
    """Return rules for identifiers outside `taken`: a walk through its prefix tree that leaves it at some point.

    `"__"` in `taken` stands for every name that starts with two underscores.
    """
    words = {w for w in taken if w and all(c in _REST for c in w) and not w.startswith("__")}
    prefixes = sorted(
        {w[:i] for w in words for i in range(len(w) + 1)} | {"", "_"}, key=lambda p: (len(p), p)
    )
    number = {p: i for i, p in enumerate(prefixes)}
    rules = ["name ::= name-0", "word ::= [a-zA-Z0-9_]"]
    for prefix in prefixes:
        alphabet = _FIRST if not prefix else _REST
        inside = [c for c in alphabet if prefix + c in number]
        outside = [c for c in alphabet if c not in inside and prefix + c != "__"]
        options = [f"[{''.join(outside)}] word*"] if outside else []
        options += [f'"{c}" name-{number[prefix + c]}' for c in inside]
        if prefix and prefix not in words:
            options.append('""')
        rules.append(f"name-{number[prefix]} ::= {' | '.join(options)}")
    return rules


def _words(words: Iterable[str]) -> str:
    return " | ".join(f'"{w}"' for w in sorted(words))


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
