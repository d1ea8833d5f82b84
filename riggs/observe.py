"""Everything that must happen before riggs judges: journals in, sources in, trust refreshed, templates moved.

Each step stands on its own: a source that is absent or locked is reported and the rest goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from lackpy import config as configuration
from riggs.ingest.registry import sources_of
from riggs.ingest.sink import SourceReport, collect
from riggs.store import Store, SyncReport
from riggs.template_states import Change
from riggs.trust_config import TrustConfig, from_section
from riggs.trust_store import RefreshReport, refresh
from riggs.upkeep import upkeep


@dataclass(frozen=True, slots=True)
class Observed:
    """What one round came to."""

    sync: SyncReport
    sources: tuple[SourceReport, ...]
    trust: RefreshReport
    changes: tuple[Change, ...]


def trust_config_of(config: configuration.Config) -> TrustConfig:
    """Return the `[trust]` table of a workspace's configuration.

    Raises:
        RiggsError: A key or value can't be used.
    """
    return from_section(config.section("trust"), _where(config, "trust"))


def observe(store: Store, now: datetime | None = None, only: tuple[str, ...] = ()) -> Observed:
    """Do one round.

    Args:
        store: riggs' store of the workspace.
        now: Moment of judging, aware UTC.
        only: Names of the sources to read; none = all enabled ones.

    Raises:
        LackpyError: The configuration or the store can't be used.
    """
    now = now or datetime.now(UTC)
    config = configuration.load(store.workspace)
    trust = trust_config_of(config)
    sources = sources_of(store.workspace, config.section("sources"), _where(config, "sources"))
    if only:
        sources = [source for source in sources if source.name in only]
    done = upkeep(store, now=now)
    reports = collect(store.traces, sources)
    with store.write() as con:
        refreshed = refresh(con, trust, now)
    return Observed(done.sync, tuple(reports), refreshed, done.changes)


def _where(config: configuration.Config, section: str) -> str:
    return f"{config.path}: [{section}]" if config.path else f"[{section}]"
