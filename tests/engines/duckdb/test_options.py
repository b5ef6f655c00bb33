"""What DuckDB reads: files by their endings, in a dialect that is declared."""

import pytest

from discreet.core.errors import BadParameter
from discreet.engines.duckdb.options import Csv, csv, parquet
from discreet.engines.duckdb.source import settle
from discreet.engines.source import Source, SourceMissing, locate
from tests.engines.duckdb.sample_files import written


def test_a_source_is_found_by_the_ending_of_its_path(tmp_path):
    assert locate("a/visits.csv") == csv("a/visits.csv")
    assert locate("visits.CSV.gz").kind == "csv"
    assert locate("visits.tsv").options.delimiter == "\t"
    assert locate("visits.parquet") == parquet("visits.parquet")
    assert locate("visits/*.parquet").kind == "parquet"
    assert locate(tmp_path).kind == "parquet"
    assert locate(parquet("odd.bin")) == parquet("odd.bin")


def test_a_source_is_written_as_json_and_comes_back():
    named = csv("a.csv", delimiter=";", quote=None, names=("a", "b"), header=False)
    for source in (parquet("a.parquet"), csv("a.csv"), named):
        assert Source.from_json(source.to_json()) == source


@pytest.mark.parametrize(
    "bad", [{"delimiter": ",,"}, {"quote": ","}, {"delimiter": "\n"}, {"names": ()}, {"quote": "é"}]
)
def test_a_dialect_that_cannot_be_is_refused(bad):
    with pytest.raises(BadParameter):
        Csv(**bad)


@pytest.mark.parametrize("path", ["none.csv", "none.parquet", "none/*.parquet", "none"])
def test_a_missing_file_is_refused_with_its_path(tmp_path, path):
    with pytest.raises(SourceMissing) as refusal:
        settle(locate(tmp_path / path))
    assert str(refusal.value).startswith(f"source {tmp_path / path}: ")
    assert refusal.value.fix == "give the path of a file that can be read"


def test_an_ending_nobody_knows_is_refused(tmp_path):
    with pytest.raises(BadParameter, match="say what it is"):
        locate(written(tmp_path, "x", "t.xlsx"))
