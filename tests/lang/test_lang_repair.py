"""Repair: model answers, input → the program that was meant, with what was done recorded."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lackpy.infer.retrieve import bank
from lackpy.lang import Grade, Param, RowType, Signature, check
from lackpy.lang.repair import Repaired, repair

_GREP = RowType("GrepRow", (("file", "str"), ("line", "int"), ("text", "str")))
_DEFINITION = RowType(
    "DefinitionRow", (("name", "str"), ("type", "str"), ("file", "str"), ("line", "int"), ("text", "str"))
)
_CALLER = RowType("CallerRow", (("name", "str"), ("file", "str"), ("line", "int"), ("text", "str")))
_OUTLINE = RowType("OutlineRow", (("name", "str"), ("type", "str"), ("line", "int")))


def _tool(name: str, params: tuple[Param, ...], returns: str, *rows: RowType) -> Signature:
    return Signature(name, params, returns, rows, Grade(1, 1))


TOOLS = {
    s.name: s
    for s in (
        _tool("read", (Param("path", "str"),), "str"),
        _tool("glob", (Param("pattern", "str"),), "list[str]"),
        _tool("grep", (Param("pattern", "str"), Param("glob", "str", '"**/*"')), "list[GrepRow]", _GREP),
        _tool("find_definitions", (Param("name", "str"),), "list[DefinitionRow]", _DEFINITION),
        _tool("find_callers", (Param("name", "str"),), "list[CallerRow]", _CALLER),
        _tool("outline", (Param("path", "str"),), "list[OutlineRow]", _OUTLINE),
    )
}
TWO_LINES = 'results = find_callers("x")\nresults'
READ = 'read("a.py")'

TEXT_CASES = [
    # GEN-02: prose around the program, without fences
    (f"Here is the program:\n\n{TWO_LINES}\n\nThis finds all callers of x.", TWO_LINES, "prose"),
    (f"Hier ist das Programm:\n\n{TWO_LINES}\n\nEs findet alle Aufrufer.", TWO_LINES, "prose"),
    (f"这是程序：\n{TWO_LINES}\n这个程序查找调用者。", TWO_LINES, "prose"),  # noqa: RUF001  # what a model wrote
    (f"- first\n- second\n{TWO_LINES}\nDone", TWO_LINES, "prose"),
    (f"{TWO_LINES}\nOutput: [1, 2]", TWO_LINES, "prose"),
    (f"{TWO_LINES}\nDone", TWO_LINES, "prose"),
    ('`find_callers("x")` does it', 'find_callers("x")', "prose"),
    # GEN-03: stop sequences and half tags
    (f"{READ}\n</code", READ, "end-mark"),
    (f"{READ}</s>", READ, "end-mark"),
    (f"{READ}<|im_end|>", READ, "end-mark"),
    (f"{READ}\n```<|endoftext|>", READ, "end-mark"),
    (f"{READ}\n<end_of_turn>", READ, "end-mark"),
    # GEN-05: characters of another keyboard
    ("read(“a.py”)", READ, "characters"),
    ('x\u00a0=\u00a0read("a.py")', 'x = read("a.py")', "characters"),
    ('\u200bread("a.py")', READ, "characters"),
    ('read（"a.py"）', READ, "characters"),  # noqa: RUF001  # what a model wrote
    # OLL-04: reasoning
    (f"reasoning…\n</think>\n{READ}", READ, "thinking"),
    (f"<think>\n\n</think>\n{READ}", READ, "thinking"),
    (f"<|begin_of_thought|>\nhmm\n<|end_of_thought|>\n{READ}", READ, "thinking"),
    # fences and sessions
    (f"```python\n{READ}\n```", READ, "fence"),
    (f"Sure!\n\n~~~python\n{READ}\n~~~\nThat reads it.", READ, "fence"),
    (f"```python\n{READ}", READ, "fence"),
    ('>>> len(glob("*"))\n3', 'len(glob("*"))', "prompt"),
    ('In [1]: glob("*")\nOut[1]: []', 'glob("*")', "prompt"),
    # broken as written
    ('glob("*.py") -> list[str]', 'glob("*.py")', "signature"),
    (
        "def = find_definitions('run')\ndef[0]['file']",
        "def_ = find_definitions('run')\ndef_[0]['file']",
        "keyword-name",
    ),
    (
        "[class['name'] for class in outline('a')]",
        "[class_['name'] for class_ in outline('a')]",
        "keyword-name",
    ),
    ("len(glob('*.py')", "len(glob('*.py'))", "closing"),
    ("n = 0\nfor f in glob('*'):\nn += 1\nn", "n = 0\nfor f in glob('*'):\n    n += 1\nn", "indentation"),
    (
        'len([f for f in glob("*") if f.endswith(".py"])',
        'len([f for f in glob("*") if f.endswith(".py")])',
        "closing",
    ),
]


@pytest.mark.parametrize(("raw", "program", "step"), TEXT_CASES)
def test_a_text_repair_finds_exactly_the_program(raw, program, step):
    made = repair(raw, TOOLS)
    assert made.program == program
    assert step in made.repairs


TREE_CASES = [
    ("import os\nlen(glob('*.py'))", "len(glob('*.py'))", "import"),
    ("len(open('b.py').read())", "len(read('b.py'))", "idiom"),
    (
        "with open('a.py') as f:\n    n = len(f.readlines())\nn",
        "n = len(read('a.py').splitlines())\nn",
        "open",
    ),
    ("def main():\n    return len(glob('*.py'))\n\nmain()", "len(glob('*.py'))", "function"),
    ("def size(x):\n    return len(x)\nsize(glob('*'))", "len(glob('*'))", "function"),
    ("try:\n    x = read('a')\nexcept Exception:\n    x = ''\nx", "x = read('a')\nx", "guard"),
    ("return len(glob('*'))", "len(glob('*'))", "guard"),
    ("sorted(glob('*.py'), reverse=true)", "sorted(glob('*.py'), reverse=True)", "literal"),
    ("glob = glob('*.py')\nglob[0]", "glob_ = glob('*.py')\nglob_[0]", "taken-name"),
    ("find_defs('x')", "find_definitions('x')", "near-name"),
    ("list_files('*.py')", "glob('*.py')", "near-name"),
    ("grep('x', path='a.py')", "grep('x', glob='a.py')", "keyword-argument"),
    ("[d.name for d in outline('a.py')]", "[d['name'] for d in outline('a.py')]", "attribute-key"),
    (
        "len(find_definitions('lib/*'))",
        "len([d for d in find_definitions('*') if d['file'].startswith('lib/')])",
        "path-value",
    ),
    (
        "[d['name'] for d in find_definitions('lib/a.py')]",
        "[d['name'] for d in [d for d in find_definitions('*') if d['file'] == 'lib/a.py']]",
        "path-value",
    ),
    ("glob('docs/api/')", "glob('docs/api/**/*')", "path-value"),
    ("glob('a/*') & glob('b/*')", "set(glob('a/*')).intersection(glob('b/*'))", "set-operator"),
    (
        "[r for r in grep('x') if (r['line'] > 3) & (r['line'] < 9)]",
        "[r for r in grep('x') if r['line'] > 3 and r['line'] < 9]",
        "set-operator",
    ),
    (
        "import os\nfor name in os.listdir('a'):\n    print('a/' + name)",
        "shown = []\nfor name in [path.split('/')[-1] for path in glob('a' + '/*')]:\n"
        "    shown.append('a/' + name)\nshown",
        "idiom",
    ),
    (
        "max(glob('*'), key=lambda p: os.path.getsize(p))",
        "max(glob('*'), key=lambda p: len(read(p)))",
        "idiom",
    ),
    (
        "[len(re.findall(r'@t.overload', read(p))) for p in glob('*')]",
        "[read(p).count('@t.overload') for p in glob('*')]",
        "idiom",
    ),
    (
        "import re\n[p for p in glob('*') if re.search(r'getText', read(p))]",
        "[p for p in glob('*') if 'getText' in read(p)]",
        "idiom",
    ),
    ("re.findall('a\\\\(b', read('x'))", "['a(b'] * read('x').count('a(b')", "idiom"),
    ("re.sub('a', 'b', read('x'))", "read('x').replace('a', 'b')", "idiom"),
    ("re.split(', ', read('x'))", "read('x').split(', ')", "idiom"),
    ("outline('a').filter(lambda d: d['line'] > 3)", "[d for d in outline('a') if d['line'] > 3]", "idiom"),
    ("glob('*').map(lambda p: len(p))", "[len(p) for p in glob('*')]", "idiom"),
    ("glob('a/*.py', 'b/*.py')", "glob('a/*.py') + glob('b/*.py')", "pattern-list"),
    ("grep('x').count()", "len(grep('x'))", "call-form"),
    (
        "[d for d in outline('a') if any('x' in d['name'] or d['line'] > 3)]",
        "[d for d in outline('a') if 'x' in d['name'] or d['line'] > 3]",
        "call-form",
    ),
    (
        "outline('a').sort(key=lambda d: d['line'])",
        "sorted(outline('a'), key=lambda d: d['line'])",
        "call-form",
    ),
    ("grep('x') | grep('y')", "grep('x') + grep('y')", "set-operator"),
    (
        "find_definitions('x') & outline('a')",
        "{row['name'] for row in find_definitions('x')}.intersection({row['name'] for row in outline('a')})",
        "set-operator",
    ),
    (
        "def sizes(folder):\n    n = {}\n    for p in glob(folder):\n        n[p] = len(read(p))\n    return n\n"
        "print(sizes('a/*'))",
        "folder = 'a/*'\nn = {}\nfor p in glob(folder):\n    n[p] = len(read(p))\nprint(n)",
        "function",
    ),
    ("import os\n[os.path.basename(f) for f in glob('*')]", "[f.split('/')[-1] for f in glob('*')]", "idiom"),
    (
        "set(map(lambda c: c['file'], find_callers('x')))",
        "set([c['file'] for c in find_callers('x')])",
        "idiom",
    ),
    (
        "next(d for d in outline('a') if d['type'] == 'class')",
        "[d for d in outline('a') if d['type'] == 'class'][0]",
        "idiom",
    ),
    (
        "from collections import Counter\nCounter(c['file'] for c in find_callers('x'))",
        "items = [c['file'] for c in find_callers('x')]\ndict([(item, items.count(item)) for item in set(items)])",
        "counter",
    ),
    (
        "counts = {}\nfor c in find_callers('x'):\n    counts[c['file']] += 1\ncounts",
        "counts = {}\nfor c in find_callers('x'):\n    counts[c['file']] = counts.get(c['file'], 0) + 1\ncounts",
        "first-count",
    ),
    ("n = 0\nfor f in glob('*'):\n    n += 1", "n = 0\nfor f in glob('*'):\n    n += 1\nn", "last-value"),
]
COERCIONS = [
    ("read(find_definitions('x')[0])", "read(find_definitions('x')[0]['file'])", "row-as-text"),
    ("find_definitions('x')['file']", "[row['file'] for row in find_definitions('x')]", "key-of-each-row"),
    ("read(find_definitions('x')['file'])", "read(find_definitions('x')[0]['file'])", "first-row"),
    ("[r['path'] for r in grep('x')]", "[r['file'] for r in grep('x')]", "near-key"),
    ("[r['lineno'] for r in grep('x')]", "[r['line'] for r in grep('x')]", "near-key"),
    ("grep('x', glob('*.py'))", "[row for each in glob('*.py') for row in grep('x', each)]", "call-for-each"),
    (
        "[r['file'] + ':' + r['line'] for r in grep('x')]",
        "[r['file'] + ':' + str(r['line']) for r in grep('x')]",
        "text-of-number",
    ),
    (
        "'\\n'.join(find_callers('x'))",
        "'\\n'.join([row['text'] for row in find_callers('x')])",
        "key-of-each-row",
    ),
    (
        "[c for c in find_callers('x') if c.startswith('tests/')]",
        "[c for c in find_callers('x') if c['file'].startswith('tests/')]",
        "row-as-text",
    ),
    (
        "[r for r in grep('mark') if r.startswith('pytest.mark.parametrize')]",
        "[r for r in grep('mark') if r['text'].startswith('pytest.mark.parametrize')]",
        "row-as-text",
    ),
    (
        "[d for d in outline('a') if d['line'] == '12']",
        "[d for d in outline('a') if d['line'] == 12]",
        "number-of-text",
    ),
    ("[s for s in read('a.py')]", "[s for s in read('a.py').splitlines()]", "text-by-line"),
    ("read(glob('*.md')).split('x')", "read(glob('*.md')[0]).split('x')", "first-item"),
    ("set(find_callers('x'))", "find_callers('x')", "rows-stay-a-list"),
]


@pytest.mark.parametrize(("raw", "program", "step"), [*TREE_CASES, *COERCIONS])
def test_a_tree_repair_writes_what_was_meant(raw, program, step):
    made = repair(raw, TOOLS)
    assert made.program is not None
    assert ast.dump(ast.parse(made.program)) == ast.dump(ast.parse(program))
    assert step in made.repairs
    assert check(made.program, TOOLS).ok


@pytest.mark.parametrize(
    "program",
    [
        'x = "</think>"\nread("a.py")',
        'grep("</s>")',
        'grep("“quoted”")',
        'grep("```python")',
        'grep("^>>> ")',
        'rows = grep("x")\n[r["file"] for r in rows]',
        'd = {}\nd.setdefault("k", []).sort()\nd',
        'any(["x" in p for p in glob("*")])',
    ],
)
def test_a_valid_program_is_returned_as_it_stands(program):
    assert repair(program, TOOLS) == Repaired(program, ())


@pytest.mark.parametrize("example", bank(), ids=lambda e: e.id)
def test_no_shipped_example_is_repaired(example):
    made = repair(example.program, TOOLS)
    if check(example.program, TOOLS).ok:
        assert made == Repaired(example.program, ())


@pytest.mark.parametrize("raw", ["", "\n\n", "I cannot do that.", "<think>unfinished read('a.py')", "Sorry"])
def test_an_answer_without_a_program_gives_none(raw):
    assert repair(raw, TOOLS).program is None


@pytest.mark.parametrize("raw", ["from . import base64", "def files(path):\n    return sorted(glob(path))"])
def test_a_program_of_which_nothing_is_left_is_none(raw):
    assert repair(raw, TOOLS).program is None


@pytest.mark.parametrize(
    "raw",
    [
        "grep('x') & grep('y')",  # rows of two searches have no name
        "find_definitions('x', 'class')",  # the second may be a kind or a folder
        "def size(p):\n    n = len(p)\n    return n\n[size(p) for p in glob('*')]",  # called for each
        "d = re.findall('x+', read('a'))\nlen(d)",  # a pattern
    ],
)
def test_what_has_no_plain_meaning_stays_refused(raw):
    made = repair(raw, TOOLS)
    assert made.program is not None
    assert ast.dump(ast.parse(made.program)) == ast.dump(ast.parse(raw))


def test_an_unknown_name_that_fits_two_tools_stays_an_error():
    assert repair("find('x', 'y', 'z')", TOOLS).program == "find('x', 'y', 'z')"


@given(st.text(max_size=300))
@settings(max_examples=150, deadline=None)
def test_no_text_makes_repair_raise(raw):
    made = repair(raw, TOOLS)
    assert made.program is None or isinstance(made.program, str)


@given(
    st.lists(
        st.sampled_from(
            [
                "read('a')",
                "def",
                "x =",
                "(",
                "]",
                "for r in grep('x'):",
                "    r.file",
                "```",
                "\n",
                '"',
                "import os",
                "return",
                "x[0]",
            ]
        ),
        max_size=12,
    )
)
@settings(max_examples=150, deadline=None)
def test_no_mixture_of_code_makes_repair_raise(parts):
    repair("\n".join(parts), TOOLS)
    repair(" ".join(parts), TOOLS)
