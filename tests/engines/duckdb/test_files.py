"""The files of a source: found by path, folder or pattern, in the order of their names."""

import os

import pytest

from discreet.engines.duckdb.files import files, same_files
from discreet.engines.duckdb.options import csv, parquet
from discreet.engines.duckdb.source import settle
from discreet.engines.source import SourceMissing, locate
from tests.engines.duckdb.sample_files import parquets, written


@pytest.mark.parametrize("path", ["/", "//", "/tmp/.."])
def test_the_root_of_all_files_is_no_table(path):
    with pytest.raises(SourceMissing, match="not the folder of one table"):
        settle(locate(path))


@pytest.mark.parametrize("error", [FileNotFoundError, PermissionError])
def test_a_folder_that_cannot_be_looked_through_is_refused(tmp_path, monkeypatch, error):
    def broken(*_):
        raise error("gone")

    monkeypatch.setattr("pathlib.Path.rglob", broken)
    with pytest.raises(SourceMissing, match="it cannot be looked through"):
        settle(locate(tmp_path))


def test_the_same_file_is_known_by_any_path(tmp_path):
    file = written(tmp_path, "a\n1\n")
    (tmp_path / "soft.csv").symlink_to(file)
    os.link(file, tmp_path / "hard.csv")
    written(tmp_path, "a\n1\n", "copy.csv")
    sources = {name: settle(csv(tmp_path / name)) for name in ("t.csv", "soft.csv", "hard.csv", "copy.csv")}
    assert same_files(sources["t.csv"], sources["soft.csv"])
    assert same_files(sources["t.csv"], sources["hard.csv"])
    assert not same_files(sources["t.csv"], sources["copy.csv"])


def test_files_come_in_the_order_of_their_names(tmp_path):
    folder = parquets(tmp_path / "p", b={"n": [1]}, a={"n": [2]})
    assert [file.name for file in files(parquet(folder))] == ["a.parquet", "b.parquet"]
