"""The base of every exception riggs raises on purpose: its text is one clear sentence for the user."""

from __future__ import annotations

from lackpy.errors import LackpyError


class RiggsError(LackpyError):
    """What went wrong, where, and what to do."""


class SourceError(RiggsError):
    """A source is there but can't be read now; ingest goes on with the others and says so."""
