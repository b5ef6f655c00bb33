"""Tests of copies: what is read, what counts as equal, and whose a row is."""

import datetime as dt

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from discreet.core.errors import BadParameter, UnknownName
from discreet.lab import rand
from discreet.lab.table_copy import TableCopy

TABLE = {"who": [1, 1, 2, 3], "town": ["A", None, "A", "B"], "age": [30.0, float("nan"), 30.0, 41.0]}


@pytest.mark.parametrize("made", [dict, pd.DataFrame, pa.table], ids=["dict", "pandas", "arrow"])
def test_every_kind_of_table_is_copied_with_its_missing_values(made):
    copied = TableCopy.read(made(TABLE), identifier="who")
    assert copied.rows == 4
    assert copied.attributes == ("town", "age")
    assert [each if isinstance(each, str) else None for each in copied.column("town")] == ["A", None, "A", "B"]
    assert copied.codes(["age"])[1] not in copied.codes(["age"])[[0, 2, 3]]


def test_files_are_read_by_their_endings(tmp_path):
    pd.DataFrame({"day": [dt.date(2020, 1, 2), None], "x": [1, 2]}).to_csv(tmp_path / "days.csv", index=False)
    days = TableCopy.read(tmp_path / "days.csv")
    assert days.name == "days"
    assert days.rows == 2
    assert days.column("day")[1] is None
    assert TableCopy.read(rand.path()).rows == rand.ROWS


def test_codes_are_equal_exactly_where_all_columns_agree():
    copied = TableCopy.read({"a": [1, 1, 2, 2], "b": ["x", "y", "x", "x"]})
    codes = copied.codes(["a", "b"])
    assert codes[2] == codes[3]
    assert len(set(codes.tolist())) == 3
    assert copied.codes([]).tolist() == [0, 0, 0, 0]


def test_codes_of_many_columns_do_not_overflow():
    columns = {f"c{place}": np.arange(1000) for place in range(12)}  # a thousand to the twelfth if multiplied out
    assert len(np.unique(TableCopy.read(columns).codes(list(columns)))) == 1000


def test_a_bit_is_a_value_or_the_commonest():
    copied = TableCopy.read({"town": ["A", "B", "A", None]})
    assert copied.bits("town").tolist() == [1, 0, 1, 0]
    assert copied.bits("town", "B").tolist() == [0, 1, 0, 0]


def test_people_are_the_first_rows_of_each():
    people = TableCopy.read(TABLE, identifier="who").people()
    assert people.column("who").tolist() == [1, 2, 3]
    assert people.column("age").tolist()[0] == 30


def test_what_is_no_table_is_refused(tmp_path):
    (tmp_path / "not.parquet").write_text("text")
    with pytest.raises(BadParameter, match="no such file"):
        TableCopy.read(tmp_path / "absent.csv")
    with pytest.raises(BadParameter, match="cannot be read"):
        TableCopy.read(tmp_path / "not.parquet")
    with pytest.raises(BadParameter, match="same length"):
        TableCopy.read({"a": [1, 2], "b": [1]})
    with pytest.raises(UnknownName, match="towns"):
        TableCopy.read(TABLE).column("towns")
    with pytest.raises(UnknownName, match="value of town"):
        TableCopy.read(TABLE).bits("town", "Z")
    with pytest.raises(UnknownName):
        TableCopy.read(TABLE, identifier="nobody")


def test_a_column_of_lists_is_compared_as_it_is_written(tmp_path):
    path = tmp_path / "nested.parquet"
    duckdb.sql(f"COPY (SELECT [n % 2, NULL] AS pair FROM range(6) AS t(n)) TO '{path}'")
    assert TableCopy.read(path).codes(["pair"]).tolist() == [0, 1, 0, 1, 0, 1]


def test_a_file_whose_lines_end_in_two_ways_is_read_as_text(tmp_path):
    lines = "".join(f'{n},"a\nb"\r\n' for n in range(30_000))
    (tmp_path / "mixed.csv").write_bytes(("id,note\r\n" + lines + "30000,c\n").encode())
    copied = TableCopy.read(tmp_path / "mixed.csv")
    assert (copied.rows, copied.column("id")[-1], copied.column("note")[0]) == (30_001, "30000", "a\nb")


def test_yes_and_no_in_a_file_are_asked_for_as_they_are_written(tmp_path):
    (tmp_path / "clinic.csv").write_text("name,ill,age\nAnn,yes,41\nBob,no,7\n")
    copied = TableCopy.read(tmp_path / "clinic.csv")
    assert copied.bits("ill", "yes").tolist() == [1, 0]
    assert copied.column("age").tolist() == [41, 7]


@pytest.mark.parametrize("first", [2**53, 2**63 - 100, 2**63, 2**64 - 1, 2**90, 10**40])
@pytest.mark.parametrize("missing", [False, True])
def test_huge_identifiers_stay_different_people(tmp_path, first, missing):
    who = [*range(first, first + 200), *([None] if missing else [])]
    place = tmp_path / "huge.csv"
    place.write_text("id,x\n" + "".join(f"{'' if each is None else each},1\n" for each in who))
    assert TableCopy.read(place, identifier="id").people().rows == len(who)
    assert TableCopy.read({"id": who, "x": [1] * len(who)}, identifier="id").people().rows == len(who)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_one_huge_number_among_small_and_missing_ones_merges_nobody(missing):
    copied = TableCopy.read({"id": [2**53, 2**53 + 1, -1, 2**70, missing]}, identifier="id")
    assert copied.people().rows == 5
    assert copied.column("id")[4] is None


@pytest.mark.parametrize("kind", ["UBIGINT", "DECIMAL(38, 0)", "DECIMAL(20, 0)"])
def test_wide_integers_of_parquet_files_stay_different_people(tmp_path, kind):
    place = tmp_path / "huge.parquet"
    with duckdb.connect() as engine:
        rows = f"SELECT CAST({2**63} + i AS {kind}) AS id, 1.5 AS x FROM range(200) AS r(i)"
        engine.execute(f"COPY ({rows}) TO '{place}' (FORMAT parquet)")
    copied = TableCopy.read(place, identifier="id")
    assert copied.people().rows == 200
    assert copied.column("x")[0] == 1.5


def test_identifiers_that_were_made_floats_before_they_came_are_refused(tmp_path):
    place = tmp_path / "huge.parquet"
    with duckdb.connect() as engine:
        engine.execute(f"COPY (SELECT CAST({2**63} + i AS DOUBLE) AS id FROM range(9) AS r(i)) TO '{place}'")
    with pytest.raises(BadParameter, match="several"):
        TableCopy.read(place, identifier="id")
    assert TableCopy.read(place).rows == 9
    assert TableCopy.read({"id": [1.0, 2.0]}, identifier="id").people().rows == 2


def test_amounts_with_fractions_and_large_floats_stay_numbers(tmp_path):
    place = tmp_path / "amounts.csv"
    place.write_text("a,b\n1.5,1e300\n2.5,2\n")
    copied = TableCopy.read(place)
    assert [copied.column(name).dtype.kind for name in ("a", "b")] == ["f", "f"]
