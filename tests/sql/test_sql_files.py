"""Every shipped SQL file keeps the promise of its header."""

from __future__ import annotations

import re

import duckdb
import pytest

from lackpy import resources, sqlfiles
from lackpy.sqlfiles import SqlFileError, load, migrations, names, parse, quote_identifier, statement
from lackpy.traces.store import empty

GOOD = """\
-- name: topic/sample
-- description: Counts
--     things.
-- grain: one row
-- reads: traces, feedback
-- identifiers:
--   source = traces
-- params:
--   $least INTEGER rows, >= 1
--     or more
-- returns:
--   n BIGINT rows
select count(*) as n from {{ source | identifier }} having count(*) >= $least
"""

# What shipped statements read in databases of other tools, attached under the first part of the name.
FOREIGN = {
    "blq.attempts": "id uuid, session_id varchar, timestamp timestamp, cmd varchar, source_name varchar, "
    "source_type varchar, format_hint varchar, git_commit varchar",
    "blq.outcomes": "attempt_id uuid, exit_code integer, signal integer, timeout boolean, duration_ms bigint, "
    "completed_at timestamp",
    "blq.invocations": "id uuid, session_id varchar, timestamp timestamp, cmd varchar, source_name varchar, "
    "source_type varchar, format_hint varchar, git_commit varchar, exit_code integer, duration_ms bigint",
    "blq.events": "invocation_id uuid, severity varchar",
}


@pytest.fixture(scope="module")
def store():
    with empty() as connection:
        for database in {name.split(".")[0] for name in FOREIGN}:
            connection.execute(f"attach ':memory:' as {database}")
        for name, columns in FOREIGN.items():
            connection.execute(f"create table {name} ({columns})")
        yield connection


@pytest.mark.parametrize("name", names())
def test_header_matches_statement(name: str, store: duckdb.DuckDBPyConnection) -> None:
    """Parameters and result columns are those that the statement really has."""
    file = load(name)
    found = store.extract_statements(statement(name))
    assert len(found) == 1, "one statement a file"
    assert found[0].named_parameters == {f.name for f in file.params}
    assert file.grain.startswith("one row")
    values = {f.name: None for f in file.params}
    if found[0].type == duckdb.StatementType.SELECT:
        result = store.sql(statement(name), params=values)
        assert [(f.name, f.type) for f in file.returns] == [
            (column, str(kind)) for column, kind in zip(result.columns, result.types, strict=True)
        ]
        assert all(f.meaning for f in file.returns)
    else:
        assert [(f.name, f.type) for f in file.returns] in ([], [("Count", "BIGINT")])
        store.begin()
        try:
            store.execute("explain " + statement(name), values)
        finally:
            store.rollback()


@pytest.mark.parametrize("name", names())
def test_reads_names_real_relations(name: str, store: duckdb.DuckDBPyConnection) -> None:
    """Every relation in `reads` exists and is mentioned."""
    tables = store.execute(
        "select table_name from information_schema.tables where table_catalog = 'memory'"
    ).fetchall()
    known = {row[0] for row in tables} | FOREIGN.keys()
    for relation in load(name).reads:
        assert relation in known
        assert re.search(rf"\b{relation}\b", statement(name).split("-- returns:")[1])


@pytest.mark.parametrize("name", names("audits"))
def test_audits_of_an_empty_store_return_nothing(name: str, store: duckdb.DuckDBPyConnection) -> None:
    assert store.execute(statement(name)).fetchall() == []


def test_json_files_are_read_with_explicit_columns() -> None:
    """No shipped SQL infers the type of a JSON field from a sample."""
    for path in resources.folder("sql").rglob("*.sql"):
        text = path.read_text(encoding="utf-8").lower()
        for call in re.findall(r"read_(?:nd)?json(?:_auto|_objects)?\s*\(.*?\)", text, re.DOTALL):
            assert "columns" in call, path.name
        assert "read_json_auto" not in text, path.name


def test_migrations_have_headers_and_unique_numbers() -> None:
    for change in migrations():
        assert change.text.startswith(f"-- name: schema/{change.name}\n-- description: "), change.name
    numbers = [change.name.split("_")[0] for change in migrations()]
    assert len(set(numbers)) == len(numbers)


def test_header_is_read() -> None:
    file = parse("topic/sample", GOOD)
    assert file.description == "Counts things."
    assert file.reads == ("traces", "feedback")
    assert [(f.name, f.type, f.meaning) for f in file.params] == [("least", "INTEGER", "rows, >= 1 or more")]
    assert [(f.name, f.type) for f in file.returns] == [("n", "BIGINT")]


def test_identifiers_are_rendered_quoted_and_checked() -> None:
    file = parse("topic/sample", GOOD)
    assert 'from "traces" having' in file.render()
    assert 'from "odd ""t""" having' in file.render(source='odd "t"')
    with pytest.raises(SqlFileError, match="has no identifier 'table'; its header declares source"):
        file.render(table="x")


def test_undeclared_identifier_in_the_text_is_an_error() -> None:
    file = parse("topic/sample", GOOD.replace("{{ source", "{{ sauce"))
    with pytest.raises(SqlFileError, match="'sauce' is undefined"):
        file.render()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("-- grain: one row\n", ""), "the header lacks '-- grain:'"),
        (
            ("topic/sample\n", "topic/other\n"),
            "the header's name is 'topic/other', the path's is 'topic/sample'",
        ),
        (("--   n BIGINT rows", "--   n"), "header entry 'n' must read 'name TYPE meaning'"),
        (("--   $least", "--   least"), r"must read '\$name TYPE meaning'"),
        (("-- reads:", "-- Reads"), "is neither '-- key: …' nor an indented entry"),
        (("source = traces", "source"), "must read 'name = value'"),
    ],
)
def test_wrong_header_is_one_sentence(change: tuple[str, str], message: str) -> None:
    with pytest.raises(SqlFileError, match=message):
        parse("topic/sample", GOOD.replace(*change))


def test_header_keys_keep_their_order() -> None:
    text = GOOD.replace("-- grain: one row\n", "").replace("-- params:", "-- grain: one row\n-- params:")
    with pytest.raises(SqlFileError, match="header keys must stand in the order"):
        parse("topic/sample", text)


@pytest.mark.parametrize("name", ["no/such", "../schema/001_traces", "Topic/x", ""])
def test_unknown_file_is_one_sentence(name: str) -> None:
    with pytest.raises(SqlFileError, match=r"is missing; known:|is no SQL file's name"):
        load(name)


@pytest.mark.parametrize("name", ["", "a..b", "a\0b"])
def test_unusable_identifier_is_refused(name: str) -> None:
    with pytest.raises(SqlFileError, match="is no usable identifier"):
        quote_identifier(name)


def test_doctests_hold() -> None:
    import doctest

    from lackpy.traces import clean, ids, store

    for module in (sqlfiles, clean, ids, store):
        result = doctest.testmod(module)
        assert result.attempted > 0
        assert result.failed == 0
