"""Applies the lifecycle: judges every template's serves and writes what changed, file first, then the record of it.

The template file is what the dispatcher serves by; `template_states` says since when and why. A file that a person
changed is taken as that person's decision: its state stands, and a changed pattern or program begins anew. A shipped
template is taken out of service by a copy in the workspace.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lackpy import sqlfiles
from lackpy.templates.create import template_folder
from lackpy.templates.files import content_hash, write_atomic, write_template
from lackpy.templates.format import Origin, State, Template, TemplateError, with_fields
from lackpy.templates.loader import TemplateLibrary
from lackpy.traces.ids import new_id
from riggs.lifecycle import Policy, Serve, Standing, Transition, advance
from riggs.trust_config import DEFAULT, TrustConfig

if TYPE_CHECKING:
    import duckdb

RIGGS = "riggs"
PERSON = "file"
NEWEST_SERVES = 1000
"""Serves of one template that are judged at once; earlier ones no longer move its windows."""
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Change:
    """One transition of one template, as applied.

    Attributes:
        template: Its name.
        transition: From, to, when, why.
        path: The file that says so now.
        problem: Why it couldn't be written; "" when it was.
    """

    template: str
    transition: Transition
    path: str
    problem: str = ""


def apply_lifecycle(
    con: duckdb.DuckDBPyConnection,
    workspace: Path,
    now: datetime,
    policy: Policy | None = None,
    trust: TrustConfig = DEFAULT,
    *,
    starter: bool = True,
) -> list[Change]:
    """Judge every template of the workspace and write what changed.

    Args:
        con: The store, open for writing, its journals drained.
        workspace: Absolute path.
        now: Moment of judging, aware UTC.
        policy: When a template moves.
        trust: Weights of the windows.
        starter: The shipped library is served too.
    """
    policy = policy or Policy()
    library = TemplateLibrary(template_folder(workspace), starter=starter)
    templates = {name: loaded.template for name, loaded in sorted(library.current().templates.items())}
    known = _known(con)
    touched = {row[0] for row in con.execute(sqlfiles.load("trust/touched").text).fetchall()}
    unseen = {name for name, one in templates.items() if name not in known and one.origin is Origin.WORKSPACE}
    served = _served(con, [name for name in templates if name in touched or name in unseen])
    changes: list[Change] = []
    for name, template in templates.items():
        standing = _standing(con, template, known.get(name))
        serves = served[name].serves if name in served else []
        _, steps = advance(standing, serves, now, policy, trust)
        if steps:
            changes += _write(con, workspace, template, steps, now)
    if touched and not any(change.problem for change in changes):
        con.execute(sqlfiles.load("trust/mark_judged").text)
    return changes


def record_state(
    con: duckdb.DuckDBPyConnection, template: Template, state: State, reason: str, by: str, at: datetime
) -> None:
    """Record that someone put a template into a state, e.g. a promotion; its quarantines count from here.

    Args:
        con: The store, open for writing.
        template: The template as its file says.
        state: Its state now.
        reason: One clause.
        by: Who decided; anything but `riggs`.
        at: When, aware UTC.
    """
    _add(con, template.name, at, state, None, reason, by, identity(template))


def quarantine(
    con: duckdb.DuckDBPyConnection, workspace: Path, template: Template, reason: str, at: datetime
) -> Change:
    """Take a served template out of service, as the lifecycle does: it rests, and longer each time.

    Args:
        con: The store, open for writing.
        workspace: Absolute path.
        template: As loaded.
        reason: One clause with the numbers.
        at: When, aware UTC.
    """
    step = Transition(template.state, State.QUARANTINED, at, reason)
    return _write(con, workspace, template, [step], at)[0]


def identity(template: Template) -> str:
    """Return a digest of what a template does: pattern, program, slots and kit; not its state or counts."""
    parts = [template.pattern, template.program, sorted(template.slots.items()), template.kit]
    return content_hash(json.dumps(parts))


@dataclass(frozen=True, slots=True)
class _Known:
    standing: Standing
    file_hash: str


def _known(con: duckdb.DuckDBPyConnection) -> dict[str, _Known]:
    rows = con.execute(sqlfiles.load("trust/template_states").text).fetchall()
    return {
        name: _Known(Standing(State(state), since.replace(tzinfo=UTC), quarantines), file_hash or "")
        for name, since, state, _, _, file_hash, quarantines in rows
    }


@dataclass(slots=True)
class _Served:
    """A template's newest serves, oldest first, and the counts over all of them."""

    serves: list[Serve]
    good: int
    bad: int


def _served(con: duckdb.DuckDBPyConnection, names: list[str]) -> dict[str, _Served]:
    if not names:
        return {}
    found: dict[str, _Served] = {}
    values = {"templates": names, "newest": NEWEST_SERVES}
    for name, ts, is_good, trace_id, good, bad in con.execute(
        sqlfiles.load("trust/serves").text, values
    ).fetchall():
        one = found.setdefault(name, _Served([], good, bad))
        one.serves.append(Serve(ts.replace(tzinfo=UTC), is_good, trace_id))
    return found


def _standing(con: duckdb.DuckDBPyConnection, template: Template, known: _Known | None) -> Standing:
    """Return where a template stands, after taking note of what a person did to its file."""
    digest = identity(template)
    if known is None:
        if template.origin is Origin.STARTER:
            return Standing(template.state, _BEGINNING)
        _add(con, template.name, _BEGINNING, template.state, None, "first seen", PERSON, digest)
        return Standing(template.state, _BEGINNING)
    if known.standing.state is template.state and known.file_hash == digest:
        return known.standing
    since = _changed_at(template)
    reason = "its file was changed by hand" if known.file_hash == digest else "its pattern or program is new"
    _add(con, template.name, since, template.state, known.standing.state, reason, PERSON, digest)
    return Standing(template.state, since)


def _changed_at(template: Template) -> datetime:
    try:
        return datetime.fromtimestamp(Path(template.path).stat().st_mtime, UTC)
    except OSError:
        return _BEGINNING


def _write(
    con: duckdb.DuckDBPyConnection,
    workspace: Path,
    template: Template,
    steps: list[Transition],
    now: datetime,
) -> list[Change]:
    """Write the last state into the file, then record every step, here and in the history of decisions."""
    served = _served(con, [template.name]).get(template.name, _Served([], 0, 0))
    try:
        path = _rewrite(workspace, template, steps[-1].state, served.good, served.bad)
    except (TemplateError, OSError, UnicodeDecodeError) as exc:
        return [Change(template.name, steps[-1], template.path, str(exc))]
    digest = identity(template)
    for step in steps:
        _add(con, template.name, step.at, step.state, step.was, step.reason, RIGGS, digest)
        evidence = {
            "was": step.was.value,
            "traces": list(step.trace_ids),
            "good_serves": served.good,
            "bad_serves": served.bad,
        }
        decision = {
            "decision_id": new_id(),
            "ts": now.astimezone(UTC).replace(tzinfo=None),
            "action": step.state.value,
            "template": template.name,
            "reason": step.reason,
            "evidence": json.dumps(evidence),
            "file_hash": digest,
        }
        con.execute(sqlfiles.load("trust/add_decision").text, decision)
    return [Change(template.name, step, str(path)) for step in steps]


def _rewrite(workspace: Path, template: Template, state: State, good: int, bad: int) -> Path:
    if template.origin is Origin.STARTER:
        copy = replace(template, state=state, success_count=good, fail_count=bad, origin=Origin.WORKSPACE)
        return write_template(template_folder(workspace), copy)
    path = Path(template.path)
    fields: dict[str, str | int | State] = {"state": state, "success_count": good, "fail_count": bad}
    return write_atomic(path, with_fields(path.read_text(encoding="utf-8-sig"), fields))


def _add(
    con: duckdb.DuckDBPyConnection,
    template: str,
    at: datetime,
    state: State,
    was: State | None,
    reason: str,
    by: str,
    file_hash: str,
) -> None:
    values = {
        "template": template,
        "since": at.astimezone(UTC).replace(tzinfo=None),
        "state": state.value,
        "was": was.value if was else None,
        "reason": reason,
        "decided_by": by,
        "file_hash": file_hash,
    }
    con.execute(sqlfiles.load("trust/add_template_state").text, values)
