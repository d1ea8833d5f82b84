"""Traces: the record, the journal that acknowledges it, and the store that it ends up in."""
