"""The words a model gets: one notebook cell over a preloaded namespace, and its retry.

Chat messages from the templates in `data/prompts/`. What doesn't change between requests of a kit (the system message)
comes first, so that a local model keeps it in its cache; examples follow as earlier turns, the closest one last. What a
program may not do is never listed: at a few billion parameters naming a thing invites it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from lackpy import resources

if TYPE_CHECKING:
    from jinja2 import Template

    from lackpy.infer.protocol import Feedback, Request
    from lackpy.infer.retrieve import Picked
    from lackpy.lang.signature import Signature
    from lackpy.lang.verdict import Violation

Message = Mapping[str, str]
"""`role` (`system`, `user`, `assistant`) and `content`."""
MAX_FIXES = 4
"""Most violations a retry names."""
_TOKEN = re.compile(r"[A-Za-z]+|\d|[^\sA-Za-z\d]{1,2}|\n\s*")


@dataclass(frozen=True, slots=True)
class Fix:
    """One violation as a retry tells it: where, what was wrong, what to do instead."""

    line: int
    source: str
    what: str
    do: str


def build(request: Request, examples: Sequence[Picked]) -> list[Message]:
    """Return the chat for one request; with feedback the last message is the retry."""
    messages: list[Message] = [{"role": "system", "content": system(request.signatures, request.params)}]
    for picked in examples:
        messages.append({"role": "user", "content": picked.phrasing})
        messages.append({"role": "assistant", "content": picked.example.program})
    content = (
        one_line(request.intent) if request.feedback is None else retry(request.intent, request.feedback)
    )
    messages.append({"role": "user", "content": content})
    return messages


def system(signatures: Mapping[str, Signature], params: Mapping[str, str]) -> str:
    """Return the system message: every tool as a line of code with a comment, then the parameters."""
    lines = tool_lines(signatures.values())
    paths = any(p.name in ("path", "pattern", "glob") for s in signatures.values() for p in s.params)
    return _template("system").render(tools=lines, params=params, paths=paths).strip()


def retry(intent: str, feedback: Feedback) -> str:
    """Return a fresh request that shows the failed lines, each with one imperative hint."""
    fixes = [fix_of(v, feedback.program) for v in feedback.violations[:MAX_FIXES]]
    return (
        _template("retry")
        .render(intent=one_line(intent), program=feedback.program.strip(), fixes=fixes)
        .strip()
    )


def revise(intent: str, program: str, violation: Violation) -> str:
    """Return a request for one new line in place of a refused one (staged mode)."""
    fix = fix_of(violation, program)
    return (
        _template("revise")
        .render(intent=one_line(intent), program=program.strip(), line=fix.line, what=fix.what, do=fix.do)
        .strip()
    )


def fix_of(violation: Violation, program: str) -> Fix:
    """Turn a violation into what a retry says about it."""
    lines = program.splitlines()
    source = lines[violation.line - 1].strip() if 0 < violation.line <= len(lines) else ""
    hint = violation.hint.strip()
    end = "" if hint.endswith((".", "?", "!")) else "."
    return Fix(violation.line, source[:120], violation.message.rstrip("."), hint[:1].upper() + hint[1:] + end)


def one_line(intent: str) -> str:
    """Return an intent on one line: a pasted one can't open turns or cells of its own."""
    return " ".join(re.sub(r"<\|[^|>\n]{0,40}\|>", " ", intent).split())


def tool_lines(signatures: Any) -> list[str]:
    """Return `name(params) -> result  # doc` for each signature, row keys in place of type names."""
    return [_tool_line(s) for s in signatures]


def _tool_line(signature: Signature) -> str:
    params = ", ".join(_param(p.name, p.type, p.default) for p in signature.params)
    returns = signature.returns
    for row in signature.rows:
        keys = ", ".join(f'"{key}"' for key, _ in row.fields)
        returns = re.sub(rf"\b{re.escape(row.name)}\b", "{" + keys.replace("\\", r"\\") + "}", returns)
    head = f"{signature.name}({params}) -> {returns}"
    doc = " ".join(signature.doc.split()).rstrip(".")
    return f"{head}  # {doc[:200]}" if doc else head


def _param(name: str, type_source: str, default: str | None) -> str:
    shown = name if type_source in ("str", "Any") else f"{name}: {type_source}"
    return shown if default is None else f"{shown}={default}"


def estimate_tokens(messages: Sequence[Message]) -> int:
    """Return a token count that is rather too high than too low, without any model's vocabulary."""
    return sum(len(_TOKEN.findall(m["content"])) + 8 for m in messages)


@cache
def _template(name: str) -> Template:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415  # loads only when a model tier is asked

    environment = Environment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701  # for a model, never HTML
    )
    return environment.from_string(resources.text(f"data/prompts/{name}.j2"))
