"""Homes: the engine of a source tells about it, and only engines that can reach the same rows compare them."""

import pytest

import discreet as dp
from discreet.engines.duckdb import source as files
from discreet.engines.postgres import source as database
from discreet.engines.source import home_of, same
from discreet.engines.spark import source as spark

FILES, DATABASE, FAR = dp.parquet("a"), dp.postgres("t", "postgresql://host/db"), dp.spark("s3a://bucket/visits")


def test_the_home_of_a_source_is_its_engines_own_module():
    assert [home_of(source) for source in (FILES, DATABASE, FAR)] == [files, database, spark]


@pytest.mark.parametrize(("one", "other"), [(FILES, DATABASE), (DATABASE, FAR), (FAR, DATABASE), (DATABASE, FILES)])
def test_a_database_shares_no_rows_with_files_and_is_asked_nothing(one, other):
    assert not same(one, other)


@pytest.mark.parametrize(("one", "other"), [(FILES, FAR), (FAR, FILES)])
def test_spark_tells_of_the_files_that_duckdb_reads(monkeypatch, one, other):
    asked = []
    monkeypatch.setattr(spark, "same", lambda mine, theirs: asked.append((mine, theirs)) or True)
    assert same(one, other)
    assert asked == [(FAR, FILES)]
