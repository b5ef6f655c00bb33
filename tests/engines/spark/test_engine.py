"""Spark as an engine and a home: what it reads and refuses, how a change is noticed, and what it never says."""

import datetime as dt
import os
import stat
import sys

import duckdb
import pytest

from discreet.core.errors import BadParameter, MissingExtra, Refusal
from discreet.engines.duckdb.options import parquet
from discreet.engines.engine import EngineFailed
from discreet.engines.secret_order import multipliers
from discreet.engines.source import Source, SourceChanged, SourceMissing
from discreet.engines.spark import source as home
from discreet.engines.spark.engine import SparkEngine
from discreet.engines.spark.options import Cluster, spark
from discreet.engines.spark.session import check_java, session
from tests.spark import INTERPRETED, MASTER, opened

pytestmark = pytest.mark.xdist_group("spark")

KEY = b"k" * 32
SECRET = b"s" * 32
ODD = "odd {a,b} [c]* d%20e ü'"


@pytest.fixture(scope="module")
def ours():
    with opened(SECRET) as engine:
        yield engine


def written(path, sql="SELECT 1 AS x"):
    """Write a query as a Parquet file that looks a minute old, so that nobody waits for clocks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({sql}) TO '{str(path).replace(chr(39), chr(39) * 2)}' (FORMAT parquet)")
    aged(path)
    return path


def aged(path):
    then = path.stat().st_mtime - 60
    os.utime(path, (then, then))


def here(path):
    return home.settle(spark(path, master=MASTER))


def read(source, columns="*"):
    with SparkEngine([source], SECRET) as engine:
        return sorted(engine.rows(f"SELECT {columns} FROM {home.from_sql(source)}"), key=repr)


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


def test_numbers_come_back_as_pythons_own(ours):
    huge = 2**126 - 1
    found = ours.rows(f"SELECT CAST({huge} AS DECIMAL(38, 0)), CAST(-5 AS BIGINT), TRUE, 'a', NULL")
    assert found == [(huge, -5, True, "a", None)]
    assert type(found[0][0]) is int
    assert ours.rows("SELECT ? + 1, ?", (2, "${x} \\ '")) == [(3, "${x} \\ '")]


def test_a_failure_has_one_text_and_nothing_is_printed(ours, capfd):
    for statement in ("SELECT CAST('Jane Doe' AS INT)", "SELECT nonsense FROM nowhere", "SELECT 1 /"):
        with pytest.raises(EngineFailed) as refusal:
            ours.rows(statement)
        assert "Jane" not in str(refusal.value)
        assert refusal.value.__cause__ is None
        assert refusal.value.__suppress_context__
    assert str(refusal.value) == str(EngineFailed())
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")


def test_a_file_that_vanishes_is_a_failure_like_any_other(ours, tmp_path):
    file = written(tmp_path / "t" / "a.parquet")
    source = here(tmp_path / "t")
    with SparkEngine([source], SECRET) as engine:
        sql = f"SELECT * FROM {home.from_sql(source)}"
        assert engine.rows(sql) == [(1,)]
        file.unlink()
        with pytest.raises(EngineFailed):
            engine.rows(sql)


def test_rows_are_kept_for_as_long_as_they_are_needed(ours):
    with ours.kept("SELECT id, rand() AS x FROM range(5)") as name:
        assert ours._session.catalog.isCached(name.replace('"', "`"))
        once, again = (ours.rows(f"SELECT CAST(x * 1000000 AS BIGINT) FROM {name} ORDER BY id") for _ in range(2))
        assert once == again
    with pytest.raises(EngineFailed):
        ours.rows(f"SELECT * FROM {name}")


def test_views_end_with_the_engine(tmp_path):
    source = here(written(tmp_path / "a.parquet"))
    engine = SparkEngine([source], SECRET)
    with engine:
        view = home.from_sql(source)
        assert engine.rows(f"SELECT * FROM {view}") == [(1,)]
        inner = engine._session
        bare = view.replace('"', "`")
        assert inner.catalog.tableExists(bare)
    assert not inner.catalog.tableExists(bare)
    with pytest.raises(Refusal, match="closed"):
        engine.rows("SELECT 1")


def test_the_secret_order_is_in_no_plan(capsys):
    sql = 'SELECT id * "~a1" + "~b2" AS k FROM range(3), "~order" WHERE id > -"~b1"'
    first, second = multipliers(SECRET)
    with opened(SECRET, settings={}) as engine:
        assert engine.rows(sql) == [(row * first[1] + second[2],) for row in range(3)]
        frame = engine._session.sql(sql)
        for mode in ("extended", "formatted", "cost"):
            frame.explain(mode)
            explained = capsys.readouterr().out
            assert "ExistingRDD" in explained
            assert "Broadcast" in explained
            assert not [each for each in (*first, *second) if str(each) in explained]


def test_settings_of_ours_hold_in_our_sessions_alone(ours):
    others = session(None)
    others.conf.set("spark.sql.ansi.enabled", "false")
    assert ours._session.conf.get("spark.sql.ansi.enabled") == "true"
    assert ours._session.conf.get("spark.sql.codegen.factoryMode") == INTERPRETED["spark.sql.codegen.factoryMode"]
    assert ours.rows("SELECT '${spark.app.name}'") == [("${spark.app.name}",)]


def test_a_second_spark_is_refused(ours):
    with pytest.raises(Refusal, match="one for each process"):
        home.describe(spark("x", master="spark://elsewhere:7077", catalog=True))


@pytest.mark.parametrize(
    ("master", "why"), [("", "where Spark runs"), (5, "where Spark runs"), ("sc://host", "secret")]
)
def test_a_master_that_cannot_be_is_refused(master, why):
    with pytest.raises(BadParameter, match=why):
        Cluster(master)
    with pytest.raises(BadParameter, match="catalog"):
        Cluster(None, catalog="yes")


def test_sources_are_stored_as_json():
    source = spark("visits", master="yarn", catalog=True)
    assert Source.from_json(source.to_json()) == source
    assert home.from_sql(source) != home.from_sql(spark("visits", catalog=True))


@pytest.mark.parametrize(
    ("said", "found"), [('openjdk version "11.0.2"', "Java 11"), ('java version "1.8.0_392"', "Java 8")]
)
def test_an_old_java_is_refused(tmp_path, monkeypatch, said, found):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(Refusal, match=f"{found} where JAVA_HOME points.*openjdk-17"):
        check_java()


def test_no_java_is_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refusal, match="no Java on the path"):
        check_java()


def test_without_pyspark_the_pip_line_is_given(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyspark"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingExtra, match=r"pip install .discreet\[spark\]"):
        session(None)
