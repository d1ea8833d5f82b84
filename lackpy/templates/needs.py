"""What a template needs of a kit: the tools it calls, with the signatures it was checked with. Pure."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import lru_cache

from lackpy.lang import Signature
from lackpy.templates.format import Template


@lru_cache(maxsize=4096)
def signature_hash(signature: Signature) -> str:
    """Return a short hash of a tool's name, parameters and result type; its words and grade don't count."""
    facts = (
        signature.name,
        [(p.name, p.type, p.default) for p in signature.params],
        signature.returns,
        [(row.name, row.fields) for row in signature.rows],
    )
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12]


def tool_hashes(calls: Iterable[str], signatures: Mapping[str, Signature]) -> dict[str, str]:
    """Return tool name → signature hash for a template's `tools` field."""
    return {name: signature_hash(signatures[name]) for name in sorted(calls)}


@lru_cache(maxsize=20_000)
def called_names(program: str) -> tuple[str, ...]:
    """Return the names a program calls, sorted; empty when it doesn't parse."""
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return tuple(sorted(found))


def why_withdrawn(template: Template, signatures: Mapping[str, Signature]) -> str | None:
    """Return why a template can't be served with these tools, or `None`: each is there, unchanged."""
    for name, recorded in template.tools.items():
        signature = signatures.get(name)
        if signature is None:
            return f"withdrawn: tool '{name}' is gone"
        if signature_hash(signature) != recorded:
            return f"withdrawn: tool '{name}' has changed to {signature.text()}; check the program and promote it again"
    return None
