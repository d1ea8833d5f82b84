"""The shipped analytics models as rows, and an analyst's own read-only SQL. One place runs them all."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from lackpy import sqlfiles
from riggs.errors import RiggsError

if TYPE_CHECKING:
    import polars as pl

    from riggs.store import Store

DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "savings_daily": {"model_ms": 1_500.0, "model_usd": 0.001},
    "candidates_over_time": {"frequency": 5},
}
"""Parameters of models that take any: a small API model's time and price, and the shipped threshold."""


def models() -> list[str]:
    """Return the analytics models' names."""
    return [name.removeprefix("analytics/") for name in sqlfiles.names("analytics")]


def model(store: Store, name: str, params: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return one model's rows.

    Raises:
        RiggsError: No such model.
        StoreError: The store can't be read.
    """
    if name not in models():
        raise RiggsError(f"no model '{name}'; there are {', '.join(models())}")
    values = {**DEFAULTS.get(name, {}), **(params or {})}
    return store.rows(sqlfiles.statement(f"analytics/{name}"), values)


def frame(store: Store, name: str, params: Mapping[str, Any] | None = None) -> pl.DataFrame:
    """Return one model's rows as a polars data frame, for notebooks and analysts.

    Raises:
        RiggsError: No such model.
        StoreError: The store can't be read.
    """
    import polars as pl  # noqa: PLC0415  # 0.17 s, only analysts pay it

    return pl.DataFrame(model(store, name, params), infer_schema_length=None)


def query(store: Store, text: str) -> list[dict[str, Any]]:
    """Run an analyst's SQL on a connection that can't write.

    Raises:
        RiggsError: DuckDB refuses it; the sentence is DuckDB's.
    """
    import duckdb  # noqa: PLC0415  # loaded with the store

    try:
        with store.read() as connection:
            connection.execute("set enable_external_access = false")
            cursor = connection.execute(text)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=False)) for row in cursor.fetchall()]
    except duckdb.Error as exc:
        raise RiggsError(f"the query was refused: {exc}") from exc


def plain(value: Any) -> Any:
    """Return a cell as JSON holds it: times as ISO 8601 UTC, decimals as numbers."""
    if isinstance(value, datetime):
        return value.isoformat() + ("" if value.tzinfo else "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def plain_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows as JSON holds them."""
    return [{key: plain(value) for key, value in row.items()} for row in rows]
