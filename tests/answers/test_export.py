"""Answers exported to pandas, Polars, DuckDB, Arrow and files are the same table everywhere."""

import datetime as dt
import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from discreet.answers.answer import Answer, AnswerColumn
from discreet.answers.quantity import NoisyInteger, PublicValue, linear
from discreet.core.errors import BadParameter, MissingExtra, Refusal
from tests.curator.answers import days, single, wards

ANSWERS = {"wards": wards, "days": days, "single": single, "comparison": lambda: wards()["n"] > 50}


def plain(rows):
    """Return rows of Python values, with what pandas writes for a missing one as None."""
    return [[None if value is pd.NA or value is pd.NaT else value for value in row] for row in rows]


@pytest.fixture(params=ANSWERS, ids=str)
def answer(request):
    return ANSWERS[request.param]()


def test_every_way_out_holds_the_same_table(answer, tmp_path):
    rows = [list(row.values()) for row in answer]
    names = list(next(iter(answer)))
    relation = duckdb.sql("FROM answer")
    assert (relation.columns, plain(relation.fetchall())) == (names, rows)
    table = answer.to_arrow()
    assert (table.column_names, plain(zip(*table.to_pydict().values(), strict=True))) == (names, rows)
    frame = answer.to_polars()
    assert (frame.columns, plain(frame.rows())) == (names, rows)
    panda = answer.to_pandas()
    assert (list(panda.columns), plain(panda.astype(object).values.tolist())) == (names, rows)
    answer.to_parquet(tmp_path / "a.parquet")
    assert parquet.read_table(tmp_path / "a.parquet").equals(table)
    answer.to_csv(tmp_path / "a.csv")
    kinds = {name: str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)}
    again = duckdb.read_csv(str(tmp_path / "a.csv"), dtype=kinds)
    assert plain(again.fetchall()) == rows


def test_integers_stay_integers_and_days_stay_days():
    assert wards().to_arrow().schema.field("n").type == pa.int64()
    assert wards().to_polars().schema["n_low"] == pl.Int64
    assert str(wards().to_pandas()["n"].dtype) == "int64"
    assert days().to_arrow().schema.field("day").type == pa.date32()
    assert days().to_polars()["day"].to_list()[1] == dt.date(2024, 2, 29)
    assert (wards()["n"] > 5).to_arrow().schema.field("n > 5").type == pa.bool_()


def test_integers_beyond_64_bits_keep_every_digit():
    huge = Answer(
        keys=(), rows=[()], columns=[AnswerColumn("n", [linear(NoisyInteger("a", 10**30 + 1, "laplace", Fraction(2)))])]
    )
    assert duckdb.sql("SELECT n::VARCHAR FROM huge").fetchall() == [(str(10**30 + 1),)]
    assert huge.to_pandas()["n"][0] == 10**30 + 1


def test_what_is_not_known_is_missing():
    gap = Answer(keys=("k",), rows=[(1,), (2,)], columns=[AnswerColumn("x", [PublicValue(None), PublicValue(2.5)])])
    assert gap.to_polars()["x"].to_list() == [None, 2.5]
    whole = Answer(keys=("k",), rows=[(1,), (2,)], columns=[AnswerColumn("x", [PublicValue(None), PublicValue(2)])])
    assert str(whole.to_pandas()["x"].dtype) == "Int64"


def test_an_answer_without_rows_keeps_its_columns():
    empty = Answer(keys=("k",), rows=[], columns=[AnswerColumn("n", [])])
    assert empty.to_polars().columns == ["k", "n", "n_low", "n_high"]
    assert len(empty.to_pandas()) == 0
    assert "k" in str(empty)
    assert empty._repr_html_().count("<tr>") == 1


def test_names_with_quotes_and_keys_with_anything_arrive_as_they_are():
    odd = Answer(
        keys=('a "key"',),
        rows=[("x'; DROP--\n",), ("é✓",)],
        columns=[AnswerColumn("n", [PublicValue(1), PublicValue(2)])],
    )
    assert odd.to_polars()['a "key"'].to_list() == ["x'; DROP--\n", "é✓"]


def test_neither_pyarrow_nor_pandas_is_needed():
    script = """
import sys, json
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "polars", "pyarrow", "matplotlib"):
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
from dataclasses import replace
from fractions import Fraction
from discreet.core.errors import MissingExtra
from discreet.answers.answer import Answer, AnswerColumn
from discreet.answers.quantity import NoisyInteger, linear
import duckdb
answer = Answer(keys=(), rows=[()], columns=[AnswerColumn("n", [linear(NoisyInteger("a", 5, "laplace", Fraction(1)))])])
answer._repr_html_(), str(answer), answer.explain()
fixes = []
for way in (answer.to_pandas, answer.to_polars, answer.to_arrow, answer.plot):
    try:
        way()
    except MissingExtra as refusal:
        fixes.append(refusal.fix)
print(json.dumps([duckdb.sql("FROM answer").fetchall(), fixes]))
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    rows, fixes = json.loads(ran.stdout)
    assert rows == [[5, 2, 8]]
    assert fixes == ["pip install pandas", "pip install polars", "pip install pyarrow", "pip install 'discreet[plot]'"]


@pytest.mark.parametrize("way", ["to_csv", "to_parquet"])
def test_a_folder_that_is_not_there_is_refused(way, tmp_path):
    with pytest.raises(BadParameter, match="use a folder that exists"):
        getattr(wards(), way)(tmp_path / "nowhere" / "a.file")


def test_a_path_with_a_quote_is_a_path(tmp_path):
    wards().to_csv(tmp_path / "it's.csv")
    assert (tmp_path / "it's.csv").read_text(encoding="utf-8").startswith("ward,n,n_low,n_high")


def test_a_missing_package_is_a_refusal():
    assert issubclass(MissingExtra, ImportError)


def test_integers_beyond_128_bits_leave_as_floats(tmp_path):
    values = [2**63 - 1, -(2**63)], [2**63, 0], [2**127 - 1, -(2**127)], [2**127, 7], [-(10**60), None]
    columns = [AnswerColumn(f"c{at}", tuple(map(PublicValue, pair)), kind="count") for at, pair in enumerate(values)]
    answer = Answer(keys=("key",), rows=((1,), (2,)), columns=tuple(columns), loss=None, asked={}, unit="", notes=())
    table = answer.to_arrow()
    assert table["c1"].to_pylist() == [2**63, 0]
    assert table["c3"].to_pylist() == [float(2**127), 7.0]
    assert table["c4"].to_pylist() == [-1e60, None]
    assert answer.to_pandas()["c3"].tolist() == [float(2**127), 7.0]
    answer.to_parquet(tmp_path / "answer.parquet")
    answer.to_csv(tmp_path / "answer.csv")


def test_csv_keeps_numbers_and_puts_an_apostrophe_before_what_a_spreadsheet_would_run(tmp_path):
    answer = wards()
    odd = replace(answer, rows=(("=cmd|' /C calc'!A0",), *answer.rows[1:]))
    odd.to_csv(tmp_path / "a.csv")
    odd.to_parquet(tmp_path / "a.parquet")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[1].startswith("'=cmd")
    assert not any("'" in line for line in lines[2:])
    first = duckdb.sql(f"SELECT * FROM '{tmp_path / 'a.parquet'}'").fetchall()[0]
    assert first[0].startswith("=cmd")


def test_keys_in_text_and_html_do_not_steer(tmp_path):
    answer = wards()
    odd = replace(answer, rows=(("\x1b[2J\u202e<b>",), *answer.rows[1:]))
    for shown in (str(odd), odd._repr_html_()):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "\\x1b[2J" in shown
    assert "<b>" not in odd._repr_html_()


@pytest.mark.parametrize("way", ["to_csv", "to_parquet"])
def test_a_vault_is_not_written_over_and_a_link_not_followed(tmp_path, way):
    (tmp_path / "v.discreet").write_bytes(b"SQLite format 3\0")
    (tmp_path / "link").symlink_to(tmp_path / "v.discreet")
    for name in ("v.discreet", "link"):
        with pytest.raises(Refusal):
            getattr(wards(), way)(tmp_path / name)
    assert (tmp_path / "v.discreet").read_bytes() == b"SQLite format 3\0"
