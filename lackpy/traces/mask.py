"""Secret masking before anything durable is written: by the shape of a value, and by the name beside it.

Two tables hold the policy: `SHAPES` (what a secret looks like, whoever named it) and `NAMES` (what a secret is called).
Identifiers, annotations, calls, placeholders, hashes and UUIDs stay as they are. Masking is idempotent; with
`keep_length` every masked character becomes one `*`, so that offsets into the text stay right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

MASK = "[masked]"

# What a secret is called. A strong name's value is a secret whatever it looks like; a weak name's only when it looks
# made by a machine: `token = name` is code, `token = 8f3kq02m` is none.
NAMES = {
    "strong": (
        "passw(?:or)?d", "passwd", "passphrase", "passcode", "pwd", "secret", "secret[_-]?key", "client[_-]?secret",
        "api[_-]?key", "app[_-]?key", "access[_-]?key", "private[_-]?key", "signing[_-]?key", "encryption[_-]?key",
        "account[_-]?key", "shared[_-]?access[_-]?key", "auth[_-]?key", "access[_-]?token", "auth[_-]?token",
        "refresh[_-]?token", "id[_-]?token", "bearer[_-]?token", "session[_-]?token", "bot[_-]?token",
    ),
    "weak": ("token", "key", "credentials?", "auth", "authorization", "cookie", "session[_-]?id", "signature", "pass",
             "pin", "dsn", "salt", "nonce", "otp"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of secret: the literal text that any hit contains, and the pattern whose group `s` is masked."""

    name: str
    contains: tuple[str, ...]
    pattern: re.Pattern[str]


def _shape(name: str, contains: tuple[str, ...], pattern: str, flags: int = 0) -> Shape:
    return Shape(name, contains, re.compile(pattern, flags))


SHAPES: tuple[Shape, ...] = (
    _shape(
        "private key block",
        ("-----BEGIN",),
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<s>.*?)"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
        re.DOTALL,
    ),
    _shape(
        "password in a URL",
        ("://",),
        r"(?<![\w+.-])[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s/:@'\"<>\\]{0,100}:(?P<s>(?![{$<%])[^\s/@'\"<>\\]{1,300})@",
    ),
    _shape(
        "authorization header",
        ("earer ", "asic ", "EARER ", "oken "),
        r"(?i)\b(?:bearer|(?<=: )token|(?<=:)token)\s+(?P<s>(?=[A-Za-z._~+/=-]{0,300}[0-9])[A-Za-z0-9._~+/=-]{6,})",
    ),
    _shape(
        "authorization header",
        ("uthorization", "UTHORIZATION"),
        r"(?i)\bauthorization\\{0,3}[\"']?\s{0,3}[:=]\s{0,3}\\{0,3}[\"']?(?:[A-Za-z][\w-]{0,20} )?"
        r"(?P<s>(?!(?:bearer|basic|token|digest|apikey|header)\b)[A-Za-z0-9._~+/=:-]{6,})(?![\w.]*[(\[]|\s[\[*])",
    ),
    _shape(
        "basic authorization",
        ("asic ", "ASIC "),
        r"\b(?i:basic)\s+(?P<s>(?=[A-Za-z+/]{0,200}[0-9=]|[A-Za-z0-9+/]{0,200}[a-z][A-Z])[A-Za-z0-9+/]{8,}={0,2})(?![\w+/=])",
    ),
    _shape(
        "cookie header",
        ("ookie:", "OOKIE:"),
        r"(?im)\b(?:set-)?cookie:[ ]?[^=\s;\"']{1,80}=(?P<s>[^;\s\"'\\][^\r\n\"'\\]{0,4000})",
    ),
    _shape("JSON web token", ("eyJ",), r"(?<![\w-])(?P<s>eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){0,3})"),
    _shape(
        "AWS key pair",
        ("AKIA", "ASIA"),
        r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{12,20}\b[^\n]{0,5}(?:\n[^\n]{0,5})?[^A-Za-z0-9/+]{0,5}"
        r"(?:[A-Za-z_]{0,40}[^A-Za-z0-9/+]{1,8})?(?P<s>(?![0-9a-f]{40}\b)[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    _shape("AWS key id", ("AKIA", "ASIA", "AROA", "AIDA"), r"\b(?P<s>(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16})\b"),
    _shape(
        "provider token",
        (
            "ghp_",
            "gho_",
            "ghu_",
            "ghs_",
            "ghr_",
            "github_pat_",
            "gl",
            "sk-",
            "sk_",
            "pk_",
            "rk_",
            "whsec_",
            "tvly-",
            "xox",
            "xapp-",
            "xai-",
            "pplx-",
            "gsk_",
            "r8_",
            "hf_",
            "npm_",
            "pypi-",
            "dop_v1_",
            "shp",
            "lin_api_",
            "ntn_",
            "secret_",
            "sq0",
            "key-",
            "vault:v",
            "hv",
            "AGE-SECRET",
            "AIza",
            "ya29.",
            "SG.",
            "EAA",
            "1//0",
            "rubygems_",
            "sntry",
            "tskey-",
        ),
        r"(?<![A-Za-z0-9_-])(?P<s>"
        r"gh[pousr]_[A-Za-z0-9]{8,}|github_pat_\w{8,}|gl(?:pat|ptt|dt|rt|cbt|ft|soat)-[\w.-]{8,}"
        r"|sk-(?=[A-Za-z_-]{0,200}[0-9])[\w-]{12,}|sk-(?:ant|proj|or|live|svcacct)-[\w-]{4,}"
        r"|[spr]k_(?:live|test|prod)_[A-Za-z0-9]{6,}|whsec_[\w+/=]{8,}"
        r"|tvly-[\w-]{3,}|xox[abeoprs]-[\w-]{6,}|xapp-[\w-]{8,}|xai-[\w-]{16,}|pplx-[\w-]{16,}|gsk_[\w-]{16,}"
        r"|r8_\w{16,}|hf_[A-Za-z0-9]{12,}|npm_[A-Za-z0-9]{16,}|pypi-[\w-]{16,}|dop_v1_\w{16,}|shp(?:at|ss|ca|pa)_\w{16,}"
        r"|lin_api_\w{8,}|ntn_\w{16,}|secret_[A-Za-z0-9]{20,}|sq0[a-z]{3}-[\w-]{16,}|key-[0-9a-f]{32}|vault:v\d:[\w+/=-]{8,}"
        r"|hv[sbr]\.[\w-]{12,}|AGE-SECRET-KEY-1[A-Z0-9]{20,}|AIza[\w-]{20,}|ya29\.[\w-]{16,}|SG\.[\w-]{8,}\.[\w-]{8,}"
        r"|EAA[A-Za-z0-9]{40,}|1//0[\w-]{20,}|rubygems_[0-9a-f]{20,}|sntry[su]_[\w+/=-]{16,}|tskey-[\w-]{12,}"
        r")",
    ),
    _shape(
        "web hook address",
        ("hooks.slack.com", "webhooks", "webhook.office"),
        r"(?:hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/|webhook\.office\.com/)"
        r"(?P<s>[\w/@.-]{8,})",
    ),
)

_STRONG = "|".join(NAMES["strong"])
_WEAK = "|".join(NAMES["weak"])
# A label and what parts it from its value: name = · name: · "name": · \\"name\\": · name => · name "…
_LABEL = re.compile(
    r"(?<![A-Za-z0-9_.-])(?P<n>[A-Za-z0-9_.-]{3,80})"
    r"(?P<sep>\\{0,3}[\"']?\s{0,4}(?:=>|:=|=(?!=)|:(?![:/]))\s{0,4}|[ ]{1,4}(?=[\"']))"
)
_VALUE = re.compile(
    r"(?P<prefix>[fbruFBRU]{0,2})(?P<q>\\{0,3}[\"'])(?P<quoted>(?:(?!(?P=q))[^\n]){1,400})(?P=q)"
    r"|(?P<bare>[^\s\"'\\,;&<>`)\]}]{1,400})"
)
_FLAG = re.compile(
    rf"(?i)(?<![\w-])--?(?:[a-z0-9-]{{0,40}}-)?(?:{_STRONG}|token)[ ](?P<s>(?!-)[^\s\"'`]{{4,200}})"
)
_KEY = re.compile(
    rf"(?i)[a-z0-9_.-]{{0,60}}?(?:(?P<strong>{_STRONG})|(?P<weak>{_WEAK}))s?"
    r"(?:[_-]?(?:\d{1,3}|value|text|hash|prod|dev|test|live|main|old|new|default))?"
)
_PLACEHOLDER = re.compile(
    r"(?i)\[masked\]|\*+|x{3,}|\.{3,}|…|\$\w+|[$%#]?\{.*|<.*|%\(?\w+\)?s?|your[_-].*|changeme|example|redacted|null"
    r"|none|nil|true|false|undefined|required|optional|empty|\W+|\d{1,3}"
)
_TYPES = frozenset((
    "str", "string", "bytes", "bytearray", "int", "integer", "float", "number", "bool", "boolean", "any", "object",
    "dict", "list", "tuple", "set", "optional", "secretstr", "none", "type", "text", "varchar", "char", "uuid",
    "file", "path", "callable", "buffer", "const", "let", "var", "env", "os", "self", "return", "if", "for", "the",
    "is", "a", "an",
))  # fmt: skip
_NAME_WITH_DIGITS = re.compile(
    r"[A-Za-z_]+\d{1,2}|[\w./-]+\.\w{1,5}(?::\d+)?|(?:[a-z]+[_.])+\w+|v?\d+(?:\.\w+)+"
)
_CODE_AFTER = re.compile(r"\s{0,2}[(\[.]")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_]*(?:\.[A-Za-z_]\w*)*")


def mask_text(text: str, *, keep_length: bool = False) -> str:
    """Return `text` with every recognised secret masked.

    >>> mask_text("API_KEY=tvly-abc123 sha 356a192b7913b04c54574d18c28d46e6395428ab")
    'API_KEY=[masked] sha 356a192b7913b04c54574d18c28d46e6395428ab'
    """
    return _Mask(keep_length=keep_length).text(text)


def mask_data(value: Any) -> Any:
    """Return plain data with secrets masked, keys included; a text under a secret's name is masked whole."""
    masker = _Mask(keep_length=False)
    if isinstance(value, str):
        return masker.text(value)
    if isinstance(value, Mapping):
        return {mask_data(key): _named_value(key, item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [mask_data(item) for item in value]
    return value


def is_secret_name(name: str, value: str) -> bool:
    """Tell whether a value under this name is to be masked whole."""
    strength = _strength(name)
    if not strength or not value or _PLACEHOLDER.fullmatch(value):
        return False
    return strength == "strong" or _made_by_machine(value)


def _named_value(key: object, item: Any) -> Any:
    if isinstance(item, str) and isinstance(key, str) and is_secret_name(key, item):
        return MASK
    return mask_data(item)


class _Mask:
    """One text's masking."""

    def __init__(self, *, keep_length: bool) -> None:
        self._keep_length = keep_length

    def text(self, text: str) -> str:
        for shape in SHAPES:
            if any(part in text for part in shape.contains):
                text = shape.pattern.sub(self._whole("s"), text)
        text = self._named(text)
        if " -" in text or text.startswith("-"):
            text = _FLAG.sub(self._whole("s"), text)
        return text

    def _named(self, text: str) -> str:
        """Mask what follows a secret's name."""
        parts, done = [], 0
        for label in _LABEL.finditer(text):
            strength = _strength(label["n"])
            value = _VALUE.match(text, label.end()) if strength and label.start() >= done else None
            if value is None:
                continue
            group = "bare" if value["quoted"] is None else "quoted"
            judge = _bare_secret if group == "bare" else _quoted_secret
            if judge(label, value, strength=strength):
                start, end = value.span(group)
                parts += [text[done:start], self._stand_in(value[group])]
                done = end
        return "".join((*parts, text[done:])) if parts else text

    def _stand_in(self, secret: str) -> str:
        return "*" * len(secret) if self._keep_length else MASK

    def _whole(self, group: str) -> Callable[[re.Match[str]], str]:
        def replaced(match: re.Match[str]) -> str:
            secret = match[group]
            if not secret.strip() or _PLACEHOLDER.fullmatch(secret):
                return match[0]
            return _spliced(match, group, self._stand_in(secret))

        return replaced


@lru_cache(maxsize=4096)
def _strength(name: str) -> str:
    """Return `strong`, `weak`, or "" for a name that names no secret."""
    found = _KEY.fullmatch(name)
    return "" if found is None else "strong" if found["strong"] else "weak"


def _quoted_secret(label: re.Match[str], match: re.Match[str], *, strength: str) -> bool:
    value = match["quoted"]
    if _PLACEHOLDER.fullmatch(value) or ("f" in match["prefix"].lower() and "{" in value):
        return False
    if label["sep"].isspace():  # `password "hunter2"`: only text that no sentence would quote
        return strength == "strong" and _made_by_machine(value)
    if _strength(value) and not _made_by_machine(value):  # `API_KEY = "SERVICE_API_KEY"` names a variable
        return False
    if strength == "strong":
        return " " not in value.strip() or any(c.isdigit() for c in value)
    return _made_by_machine(value)


def _bare_secret(label: re.Match[str], match: re.Match[str], *, strength: str) -> bool:
    value, sep = match["bare"], label["sep"]
    rest = match.string[match.end() :][:3]
    if (
        _PLACEHOLDER.fullmatch(value)
        or value.lower().rstrip(".,|?") in _TYPES
        or "(" in value
        or "[" in value
    ):
        return False
    if _CODE_AFTER.match(rest):
        return False
    plain = bool(_IDENTIFIER.fullmatch(value))
    if sep.isspace():
        return False
    if strength == "weak":
        is_environment = label["n"].isupper() and "=" in sep and " " not in sep and len(value) >= 4
        return _made_by_machine(value) or (is_environment and not plain)
    if not plain:
        return not re.fullmatch(r"[A-Za-z_]\w*(?:\.\w+)+", value) and not re.fullmatch(
            r"\d{1,4}(?:\.\d+)?", value
        )
    if (
        _KEY.fullmatch(value)
        or value.lower().endswith(("password", "secret", "token", "key"))
        or "." in value
    ):
        return False
    if "=" in sep:  # a keyword argument is followed by a comma or bracket, an assignment in code has blanks
        return sep.strip("\"\\'") == "=" and (not rest or rest[0] in " \n\r\t&;")
    return value.islower() and (not rest or rest[0] in "\n\r\t ;")


def _made_by_machine(value: str) -> bool:
    """Tell text that only a generator writes: 8 characters or more, letters with digits, or long and mixed."""
    if len(value) < 8 or " " in value or not re.fullmatch(r"[\w.~+/=:@!#$%^&*?|-]+", value):
        return False
    has_digit, has_letter = any(c.isdigit() for c in value), any(c.isalpha() for c in value)
    if has_digit and has_letter:
        return not _NAME_WITH_DIGITS.fullmatch(value)
    return len(value) >= 24 and not value.islower() and "_" not in value and "." not in value


def _spliced(match: re.Match[str], group: str, stand_in: str) -> str:
    start, end = (at - match.start() for at in match.span(group))
    return match[0][:start] + stand_in + match[0][end:]
