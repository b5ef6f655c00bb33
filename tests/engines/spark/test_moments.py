"""Moments in milliseconds: none of them, however far away, makes Spark fail."""

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.core.errors import BadParameter
from discreet.engines.spark import source as home
from discreet.engines.spark.engine import SparkEngine
from discreet.engines.spark.options import spark
from tests.spark import INTERPRETED, MASTER, opened

pytestmark = pytest.mark.xdist_group("spark")

SECRET = b"s" * 32
FAR = [9_300_000_000_000_000, -9_300_000_000_000_000, (1 << 63) - 1, -(1 << 63) + 1]


@pytest.fixture(scope="module")
def ours():
    with opened(SECRET, settings=INTERPRETED) as engine:
        yield engine


def written(file, unit, values):
    """Write one file with a moment of each kind, which looks a minute old, so that nobody waits for clocks."""
    columns = {f"{unit} {zone}": pa.array(values, pa.int64()).cast(pa.timestamp(unit, zone)) for zone in (None, "UTC")}
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({**columns, "n": pa.array(range(len(values)))}), file)
    os.utime(file, (file.stat().st_mtime - 60,) * 2)


@pytest.mark.parametrize("unit", ["ms", "us"])
def test_a_moment_beyond_all_others_is_the_last_one_and_no_error(ours, tmp_path, unit):
    day = 86_400_000 * (1 if unit == "ms" else 1000)
    written(tmp_path / "t" / "a.parquet", unit, [0, -1, 3 * day, None, *FAR])
    source = home.settle(spark(tmp_path / "t", master=MASTER))
    assert set(home.describe(source).values()) == {"TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "BIGINT"}
    with SparkEngine([source], SECRET) as engine:
        days = ", ".join(f"unix_date(try_cast(`{unit} {zone}` AS DATE))" for zone in (None, "UTC"))
        rows = engine.rows(f"SELECT {days}, n FROM {home.from_sql(source)} ORDER BY n")
    assert [row[:2] for row in rows[:4]] == [(0, 0), (-1, -1), (3, 3), (None, None)]
    assert all(abs(row[0]) > 100_000 and row[0] == row[1] for row in rows[4:])


def test_files_that_count_moments_in_different_units_are_refused(ours, tmp_path):
    for name, unit in (("a", "ms"), ("b", "us")):
        file = tmp_path / "t" / f"{name}.parquet"
        written(file, unit, [0])
        pq.write_table(pq.read_table(file).rename_columns(["x", "y", "n"]), file)
        os.utime(file, (file.stat().st_mtime - 60,) * 2)
    with pytest.raises(BadParameter, match="write all files of one table with one schema"):
        home.describe(home.settle(spark(tmp_path / "t", master=MASTER)))


def test_a_catalog_table_of_milliseconds_is_refused_by_its_schema(ours, tmp_path):
    written(tmp_path / "t" / "a.parquet", "ms", [0])
    ours._session.sql(f"CREATE TABLE coarse USING parquet LOCATION '{tmp_path / 't'}'")
    try:
        with pytest.raises(BadParameter, match="register its folder"):
            home.describe(spark("coarse", catalog=True, master=MASTER))
    finally:
        ours._session.sql("DROP TABLE coarse")


def test_a_view_of_the_catalog_is_refused(ours, tmp_path):
    written(tmp_path / "t" / "a.parquet", "us", [0])
    ours._session.sql(f"CREATE TABLE stored USING parquet LOCATION '{tmp_path / 't'}'")
    ours._session.sql("CREATE VIEW computed AS SELECT 1 / n AS n FROM stored")
    try:
        assert "n" in home.describe(spark("stored", catalog=True, master=MASTER))
        with pytest.raises(BadParameter, match="it is a view"):
            home.describe(spark("computed", catalog=True, master=MASTER))
    finally:
        ours._session.sql("DROP VIEW computed")
        ours._session.sql("DROP TABLE stored")
