"""Sources: values that an engine's kinds give their meaning, found by whichever engine knows the words."""

import pytest

import discreet as dp
from discreet.core.errors import BadParameter, UnknownName
from discreet.engines.duckdb.options import Csv
from discreet.engines.source import Source, SourceMissing, locate

SOURCES = [
    dp.csv("a.csv", delimiter=";", names=("a", "b")),
    dp.parquet("a.parquet"),
    dp.postgres("visits", "postgresql://reader@host/hospital"),
    dp.spark("db.visits", catalog=True),
]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.kind)
def test_a_source_is_written_as_json_and_comes_back(source):
    assert Source.from_json(source.to_json()) == source


def test_an_unknown_kind_is_refused_with_the_nearest_of_all_engines():
    with pytest.raises(UnknownName) as refused:
        Source("postgers", "public.visits")
    assert refused.value.near == ("postgres",)
    assert set(refused.value.known) >= {"csv", "memory-copy", "parquet", "postgres", "spark"}
    with pytest.raises(UnknownName):
        Source(["csv"], "a.csv")


@pytest.mark.parametrize(("kind", "options", "words"), [("csv", None, "those of Csv"), ("spark", Csv(), "of Cluster")])
def test_options_of_another_kind_are_refused_with_what_to_write(kind, options, words):
    with pytest.raises(BadParameter, match=words) as refused:
        Source(kind, "a", options)
    assert refused.value.fix.startswith("write csv(path, ...), parquet(path), ")
    assert "postgres(table, url) or spark(path)" in refused.value.fix
    with pytest.raises(BadParameter, match="a parquet source has none"):
        Source("parquet", "a", Csv())


def test_a_text_goes_to_the_engine_that_knows_its_scheme_whatever_its_ending():
    assert locate("postgresql://host/db#s.csv") == dp.postgres("s.csv", "postgresql://host/db")
    assert locate("spark:visits.parquet") == dp.spark("visits.parquet")
    assert locate("SPARK-table:db.visits") == dp.spark("db.visits", catalog=True)
    assert locate("visits.parquet") == dp.parquet("visits.parquet")
    with pytest.raises(SourceMissing):
        locate("mysql://host/db#visits")


def test_a_url_without_a_table_is_refused():
    with pytest.raises(BadParameter, match="which table"):
        locate("postgresql://host/db")


def test_only_paths_of_this_machine_are_resolved(tmp_path):
    assert dp.csv("a.csv").resolved(tmp_path).path == str(tmp_path / "a.csv")
    for source in SOURCES[2:]:
        assert source.resolved(tmp_path) == source


def test_a_source_knows_its_engine():
    assert [source.engine for source in SOURCES] == ["duckdb", "duckdb", "postgres", "spark"]


def test_what_was_read_of_a_header_is_taken_off_again():
    described = dp.csv("a.csv")
    settled = Source("csv", "a.csv", Csv(columns=("a", "b")))
    assert settled != described == settled.unsettled
    for source in SOURCES[1:]:
        assert source.unsettled == source
