"""Spark as an engine: exact integers, one text for every failure, and what it never says."""

import pytest

from discreet.core.errors import Refusal
from discreet.engines.engine import EngineFailed, multipliers
from discreet.engines.spark import source as home
from discreet.engines.spark.engine import SparkEngine
from tests.engines.spark.sample_files import SECRET, here, written
from tests.spark import opened

pytestmark = pytest.mark.xdist_group("spark")


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
