"""Training pairs from what ran: correct by construction, split so that no template is on both sides, secrets masked.

Formats follow the JSON Lines conventions that trainers read: `chat` has `messages`, `completion` has `prompt` and
`completion`, `preference` has `prompt`, `chosen` and `rejected`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lackpy import sqlfiles
from lackpy.errors import LackpyError
from lackpy.traces.mask import mask_text
from riggs.errors import RiggsError

if TYPE_CHECKING:
    from riggs.store import Store

FORMATS = ("chat", "completion", "preference")
SPLITS = ("train", "validation", "test")
_BUCKETS = 1000


@dataclass(frozen=True, slots=True)
class Pair:
    """One request and the program that answered it; `rejected` failed for the same request."""

    intent: str
    kit: str
    program: str
    group_id: str
    program_template: str
    calls: int
    rejected: str | None


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote: rows by split, and the files."""

    rows: Mapping[str, int]
    paths: tuple[Path, ...]


def pairs(store: Store) -> list[Pair]:
    """Return distinct pairs, masked, in a stable order; requests alike but for case and blanks count once."""
    found: dict[tuple[str, str, str], Pair] = {}
    for row in store.rows(sqlfiles.statement("ratchet/pairs")):
        intent = mask_text(" ".join(row["intent"].split()))
        key = (intent.casefold(), row["kit"], row["program_canonical"])
        before = found.get(key)
        rejected = mask_text(row["rejected"]) if row["rejected"] else None
        if before is None:
            found[key] = Pair(
                intent,
                row["kit"],
                mask_text(row["program"]),
                row["group_id"],
                mask_text(row["program_template"]),
                row["calls"],
                rejected,
            )
        else:
            found[key] = replace(
                before, calls=before.calls + row["calls"], rejected=before.rejected or rejected
            )
    return list(found.values())


def split_of(group_id: str, shares: Sequence[float]) -> str:
    """Return the split of a whole template: by a hash, so that new traces never move an old template.

    Args:
        group_id: Key of kit and program template.
        shares: Shares of train, validation and test, summing to 1.
    """
    place = int(hashlib.sha256(group_id.encode()).hexdigest()[:8], 16) % _BUCKETS / _BUCKETS
    edge = 0.0
    for name, share in zip(SPLITS, shares, strict=True):
        edge += share
        if place < edge:
            return name
    return SPLITS[0]


def export(
    store: Store, folder: Path, kind: str = "chat", shares: Sequence[float] = (0.8, 0.1, 0.1)
) -> Exported:
    """Write `train.jsonl`, `validation.jsonl`, `test.jsonl` and a data card `README.md`.

    Args:
        store: A synced store.
        folder: Made when missing.
        kind: `chat`, `completion` or `preference`.
        shares: Shares of the three splits, summing to 1.

    Raises:
        RiggsError: Another kind, shares that don't sum to 1, or a folder that can't be written.
    """
    if kind not in FORMATS:
        raise RiggsError(f"'format' must be one of {', '.join(FORMATS)} (got {kind!r})")
    if len(shares) != len(SPLITS) or abs(sum(shares) - 1.0) > 1e-9 or min(shares) < 0:
        raise RiggsError(f"'shares' must be three numbers >= 0 that sum to 1 (got {list(shares)})")
    found = [p for p in pairs(store) if kind != "preference" or p.rejected]
    prompts = _Prompts(store.workspace)
    rows: dict[str, list[str]] = {name: [] for name in SPLITS}
    for pair in found:
        row = _row(pair, kind, prompts.system(pair.kit))
        rows[split_of(pair.group_id, shares)].append(json.dumps(row, ensure_ascii=True))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{name}.jsonl" for name in SPLITS]
        for path, name in zip(paths, SPLITS, strict=True):
            path.write_text("".join(f"{line}\n" for line in rows[name]), encoding="ascii")
        card = folder / "README.md"
        card.write_text(_card(found, rows, kind, shares), encoding="utf-8")
    except OSError as exc:
        raise RiggsError(f"{folder} can't be written ({exc.strerror or exc})") from exc
    return Exported({name: len(lines) for name, lines in rows.items()}, (*paths, card))


class _Prompts:
    """System text per kit: the signatures a program may call."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._known: dict[str, str] = {}

    def system(self, kit: str) -> str:
        if kit not in self._known:
            self._known[kit] = self._build(kit)
        return self._known[kit]

    def _build(self, kit: str) -> str:
        from lackpy.kits import load_kit  # noqa: PLC0415  # loads parsers

        try:
            texts = [signature.text() for signature in load_kit(kit, self._workspace).signatures.values()]
        except LackpyError:
            texts = []
        lines = "\n".join(f"- {text}" for text in texts)
        return f"Write one short program for the request. The last expression is the answer. Tools:\n{lines}".rstrip()


def _row(pair: Pair, kind: str, system: str) -> dict[str, Any]:
    ask = [{"role": "system", "content": system}, {"role": "user", "content": pair.intent}]
    if kind == "chat":
        return {"messages": [*ask, {"role": "assistant", "content": pair.program}]}
    if kind == "completion":
        return {"prompt": f"{system}\n\n# {pair.intent}\n", "completion": pair.program}
    return {
        "prompt": ask,
        "chosen": [{"role": "assistant", "content": pair.program}],
        "rejected": [{"role": "assistant", "content": pair.rejected}],
    }


def _card(
    found: Sequence[Pair], rows: Mapping[str, Sequence[str]], kind: str, shares: Sequence[float]
) -> str:
    groups = Counter(split_of(p.group_id, shares) for p in {p.group_id: p for p in found}.values())
    table = "\n".join(f"| {name} | {len(rows[name])} | {groups[name]} |" for name in SPLITS)
    return (
        f"# Data card\n\nFormat: {kind}. {len(found)} distinct requests with the program that answered them, "
        f"from {sum(p.calls for p in found)} calls over {len({p.group_id for p in found})} program templates.\n\n"
        "Each program was validated, ran to its value and was not marked bad by its caller. Requests that are alike "
        "and have the same canonical program stand once. A program template is in one split only. "
        "Secrets are masked.\n\n"
        f"| split | rows | program templates |\n|---|---|---|\n{table}\n"
    )
