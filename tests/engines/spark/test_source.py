"""What Spark reads and refuses, and how a change is noticed."""

import datetime as dt
import os

import pytest

from discreet.core.errors import BadParameter
from discreet.engines.duckdb.options import parquet
from discreet.engines.source import SourceChanged, SourceMissing
from discreet.engines.spark import source as home
from discreet.engines.spark.options import spark
from tests.engines.spark.sample_files import here, read, written

pytestmark = pytest.mark.xdist_group("spark")

KEY = b"k" * 32
ODD = "odd {a,b} [c]* d%20e ü'"


def test_types_go_by_duckdbs_names(ours, tmp_path):
    kinds = {
        "a": ("TINYINT", "TINYINT"),
        "b": ("USMALLINT", "INTEGER"),
        "c": ("UBIGINT", "DECIMAL(20,0)"),
        "d": ("BIGINT", "BIGINT"),
        "e": ("DECIMAL(9, 2)", "DECIMAL(9,2)"),
        "f": ("FLOAT", "FLOAT"),
        "g": ("DOUBLE", "DOUBLE"),
        "h": ("BOOLEAN", "BOOLEAN"),
        "i": ("VARCHAR", "VARCHAR"),
        "j": ("DATE", "DATE"),
        "k": ("TIMESTAMP", "TIMESTAMP"),
        "l": ("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"),
        "m": ("BLOB", "BLOB"),
        "n": ("INTEGER[]", "ARRAY<INT>"),
    }
    listed = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, (kind, _) in kinds.items())
    written(tmp_path / "t" / "a.parquet", f"SELECT {listed}")
    assert home.describe(here(tmp_path / "t")) == {name: found for name, (_, found) in kinds.items()}


def test_a_folder_is_read_by_the_names_of_its_files_alone(ours, tmp_path):
    folder = tmp_path / ODD
    written(folder / "year=2024" / "one.parquet", "SELECT 1 AS x, 'a' AS y")
    written(folder / "two.pq", "SELECT 2 AS x, 'b' AS y")
    written(folder / "_old.parquet", "SELECT 3 AS x, 'c' AS y")
    (folder / "_SUCCESS").touch()
    source = here(folder)
    assert source.path == str(folder.resolve())
    assert home.describe(source) == {"x": "INTEGER", "y": "VARCHAR"}
    assert read(source) == [(1, "a"), (2, "b")]


def test_a_url_and_a_catalog_table_are_read_as_well(ours, tmp_path):
    folder = tmp_path / "by url"
    written(folder / "one.parquet", "SELECT 7 AS x")
    assert here(folder.as_uri()).path == str(folder)
    ours._session.sql(f"CREATE TABLE cities USING parquet LOCATION '{tmp_path / 'cities'}' AS SELECT 'Bern' AS city")
    try:
        table = home.settle(spark("cities", catalog=True))
        assert home.describe(table) == {"city": "VARCHAR"}
        assert read(table) == [("Bern",)]
        assert home.same(table, here(tmp_path / "cities"))
        assert not home.same(table, here(folder))
        stored = home.fingerprint(table, KEY)
        assert home.check_unchanged("cities", table, stored, KEY) is None
        ours._session.sql("INSERT INTO cities SELECT 'Chur'")
        with pytest.raises(SourceChanged, match="'cities' changed"):
            home.check_unchanged("cities", table, stored, KEY)
    finally:
        ours._session.sql("DROP TABLE cities")


def test_what_is_not_there_is_said_at_registration(ours, tmp_path):
    with pytest.raises(SourceMissing, match="no Parquet files"):
        here(tmp_path / "nowhere")
    with pytest.raises(SourceMissing, match="cannot list"):
        home.settle(spark("no_such_table", catalog=True))
    with pytest.raises(SourceMissing, match="cannot list"):
        home.settle(spark("nosuchscheme://host/folder"))


def test_files_of_different_schemas_are_refused(ours, tmp_path):
    written(tmp_path / "t" / "a.parquet", "SELECT 1 AS x")
    written(tmp_path / "t" / "b.parquet", "SELECT 'one' AS x")
    with pytest.raises(BadParameter, match="differ"):
        home.describe(here(tmp_path / "t"))


def test_a_change_is_noticed_and_named_by_the_table_alone(ours, tmp_path):
    file = written(tmp_path / "t" / "a.parquet")
    source = here(tmp_path / "t")
    stored = home.fingerprint(source, KEY)
    assert home.check_unchanged("visits", source, stored, KEY) is None
    assert stored["digest"] != home.fingerprint(source, b"other" * 6)["digest"]
    written(file, "SELECT 2 AS x, 3 AS y")
    with pytest.raises(SourceChanged, match="'visits' changed") as refusal:
        home.check_unchanged("visits", source, stored, KEY)
    assert str(tmp_path) not in str(refusal.value)
    file.unlink()
    with pytest.raises(SourceMissing, match="'visits' is missing") as gone:
        home.check_unchanged("visits", source, stored, KEY)
    assert str(tmp_path) not in str(gone.value)


def test_a_fresh_file_is_stamped_once_clocks_can_tell_it_from_a_later_one(tmp_path, monkeypatch):
    file = written(tmp_path / "t" / "a.parquet")
    os.utime(file)
    slept = []
    monkeypatch.setattr("discreet.engines.spark.source.time.sleep", slept.append)
    home.fingerprint(here(tmp_path / "t"), KEY)
    assert slept
    assert 0 < slept[0] <= 2


def test_sources_that_share_a_file_are_the_same_whoever_reads_them(tmp_path):
    file = written(tmp_path / "t" / "a.parquet")
    written(tmp_path / "u" / "a.parquet")
    os.link(file, tmp_path / "u" / "linked.parquet")
    one, linked = here(tmp_path / "t"), here(tmp_path / "u")
    assert home.same(one, linked)
    assert home.same(one, parquet(file))
    (tmp_path / "u" / "linked.parquet").unlink()
    assert not home.same(one, linked)


def test_bytes_that_are_not_utf8_are_replaced_so_that_equal_answers_are_equal_texts(ours, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    raw = pa.array([b"a\xffb", b"\xe2\x82", b"\xf0\x9f\x98", b"\xc3\x28", "Zürich 😀".encode(), b""], pa.binary())
    broken = pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())
    (tmp_path / "t").mkdir()
    pq.write_table(pa.table({"x": broken}), tmp_path / "t" / "a.parquet")
    found = {text for (text,) in read(here(tmp_path / "t"))}
    assert found == {"a\ufffdb", "\ufffd", "\ufffd(", "Zürich 😀", ""}


def test_days_before_the_calendar_was_changed_raise_nothing(ours, tmp_path):
    days = [dt.date(1, 1, 1), dt.date(1582, 10, 10), dt.date(9999, 12, 31)]
    listed = ", ".join(f"(DATE '{day}', TIMESTAMP '{day} 00:00:00')" for day in days)
    written(tmp_path / "t" / "a.parquet", f"SELECT * FROM (VALUES {listed}) AS t(d, m)")
    found = read(here(tmp_path / "t"), "unix_date(d), unix_date(CAST(m AS DATE))")
    assert found == sorted([((day - dt.date(1970, 1, 1)).days,) * 2 for day in days], key=repr)
