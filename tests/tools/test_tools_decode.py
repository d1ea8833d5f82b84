"""One detector: `read`, `grep` and `find_definitions` agree on every encoding."""

from __future__ import annotations

import codecs

import pytest

from lackpy.tools.decode import decode
from lackpy.tools.errors import ToolError

SOURCE = "def needle(x):\r\n    return 'héllo wörld'\n"
TEXTS = {
    "utf-8": SOURCE.encode(),
    "utf-8 mark": codecs.BOM_UTF8 + SOURCE.encode(),
    "utf-16-le mark": codecs.BOM_UTF16_LE + SOURCE.encode("utf-16-le"),
    "utf-16-be mark": codecs.BOM_UTF16_BE + SOURCE.encode("utf-16-be"),
    "utf-32-le mark": codecs.BOM_UTF32_LE + SOURCE.encode("utf-32-le"),
    "utf-32-be mark": codecs.BOM_UTF32_BE + SOURCE.encode("utf-32-be"),
    "utf-16-le": SOURCE.encode("utf-16-le"),
    "utf-16-be": SOURCE.encode("utf-16-be"),
    "utf-32-le": SOURCE.encode("utf-32-le"),
    "latin-1": SOURCE.encode("latin-1"),
    "cp1252": SOURCE.encode("cp1252"),
}


@pytest.mark.parametrize("encoding", TEXTS)
def test_every_tool_reads_it(encoding, tools):
    tools.put({"m.py": TEXTS[encoding]})
    assert tools.read("m.py") == SOURCE
    assert tools.grep("h.llo w.rld$|wörld") == [{"file": "m.py", "line": 2, "text": "return 'héllo wörld'"}]
    assert tools.find_definitions("needle") == [
        {"name": "needle", "type": "function", "file": "m.py", "line": 1, "text": "def needle(x):"}
    ]


BINARIES = {
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)),
    "one NUL in text": b"x = 1\n" * 1000 + b"\0" + b"y = 2\n" * 1000,
    "all bytes": bytes(range(256)) * 4,
    "control characters": bytes([1, 2, 3, 4]) * 100,
    "utf-16 with a NUL": codecs.BOM_UTF16_LE + "a\0b".encode("utf-16-le"),
}


@pytest.mark.parametrize("kind", BINARIES)
def test_binary_is_refused_by_read_and_passed_over_by_grep(kind, tools):
    tools.put({"b.py": BINARIES[kind], "t.py": "x = 1\n"})
    with pytest.raises(ToolError, match=r"^binary file: 'b.py'; only text can be read$"):
        tools.read("b.py")
    with pytest.raises(ToolError, match=r"^binary file: 'b.py'; only source text has an outline$"):
        tools.outline("b.py")
    assert [row["file"] for row in tools.grep("x")] == ["t.py"]


def test_empty_file_is_text():
    assert decode(b"") == ""


@pytest.mark.parametrize("encoding", ["gb18030", "shift_jis", "euc_kr"])
def test_east_asian_text(encoding):
    text = {
        "gb18030": "这是一个用于测试编码检测的中文文本。它需要足够长,才能让检测器作出判断。我们在这里再写几句话。\n",
        "shift_jis": "これは文字コードの判定を試すための日本語の文章です。十分な長さが必要です。もう少し書きます。\n",
        "euc_kr": "이것은 인코딩 감지를 시험하기 위한 한국어 문장입니다. 충분히 길어야 합니다. 조금 더 씁니다.\n",
    }[encoding] * 4
    assert decode(text.encode(encoding)) == text


def test_short_latin_text():
    assert decode(b"caf\xe9\n") == "café\n"


def test_utf8_cut_in_the_last_character():
    assert decode("größe: naïve café".encode()[:-1] + b"\xc3") is not None
    assert decode("x = 'naïve 日本".encode()[:-1]) == "x = 'naïve 日\N{REPLACEMENT CHARACTER}"


def test_ansi_colours_and_form_feeds_are_text():
    assert decode(b"\x1b[31mred\x1b[0m\n\f\n") == "\x1b[31mred\x1b[0m\n\f\n"
