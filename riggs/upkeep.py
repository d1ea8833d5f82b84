"""What every riggs command does first: read the journal, normalise, count, and move templates by their serves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lackpy import config as configuration
from riggs.lifecycle import policy_from
from riggs.template_states import Change, apply_lifecycle
from riggs.trust_config import from_section

if TYPE_CHECKING:
    from riggs.store import Store, SyncReport


@dataclass(frozen=True, slots=True)
class UpkeepReport:
    """What was brought up to date: the store, and templates that changed state."""

    sync: SyncReport
    changes: tuple[Change, ...]


def upkeep(store: Store, *, now: datetime | None = None) -> UpkeepReport:
    """Bring a workspace's store and templates up to date; a second call changes nothing.

    Args:
        store: The workspace's store.
        now: Moment of judging, aware UTC; the wall clock's when absent.

    Raises:
        StoreError, ConfigError: The store or the configuration can't be used.
    """
    config = configuration.load(store.workspace)
    report = store.sync()
    with store.write() as connection:
        changes = apply_lifecycle(
            connection,
            store.workspace,
            now or datetime.now(UTC),
            policy_from(config.section("lifecycle")),
            from_section(config.section("trust")),
            starter=config.templates.starter,
        )
    return UpkeepReport(report, tuple(changes))
