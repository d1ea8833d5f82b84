"""Secret masking before anything is written: by the name beside a value, and by the shape of the value.

Identifiers, hashes, UUIDs and ordinary prose stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MASK = "***"

_NAME = (
    r"(?:[A-Za-z0-9_.-]*(?:passw(?:or)?d|passwd|pwd|secret|api[_-]?key|apikey|access[_-]?key(?:[_-]?id)?|auth[_-]?token|"
    r"access[_-]?token|refresh[_-]?token|client[_-]?secret|private[_-]?key|credential)s?[A-Za-z0-9_.-]*|"
    r"[A-Z0-9_]*(?:TOKEN|KEY|SECRET|PASSWORD)[A-Z0-9_]*|token)"
)
# Each pattern's group `s` is what gets masked; where it is absent, all of the match.
_PATTERNS: tuple[re.Pattern[str], ...] = (
    # -----BEGIN … PRIVATE KEY----- blocks, also when newlines are escaped
    re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<s>.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
    ),
    # user:password@host in a URL
    re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s/:@'\"]{0,80}:(?P<s>[^\s/@'\"]{1,200})@"),
    # Authorization: Bearer … / Basic …
    re.compile(r"\b(?:Bearer|Basic)\s+(?P<s>[A-Za-z0-9._~+/=-]{8,})"),
    # JSON Web Token
    re.compile(r"\b(?P<s>eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)"),
    # vendor prefixes
    re.compile(
        r"\b(?P<s>(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{15,}|"
        r"sk-(?:ant-|proj-)?[A-Za-z0-9_-]{16,}|tvly-[A-Za-z0-9_-]{8,}|xox[abprs]-[A-Za-z0-9-]{10,}|"
        r"AIza[A-Za-z0-9_-]{30,}|(?:AKIA|ASIA)[A-Z0-9]{16}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|"
        r"hf_[A-Za-z0-9]{20,}|(?:rk|pk|sk)_(?:live|test)_[A-Za-z0-9]{10,}))"
    ),
    # name = value, name: value, "name": "value"; a call, a name or an annotation is no value
    re.compile(
        rf"(?<![A-Za-z0-9]){_NAME}[\"']?\s*(?:=(?!=)|:(?!:))\s*(?P<q>[\"']?)(?P<s>[^\s\"',;(){{}}\[\]<>]{{4,400}})(?P=q)",
    ),
)
_HINT = re.compile(
    r"(?i)passw|pwd|secret|token|key|credential|bearer|basic|://|eyJ|sk-|_live_|_test_|gh[pousr]_|github_pat|glpat|tvly|"
    r"xox|AIza|AKIA|ASIA|npm_|pypi-|hf_"
)
_PLAIN_VALUES = re.compile(
    r"(?i)^(?:none|null|true|false|str|int|bytes|bool|float|any|optional|string|number|self[.].*|\w+[.]\w[\w.]*|os|env|"
    r"[a-z_]+|\{?\w+\}?|\$\{?\w+\}?|\*+|x+|[.]{3}|<.*>)$"
)
_SECRET_KEY = re.compile(rf"^{_NAME}$")


def mask_text(text: str) -> str:
    """Return `text` with every recognised secret replaced by `***`."""
    if not _HINT.search(text):
        return text
    for pattern in _PATTERNS:
        text = pattern.sub(_masked, text)
    return text


def mask_data(value: Any) -> Any:
    """Return plain data with secrets masked; a value under a secret's key is masked whole."""
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, Mapping):
        return {
            key: MASK
            if isinstance(item, str)
            and item
            and isinstance(key, str)
            and _SECRET_KEY.match(key)
            and _is_secret(item)
            else mask_data(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [mask_data(item) for item in value]
    return value


def _masked(match: re.Match[str]) -> str:
    found = match.group("s")
    if "q" in match.re.groupindex and not match.group("q") and not _is_secret(found):
        return match.group(0)
    start, end = match.span("s")
    whole_start = match.start()
    text = match.group(0)
    return text[: start - whole_start] + MASK + text[end - whole_start :]


def _is_secret(value: str) -> bool:
    """Tell a value from a name: words without digits, dotted names and placeholders aren't secrets, unless unguessable."""
    if value.startswith(MASK):
        return False
    if any(c.isdigit() for c in value) or any(not (c.isalnum() or c in "_.") for c in value):
        return not re.fullmatch(r"\d+|[\d.]+|\{\w+\}|\$\{?\w+\}?|\d*[.]\w+", value)
    return not _PLAIN_VALUES.match(value)
