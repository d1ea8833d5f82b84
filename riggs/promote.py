"""Decisions: a candidate becomes a template on probation, is put away, or a template goes out of service.

Every decision is stored with its evidence. A file that is there is never replaced; a change of state edits one line.
"""

from __future__ import annotations

import getpass
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lackpy.templates.files import content_hash, find_template, write_atomic, write_template
from lackpy.templates.fill import instantiate, sample_values
from lackpy.templates.format import State, Template, parse, with_fields
from lackpy.templates.needs import tool_hashes
from lackpy.traces.ids import new_id
from riggs.candidates import Review, Status, kit_named, template_of
from riggs.errors import RiggsError
from riggs.template_states import record_state

if TYPE_CHECKING:
    from riggs.store import Store


@dataclass(frozen=True, slots=True)
class Decision:
    """One stored decision."""

    decision_id: str
    ts: datetime
    action: str
    candidate_id: str | None
    template: str | None
    reason: str | None
    evidence: dict[str, Any]
    decided_by: str | None


class PromotionRefused(RiggsError):  # noqa: N818  # named as the outcome
    """A candidate can't be promoted as asked; the sentence says what would allow it."""


def promote(
    store: Store, review: Review, *, allow_writes: bool = False, force: bool = False, reason: str = ""
) -> Path:
    """Write the candidate's template on probation and record the decision; the next call is served.

    Args:
        store: The workspace's store.
        review: The candidate as reviewed.
        allow_writes: Accept a program that writes (grade w 3).
        force: Accept wrong serves and conflicts.
        reason: Kept with the decision.

    Raises:
        PromotionRefused: Something stands in the way that wasn't allowed.
        TemplateError: The file can't be written.
    """
    _insist(review, allow_writes=allow_writes, force=force)
    folder = templates_folder(store)
    template = _ready(store, template_of(review.candidate))
    path = write_template(folder, template)
    now = datetime.now(UTC)
    with store.write() as connection:
        record_state(
            connection, template, State.PROBATION, f"promoted from candidate {review.id}", "promote", now
        )
    _record(
        store,
        "promote",
        review.id,
        template.name,
        reason,
        review.to_json(),
        content_hash(path.read_text(encoding="utf-8")),
    )
    return path


def _insist(review: Review, *, allow_writes: bool, force: bool) -> None:
    if review.status is Status.UNUSABLE:
        raise PromotionRefused(f"candidate {review.id}: {review.reason}")
    if review.status is Status.REJECTED and not force:
        raise PromotionRefused(
            f"candidate {review.id} was {review.reason}; use --force to promote it all the same"
        )
    if review.status in (Status.WRONG_SERVES, Status.CONFLICT) and not force:
        raise PromotionRefused(
            f"candidate {review.id} {review.reason}; look at `riggs candidates --why {review.id}`, or use --force"
        )
    if (review.grade_w or 0) >= 3 and not allow_writes:
        raise PromotionRefused(f"candidate {review.id}'s program writes; use --allow-writes to promote it")


def _ready(store: Store, template: Template) -> Template:
    """Give the template its tools' hashes and a name that nobody has."""
    kit = kit_named(store.workspace, template.kit)
    calls = instantiate(template, sample_values(template), kit.signatures).calls
    return replace(
        template,
        name=_free_name(store, template.name),
        state=State.PROBATION,
        tools=tool_hashes(calls, kit.signatures),
    )


def _free_name(store: Store, name: str) -> str:
    from lackpy import resources  # noqa: PLC0415  # only asked when writing

    folders = (templates_folder(store), resources.folder("data") / "templates")
    free, number = name, 2
    while any(find_template(folder, free) for folder in folders):
        free, number = f"{name}-{number}", number + 1
    return free


def reject(store: Store, review: Review, reason: str) -> None:
    """Put a candidate away until its evidence has doubled.

    Raises:
        RiggsError: No reason was given.
    """
    if not reason.strip():
        raise RiggsError("'--reason' is empty; say why, the next person will ask")
    _record(store, "reject", review.id, None, reason, review.to_json(), None)


def demote(store: Store, name: str, reason: str = "") -> Path:
    """Retire a template of the workspace; its file stays, one line changes.

    Raises:
        RiggsError: No such template in this workspace.
    """
    path = find_template(templates_folder(store), name)
    if path is None:
        raise RiggsError(
            f"no template '{name}' in {templates_folder(store)}; a shipped one: `lackpy template disable`"
        )
    change_state(path, State.RETIRED)
    retired = parse(path.read_text(encoding="utf-8-sig"), str(path))
    with store.write() as connection:
        record_state(connection, retired, State.RETIRED, reason or "demoted", "demote", datetime.now(UTC))
    rows = store.rows(
        "select candidate_id, evidence from decisions where template = ? and action = 'promote' "
        "order by ts desc limit 1",
        [name],
    )
    candidate = rows[0]["candidate_id"] if rows else None
    evidence = json.loads(rows[0]["evidence"]) if rows and rows[0]["evidence"] else {}
    _record(
        store, "demote", candidate, name, reason, evidence, content_hash(path.read_text(encoding="utf-8"))
    )
    return path


def change_state(path: Path, state: State) -> None:
    """Edit the state line of a template file, and nothing else.

    Raises:
        TemplateError: It isn't a template, or can't be written.
    """
    text = path.read_text(encoding="utf-8-sig")
    write_atomic(path, with_fields(text, {"state": state}))


def history(store: Store, *, limit: int = 100) -> list[Decision]:
    """Return decisions, newest first."""
    rows = store.rows(
        "select decision_id, ts, action, candidate_id, template, reason, evidence, decided_by from decisions "
        "order by ts desc, decision_id desc limit ?",
        [limit],
    )
    return [Decision(**{**row, "evidence": json.loads(row["evidence"] or "{}")}) for row in rows]


def templates_folder(store: Store) -> Path:
    """Return the workspace's template folder."""
    return store.state_dir / "templates"


def _record(
    store: Store,
    action: str,
    candidate_id: str | None,
    template: str | None,
    reason: str,
    evidence: dict[str, Any],
    file_hash: str | None,
) -> None:
    with store.write() as connection:
        connection.execute(
            "insert into decisions (decision_id, ts, action, candidate_id, template, reason, evidence, decided_by, "
            "file_hash) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                new_id(),
                datetime.now(UTC).replace(tzinfo=None),
                action,
                candidate_id,
                template,
                reason,
                json.dumps(evidence),
                _person(),
                file_hash,
            ],
        )


def _person() -> str | None:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return None
