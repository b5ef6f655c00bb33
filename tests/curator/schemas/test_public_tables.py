"""Public tables of a vault: how they are registered and joined, their versions, and what is refused."""

import datetime as dt
import itertools
import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dp
from discreet.account.budgets.price import Price
from discreet.ask.request import AskTerms, DeskRequest
from discreet.ask.verbs.request_text import read_request, request_text
from discreet.core.errors import BadParameter, UnknownName
from discreet.curator.curator import Curator
from discreet.engines.source import SourceChanged
from discreet.ledger.refusals import Conflict
from tests.curator.questions import PLENTY, answered

LINES = {"id": [1, 1, 2, 3, 4], "part": [1, 2, 2, 9, None], "n": [1, 2, 3, 4, 5]}
PARTS = {"partkey": [1, 2, 3], "type": ["A", "B", "C"], "price": [1.25, 20, None]}
OFFERS = [{"partkey": 1, "sup": 1}, {"partkey": 2, "sup": 1}, {"partkey": 2, "sup": 2}]
COLUMNS = {"part": dp.between(1, 100), "n": dp.between(0, 9)}

_vaults = itertools.count()


def vault_of(folder):
    curator = Curator(folder / f"public{next(_vaults)}.discreet")
    curator.register("lines", LINES, unit=dp.person("id", max_rows=5), columns=COLUMNS, budget=PLENTY)
    return curator


def session_of(curator):
    return curator.session(curator.grant("alice", "lines"))


def exactly(report):
    """The numbers of an answer without noise to speak of."""
    (answer,) = answered(report.asked(epsilon=10**5))
    return [tuple(map(round, [*row.values()][1::3])) for row in answer]


@pytest.fixture
def curator(tmp_path):
    with vault_of(tmp_path) as found:
        yield found


def by_type(session):
    joined = session.table("lines").join(session.public("part"), on={"part": "partkey"})
    return joined.group_by("type").agg(n=dp.count(), s=dp.sum("n"))


def written(folder, name="part", rows="1,A\n2,B\n3,C\n"):
    (folder / f"{name}.csv").write_text(f"partkey,type\n{rows}")
    return folder / f"{name}.csv"


FRAMES = {
    "columns": PARTS,
    "rows": [dict(zip(PARTS, row, strict=True)) for row in zip(*PARTS.values(), strict=True)],
    "pandas": pd.DataFrame(PARTS).astype({"price": "string"}),
    "polars": pl.DataFrame(PARTS | {"price": ["1.25", "20", None]}),
    "arrow": pa.table(PARTS | {"price": ["1.25", "20", None]}),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_public_table_of_any_kind_is_joined_in_the_engine(curator, frame):
    found = curator.register_public("part", frame, key="partkey")
    assert {
        name: repr(column.bounds or column.keys)
        for name, column in zip(found.dimension.names, found.dimension.columns, strict=True)
    } == {
        "partkey": "(Fraction(1, 1), Fraction(3, 1))",
        "type": "('A', 'B', 'C')",
        "price": "(Fraction(5, 4), Fraction(20, 1))",
    }
    session = session_of(curator)
    assert session.public_tables() == curator.public_tables() == ["part"]
    assert exactly(by_type(session)) == [(1, 1), (2, 5), (0, 0)]


def test_sql_joins_it_by_its_name_and_asks_the_same_question(curator):
    curator.register_public("part", PARTS, key="partkey")
    session = session_of(curator)
    text = "SELECT type, COUNT(*) AS n, SUM(n) AS s FROM lines JOIN part ON lines.part = part.partkey GROUP BY type"
    first = session.sql(text, epsilon=10**4)
    assert [round(row["n"]) for row in first] == [1, 2, 0]
    assert by_type(session).release(epsilon=10**4).receipt["replayed"]
    shown = session.preview_sql(text, epsilon=1, sql=True)
    assert '"part" is <the rows of part, every value read as declared>' in str(shown)


def test_a_declared_fan_out_multiplies_rows_and_people_are_bounded_after_it(curator):
    found = curator.register_public("offers", OFFERS, key=("partkey", "sup"), fan_out={"partkey": 2})
    assert "up to 2 rows for each partkey, one row for each partkey and sup" in repr(found)
    session = session_of(curator)
    lines = session.table("lines").join(session.public("offers"), on={"part": "partkey"})
    assert exactly(lines.agg(s=dp.sum("n"), n=dp.count())) == [(11, 5)]
    assert "joined with offers: at most 2 rows for each, and people are bounded after it" in str(
        lines.count().preview(epsilon=1)
    )
    with pytest.raises(BadParameter, match="how many rows share a value of sup"):
        session.table("lines").join(session.public("offers"), on={"n": "sup"})


def test_a_refresh_is_another_question_and_a_change_is_noticed(curator, tmp_path):
    path = written(tmp_path)
    curator.register_public("part", path, key="partkey")
    session = session_of(curator)
    asked = by_type(session)
    first = asked.release(epsilon=10**4)
    assert by_type(session).release(epsilon=10**4).receipt["replayed"]
    written(tmp_path, rows="1,B\n2,B\n4,C\n")
    with pytest.raises(SourceChanged, match="the source of 'part' changed"):
        by_type(session).release(epsilon=10**4)
    found = curator.refresh_public("part")
    assert (found.version, found.dimension.columns[0].bounds[1]) == (2, 4)  # what is read off the rows is read again
    with pytest.raises(BadParameter, match="registered or refreshed anew"):
        asked.release(epsilon=10**4)
    again = by_type(session).release(epsilon=10**4)
    assert not again.receipt["replayed"]
    assert again.receipt["key"] != first.receipt["key"]
    assert [round(row["n"]) for row in again] == [3, 0]


def test_the_version_of_a_public_table_is_part_of_the_question_even_where_nothing_else_changes(curator, tmp_path):
    path = written(tmp_path)
    columns = {"partkey": dp.between(1, 9), "type": dp.one_of("A", "B", "C")}
    curator.register_public("part", path, key="partkey", columns=columns)
    session = session_of(curator)
    first = by_type(session).release(epsilon=10**4)
    written(tmp_path, rows="1,C\n2,C\n")
    curator.refresh_public("part")
    again = by_type(session).release(epsilon=10**4)
    assert again.receipt["key"] != first.receipt["key"]
    assert [round(row["n"]) for row in again] == [0, 0, 3]


def test_what_a_request_says_of_a_public_table_is_what_the_vault_says(curator):
    curator.register_public("offers", OFFERS, fan_out={"partkey": 2})
    session = session_of(curator)
    asked = session.table("lines").join(session.public("offers"), on={"part": "partkey"}).count()
    text = request_text(DeskRequest("ask", asked, AskTerms(), Price.of(1, None, None)))
    assert read_request(text, session.desk)
    for old, new in (
        ('"reuses": [[["partkey"], 2]]', '"reuses": [[["partkey"], 1]]'),
        ('"offers"', '"lines"'),
        ('"version": 1', '"version": 2'),
    ):
        record = json.dumps(json.loads(text))
        assert old in record
        with pytest.raises((BadParameter, UnknownName)):
            session.desk.run(read_request(record.replace(old, new), session.desk))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("1,A\n1,B\n2,C\n", "1 of its values is in more than one row, at most in 2"),
        ("1,A\n1,A\n1,A\n2,A\n2,B\n", "2 of its values are in more than one row, at most in 3"),
    ],
)
def test_a_key_that_is_not_unique_is_refused(curator, tmp_path, rows, said):
    path = written(tmp_path, rows=rows)
    with pytest.raises(Conflict, match=said) as refused:
        curator.register_public("part", path, key="partkey")
    assert "fan_out={'partkey': " in refused.value.fix
    written(tmp_path)
    curator.register_public("part", path, key="partkey")
    written(tmp_path, rows=rows)
    with pytest.raises(Conflict, match=said):
        curator.refresh_public("part")
    assert curator.public_table("part").version == 1


def test_rows_without_a_key_are_told_to_the_custodian(curator, tmp_path):
    found = curator.register_public("part", written(tmp_path, rows="1,A\n,B\n,C\n"), key="partkey")
    assert found.notes == ("2 rows have no value of partkey, and are never joined by it",)


def test_keys_outside_declared_bounds_would_be_others(curator):
    frame, columns = pl.DataFrame({"partkey": [1, 2, 300]}), {"partkey": dp.between(1, 100)}
    with pytest.raises(BadParameter, match="go from 1 to 300, and clamped they would be other keys"):
        curator.register_public("part", frame, key="partkey", columns=columns)


def test_columns_are_read_off_texts_that_spell_numbers_or_days_throughout(curator):
    rows = {
        "k": ["1", "2"],
        "a": ["1.5", "-20"],
        "b": ["007", "8"],
        "c": ["2020-02-29", None],
        "d": ["x", "1"],
        "e": [True, False],
        "f": [None, None],
    }
    found = curator.register_public("part", rows, key="k").dimension
    kinds = {column.name: column.kind for column in found.columns}
    assert kinds == {"k": "number", "a": "number", "b": "category", "c": "date", "d": "category", "e": "number"}
    days = dt.date(2020, 2, 29), dt.date(2020, 2, 29)
    assert next(each.bounds for each in found.columns if each.name == "c") == days


@pytest.mark.parametrize(
    ("source", "terms", "error", "said"),
    [
        (PARTS, {}, BadParameter, "without a key nothing bounds"),
        (PARTS, {"key": "partkeys"}, UnknownName, "did you mean 'partkey'"),
        (PARTS, {"key": ()}, BadParameter, "one or more columns"),
        (PARTS, {"fan_out": 3}, BadParameter, "not said of which columns"),
        (PARTS, {"fan_out": {"partkey": 0}}, BadParameter, "positive integer"),
        (PARTS, {"key": "partkey", "columns": {"typ": dp.text()}}, UnknownName, "did you mean 'type'"),
        (PARTS, {"key": "partkey", "columns": {"type": dp.text()}}, UnknownName, "column of part"),
        (5, {"key": "partkey"}, BadParameter, "rows come from a file or a data frame"),
        (pl.DataFrame({"partkey": [0.5]}), {"key": "partkey"}, BadParameter, "no resolution of their own"),
        (LINES, {"key": "id"}, Conflict, "those of 'lines', which are protected"),
    ],
)
def test_what_is_no_public_table_is_refused(curator, source, terms, error, said):
    with pytest.raises(error, match=said):
        curator.register_public("part", source, **terms)
    assert curator.public_tables() == []


def test_rows_are_either_public_or_protected_and_a_name_is_one_tables(curator, tmp_path):
    path, unit = written(tmp_path), dp.person("partkey", max_rows=1)
    curator.register_public("part", path, key="partkey")
    with pytest.raises(Conflict, match="registered as public"):
        curator.register("more", path, unit=unit, columns={"type": dp.text()}, budget=PLENTY)
    with pytest.raises(BadParameter, match="a public table has that name"):
        curator.register("part", {"partkey": [7]}, unit=unit, columns={"partkey": dp.between(0, 9)}, budget=PLENTY)
    with pytest.raises(BadParameter, match="a private table has that name"):
        curator.register_public("lines", PARTS, key="partkey")
    with pytest.raises(BadParameter, match="use refresh_public"):
        curator.refresh("part")
    with pytest.raises(UnknownName):
        session_of(curator).table("part")


def test_to_register_the_same_again_changes_nothing(curator, tmp_path):
    path = written(tmp_path)
    for source in (path, PARTS):
        name = "part" if source is path else "again"
        first = curator.register_public(name, source, key="partkey")
        assert curator.register_public(name, source, key="partkey").revision == first.revision
        with pytest.raises(Conflict, match="another declaration"):
            curator.register_public(name, source, fan_out={"partkey": 2})
        with pytest.raises(Conflict, match="another source"):
            curator.register_public(name, {"partkey": [8]}, key="partkey")


def test_a_vault_that_is_opened_again_knows_its_public_tables(curator):
    found = curator.register_public("part", PARTS, key="partkey")
    with Curator(curator.path) as again:
        assert again.public_table("part") == found
        assert exactly(by_type(session_of(again))) == [(1, 1), (2, 5), (0, 0)]


def test_rows_of_another_engine_are_not_joined(curator, tmp_path, monkeypatch):
    curator.register_public("part", written(tmp_path), key="partkey")
    session = session_of(curator)
    asked = by_type(session)
    monkeypatch.setattr("discreet.ask.public_table.PublicTable.engine", "spark")
    with pytest.raises(BadParameter, match=r"lines in duckdb, part in spark\), and no row is copied") as refused:
        asked.preview(epsilon=1)
    assert "register them all in one engine" in refused.value.fix
