"""Bytes of a file → its text, or the finding that it is binary. One detector for every tool.

Order: byte order mark, UTF-16/32 without one (by where the NULs stand), UTF-8, a legacy encoding. A file with any
other NUL, or with many control characters, is binary. Never raises.
"""

from __future__ import annotations

import codecs

_BOMS = (  # the UTF-32 mark starts with the UTF-16 one, so it comes first
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 64 * 1024  # bytes that a guess looks at
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1a\x1b")) + b"\x7f"
_EAST_ASIAN = ["gb18030", "big5", "shift_jis", "euc_jp", "euc_kr"]


def decode(data: bytes) -> str | None:
    """Return the text of `data`, its byte order mark dropped and line endings kept, or `None` when it is binary."""
    if data.isascii() and b"\0" not in data:
        return None if _mostly_control(data) else data.decode("ascii")
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = _strict(data[len(mark) :], encoding)
            if text is not None and "\0" not in text:
                return text
    if b"\0" in data:
        return _wide(data)
    text = _strict(data, "utf-8")
    if text is not None:
        return None if _mostly_control(data) else text
    return _cut_off(data) or _legacy(data)


def utf8(data: bytes) -> bytes | None:
    """Return the text of `data` as UTF-8 without a byte order mark, or `None` when it is binary."""
    if data.isascii() and b"\0" not in data:
        return None if _mostly_control(data) else data
    text = decode(data)
    return None if text is None else text.encode()


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _mostly_control(data: bytes) -> bool:
    """Tell whether more than one byte in ten of the sample is a control character that text doesn't use."""
    sample = data[:_SAMPLE]
    return len(sample) - len(sample.translate(None, _CONTROL)) > len(sample) // 10


def _wide(data: bytes) -> str | None:
    """Read UTF-16 or UTF-32 without a mark: mostly ASCII text leaves its NULs in fixed columns."""
    sample = data[: _SAMPLE - _SAMPLE % 4]
    for encoding, width, column in (
        ("utf-32-le", 4, 0),
        ("utf-32-be", 4, 3),
        ("utf-16-le", 2, 0),
        ("utf-16-be", 2, 1),
    ):
        if len(data) % width or len(data) < 2 * width:
            continue
        units = len(sample) // width
        full = units - sample[column::width].count(0)
        empty = min(sample[other::width].count(0) for other in range(width) if other != column)
        if full >= 0.98 * units and empty >= 0.7 * units:
            text = _strict(data, encoding)
            if text is not None and "\0" not in text:
                return text
    return None


def _cut_off(data: bytes) -> str | None:
    """Read UTF-8 whose last character was cut in the middle."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as exc:
        if exc.start >= len(data) - 3 and exc.start > 0 and exc.reason == "unexpected end of data":
            head = data[: exc.start]
            return (
                None
                if head.isascii() and len(head) < 64
                else head.decode("utf-8") + "\N{REPLACEMENT CHARACTER}"
            )
    return None


def _legacy(data: bytes) -> str | None:
    """Guess an 8-bit or East Asian encoding; high bytes that stand alone among ASCII are Western."""
    if _mostly_control(data):
        return None
    sample = data[:_SAMPLE]
    high = bytes(byte >> 7 for byte in sample)
    paired = high.count(b"\1\1")
    if paired * 3 > sum(high) and paired > 2:
        from charset_normalizer import from_bytes  # noqa: PLC0415  # 50 ms to load, rarely needed

        best = from_bytes(sample, cp_isolation=[*_EAST_ASIAN, "cp1251", "koi8_r", "cp1252"]).best()
        if best is not None:
            text = _strict(data, best.encoding)
            if text is not None:
                return text
    return _strict(data, "cp1252") or data.decode("latin-1")
