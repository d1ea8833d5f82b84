"""Definitions, callers and outlines: equal to Python's own parser, and right on every language of the table."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from lackpy.tools.errors import ToolError
from lackpy.tools.languages import BY_EXTENSION, LANGUAGES
from lackpy.tools.parse import FactCache, extract

CORPORA = Path(__file__).resolve().parents[1] / "corpora"
STDLIB = Path(os.__file__).parent
SAMPLE = [
    *(
        "argparse",
        "ast",
        "contextlib",
        "dataclasses",
        "enum",
        "functools",
        "inspect",
        "json/decoder",
        "typing",
    ),
    *(
        "asyncio/base_events",
        "asyncio/tasks",
        "unittest/mock",
        "email/message",
        "http/client",
        "logging/__init__",
    ),
    *(
        "importlib/_bootstrap",
        "pathlib" if (STDLIB / "pathlib.py").exists() else "pathlib/__init__",
        "turtle",
    ),
]


@pytest.fixture(scope="module")
def reference():
    spec = importlib.util.spec_from_file_location("ref_tools", CORPORA / "ref_tools.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Tools(STDLIB)


@pytest.mark.parametrize("name", SAMPLE)
def test_same_as_ast_on_the_standard_library(name, reference):
    """Names, kinds, lines, call sites and enclosing definitions are those of `ast`."""
    path = f"{name}.py"
    definitions, calls = reference._tree(path)
    facts = extract(reference.read(path), BY_EXTENSION[".py"])
    assert [d[:3] for d in facts.definitions] == [(d["name"], d["type"], d["line"]) for d in definitions]
    assert [c[:3] for c in facts.calls] == [(c["callee"], c["line"], c["name"]) for c in calls]


HARD = """
import functools
from typing import overload


class Outer:
    @property
    def size(self):
        return 1

    @staticmethod
    def make(): ...

    class Inner:
        def deep(self):
            def local():
                return helper()

            return local()

    if True:

        def conditional(self): ...

    try:
        import x
    except ImportError:

        def fallback(self): ...


@functools.cache
async def cached(a=helper()): ...


@overload
def twice(a: int) -> int: ...
@overload
def twice(a: str) -> str: ...
def twice(a):
    return a


with open("x") as f:

    def in_with(): ...


match 1:
    case 1:

        def in_match(): ...


named = lambda: 0


def helper():
    (helper)()
    return [helper for _ in helper()]


@helper()
def decorated(): ...
"""


def test_hard_python(tools):
    """Decorated, nested, conditional and overloaded definitions, each with the line of its `def`."""
    tools.put({"hard.py": HARD, "hard.pyi": "def helper() -> int: ...\n"})
    lines = HARD.split("\n")
    assert [(r["type"], r["name"]) for r in tools.outline("hard.py")] == [
        ("class", "Outer"),
        ("method", "size"),
        ("method", "make"),
        ("class", "Inner"),
        ("method", "deep"),
        ("function", "local"),
        ("method", "conditional"),
        ("method", "fallback"),
        ("function", "cached"),
        ("function", "twice"),
        ("function", "twice"),
        ("function", "twice"),
        ("function", "in_with"),
        ("function", "in_match"),
        ("function", "helper"),
        ("function", "decorated"),
    ]
    for row in tools.outline("hard.py"):
        keyword = "class " if row["type"] == "class" else "def "
        assert f"{keyword}{row['name']}" in lines[row["line"] - 1]
    assert len(tools.find_definitions("twice")) == 3
    assert [r["file"] for r in tools.find_definitions("helper")] == ["hard.py", "hard.pyi"]
    assert [r["name"] for r in tools.find_callers("helper")] == [
        "local",
        "<module>",
        "helper",
        "helper",
        "<module>",
    ]


def test_calls_that_look_like_other_statements(tools):
    tools.put({"a.py": "type(x).y = f(1)\nprint('a', *g(2), sep='')\nmatch(m(3))\nawait_ = print\n"})
    for name in ("type", "f", "print", "g", "match", "m"):
        assert len(tools.find_callers(name)) == 1, name


def test_row_keys_and_order(tools):
    tools.put({"b.py": "def go(): ...\ngo()\n", "a.py": "from b import go\n\ndef run():\n    go(); go()\n"})
    assert tools.find_definitions("go") == [
        {"name": "go", "type": "function", "file": "b.py", "line": 1, "text": "def go(): ..."}
    ]
    assert tools.find_callers("go") == [
        {"name": "run", "file": "a.py", "line": 4, "text": "go(); go()"},
        {"name": "run", "file": "a.py", "line": 4, "text": "go(); go()"},
        {"name": "<module>", "file": "b.py", "line": 2, "text": "go()"},
    ]
    assert [list(row) for row in tools.outline("a.py")] == [["name", "type", "line"]]


def test_wildcards(tools):
    tools.put(
        {
            "a.py": "def test_one(): ...\ndef test_two(): ...\nclass TestThree: ...\ndef other(): ...\ndef tëst(): ...\n"  # noqa: E501  # sample source
        }
    )
    assert [r["name"] for r in tools.find_definitions("test_*")] == ["test_one", "test_two"]
    assert [r["name"] for r in tools.find_definitions("*e")] == ["test_one", "TestThree"]
    assert [r["name"] for r in tools.find_definitions("t*st")] == ["tëst"]
    assert len(tools.find_definitions("*")) == 5
    assert [r["name"] for r in tools.find_definitions("tëst")] == ["tëst"]


QUALIFIED = {
    "m.py": "def get(): ...\n",
    "use.py": "import m, requests\nd = {}\nd.get('k')\nm.get()\nobj.get()\nrequests.get()\nget()\n",
    "ab.py": (
        "class A:\n    def run(self): ...\n    def go(self):\n        self.run()\n\n"
        "class B:\n    def run(self): ...\n    def go(self):\n        self.run()\n\nA().run()\nA.run(a)\nb.run()\n"
    ),
}


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("get", [("use.py", 3), ("use.py", 4), ("use.py", 5), ("use.py", 6), ("use.py", 7)]),
        ("m.get", [("use.py", 4)]),
        ("requests.get", [("use.py", 6)]),
        ("nobody.get", []),
        ("run", [("ab.py", 4), ("ab.py", 9), ("ab.py", 11), ("ab.py", 12), ("ab.py", 13)]),
        ("A.run", [("ab.py", 4), ("ab.py", 11), ("ab.py", 12)]),
        ("B.run", [("ab.py", 9)]),
        ("get()", [("use.py", 3), ("use.py", 4), ("use.py", 5), ("use.py", 6), ("use.py", 7)]),
    ],
)
def test_qualified_callers(name, places, tools):
    """An unqualified name gives every syntactic match, a qualified one only what it names."""
    tools.put(QUALIFIED)
    assert [(r["file"], r["line"]) for r in tools.find_callers(name)] == places


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("A.run", [("ab.py", 2)]),
        ("ab.A.run", [("ab.py", 2)]),
        ("m.get", [("m.py", 1)]),
        ("A", [("ab.py", 1)]),
        ("C.run", []),
    ],
)
def test_qualified_definitions(name, places, tools):
    tools.put(QUALIFIED)
    assert [(r["file"], r["line"]) for r in tools.find_definitions(name)] == places


@pytest.mark.parametrize(
    ("call", "name"), [("find_definitions", ""), ("find_callers", None), ("find_callers", "a\0")]
)
def test_bad_names_are_refused(call, name, tools):
    with pytest.raises(ToolError, match="^'name' "):
        getattr(tools, call)(name)


def test_broken_source_gives_what_can_be_read(tools):
    tools.put({"a.py": "def good():\n    pass\n\ndef broken(:\n    x = (\n\ndef also():\n    good()\n"})
    assert "good" in [r["name"] for r in tools.outline("a.py")]


def test_outline_of_another_kind_of_file_is_empty(tools):
    tools.put({"a.md": "# def x\n"})
    assert tools.outline("a.md") == []
    with pytest.raises(ToolError, match="no such file"):
        tools.outline("nope.py")


def test_changed_contents_are_parsed_again(tools):
    """A file that keeps its size and time but not its text is not served from memory."""
    tools.put({"a.py": "def one(): ...\n"})
    before = (tools.root / "a.py").stat()
    assert [r["name"] for r in tools.outline("a.py")] == ["one"]
    tools.put({"a.py": "def two(): ...\n"})
    os.utime(tools.root / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert [r["name"] for r in tools.outline("a.py")] == ["two"]
    assert tools.find_definitions("one") == []


def test_memory_of_facts_is_bounded(monkeypatch):
    monkeypatch.setattr("lackpy.tools.parse._KEPT_BYTES", 2_000)
    cache = FactCache()
    for number in range(50):
        facts = cache.facts(f"def f{number}(): g()\n".encode() * 3, BY_EXTENSION[".py"])
        assert len(facts.definitions) == 3
    assert cache._size <= 2_000


SOURCES = {
    "javascript": (
        "a.js",
        "class C extends D { m() { this.x.y(); } #p() {} f = () => { z(); } }\n"
        "function a() { b(); }\nconst g = async () => new Foo(1);\nexports.h = function () {};\n"
        "const e = <Widget a={1} />;\n",
        ["C class", "m method", "#p method", "f method", "a function", "g function", "h function"],
        ["y m", "z f", "b a", "Foo g", "Widget <module>"],
    ),
    "typescript": (
        "a.ts",
        "export abstract class C<T> { constructor() { super(); } abstract m(): void; private f = (x) => q<string>(x); }\n"  # noqa: E501  # sample source
        "interface I { m(): void }\ntype T = {};\nenum E { A }\nnamespace N { export function z() { (w as any)(1); } }\n",  # noqa: E501  # sample source
        [
            "C class",
            "constructor method",
            "m method",
            "f method",
            "I class",
            "m method",
            "T class",
            "E class",
            "z function",
        ],
        ["super constructor", "q f", "w z"],
    ),
    "tsx": (
        "a.tsx",
        "export function App({ a }: P) { return <Row onClick={() => go()}><Cell /></Row>; }\n",
        ["App function"],
        ["Row App", "go App", "Cell App"],
    ),
    "go": (
        "a.go",
        "package p\ntype T struct{}\ntype I interface{ M() }\nfunc F() { a.B(); c(); d[int](1) }\n"
        "func (t *T) M() { go f() }\nfunc (g G[K]) N() {}\n",
        ["T class", "I class", "M method", "F function", "M method", "N method"],
        ["B F", "c F", "d F", "f M"],
    ),
    "rust": (
        "a.rs",
        "struct S;\nenum E {}\ntrait T { fn a(&self); }\nimpl T for S { fn a(&self) { d(); self.e(); m::f(); g::<u8>(); "  # noqa: E501  # sample source
        "assert_eq!(i(1), x.j()); } }\npub async fn n() {}\nmacro_rules! mm { () => {} }\n",
        ["S class", "E class", "T class", "a method", "a method", "n function", "mm function"],
        ["d a", "e a", "f a", "g a", "assert_eq a", "i a", "j a"],
    ),
    "java": (
        "A.java",
        "class A extends B {\n  A() { x.y(); }\n  @Override\n  public void m() { new C<>(1); f(); }\n}\n"
        "interface I { void z(); }\nenum E { P }\nrecord R(int a) {}\n",
        ["A class", "A method", "m method", "I class", "z method", "E class", "R class"],
        ["y A", "C m", "f m"],
    ),
    "c": (
        "a.c",
        "struct s { int a; };\ntypedef struct { int b; } t;\nstatic int *f(int a) { g(a); p->h(); return 0; }\n"
        "int proto(int);\nstruct s v;\n#define M(x) foo(x)\n",
        ["s class", "t class", "f function", "M function"],
        ["g f", "h f"],
    ),
    "cpp": (
        "a.cpp",
        "namespace n { class A : B { A() {} ~A() {} void m() { this->x(); } }; template <class T> T f(T a) { g<T>(a); n::h(); "  # noqa: E501  # sample source
        "return new C(1); } }\nvoid n::A::m2() { k(); }\n",
        ["A class", "A method", "~A method", "m method", "f function", "m2 method"],
        ["x m", "g f", "h f", "C f", "k m2"],
    ),
    "ruby": (
        "a.rb",
        "module M\n  class A < B\n    def m(a)\n      foo(1)\n      x.y\n    end\n    def self.s; end\n  end\nend\ndef top?\n  puts 'x'\nend\n",  # noqa: E501  # sample source
        ["M class", "A class", "m method", "s method", "top? function"],
        ["foo m", "y m", "puts top?"],
    ),
    "csharp": (
        "a.cs",
        "namespace N { public class A : B { public A() { } public void M<T>() { this.X(); y(); new C(1); a?.b(); } } "
        "interface I { void Q(); } }\n",
        ["A class", "A method", "M method", "I class", "Q method"],
        ["X M", "y M", "C M", "b M"],
    ),
    "php": (
        "a.php",
        "<?php class A { function m() { $this->x(); y(); A::z(); new C(1); } } trait T {} function f() {}\n",
        ["A class", "m method", "T class", "f function"],
        ["x m", "y m", "z m", "C m"],
    ),
    "kotlin": (
        "a.kt",
        "class A {\n  fun m() {\n    x()\n    a.b.c(1)\n  }\n}\nobject O {}\nfun f() = g()\n",
        ["A class", "m method", "O class", "f function"],
        ["x m", "c m", "g f"],
    ),
    "swift": (
        "a.swift",
        "class A: B {\n  func m() {\n    x()\n    self.y()\n  }\n}\nprotocol P { func q() }\nfunc f() {}\n",
        ["A class", "m method", "P class", "q method", "f function"],
        ["x m", "y m"],
    ),
    "scala": (
        "a.scala",
        "class A extends B { def m(x: Int) = { y(1); z.w(2); new C(1) } }\nobject O { def s = 1 }\n",
        ["A class", "m method", "O class", "s method"],
        ["y m", "w m", "C m"],
    ),
    "lua": (
        "a.lua",
        "function a() b() end\nlocal function c() M.e() end\nfunction M:g() end\n",
        ["a function", "c function", "g method"],
        ["b a", "e c"],
    ),
    "bash": ("a.sh", "foo() {\n  bar 1\n}\n", ["foo function"], ["bar foo"]),
}


@pytest.mark.parametrize("grammar", SOURCES)
def test_language(grammar, tools):
    """Outline, callers and definitions of a sample in each language."""
    path, source, definitions, calls = SOURCES[grammar]
    tools.put({path: source})
    assert [f"{r['name']} {r['type']}" for r in tools.outline(path)] == definitions
    for call in calls:
        called, within = call.split(" ")
        assert within in [r["name"] for r in tools.find_callers(called)], call
    for definition in definitions:
        name = definition.split(" ")[0]
        assert path in [r["file"] for r in tools.find_definitions(name)], name


def test_every_language_has_a_sample():
    assert {language.grammar for language in LANGUAGES} - {"python"} == set(SOURCES)


def test_java_definition_line_is_that_of_the_name(tools):
    tools.put({"A.java": SOURCES["java"][1]})
    (row,) = tools.find_definitions("m")
    assert row == {
        "name": "m",
        "type": "method",
        "file": "A.java",
        "line": 4,
        "text": "public void m() { new C<>(1); f(); }",
    }
