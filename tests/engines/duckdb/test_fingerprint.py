"""Fingerprints: a changed source is noticed, whatever was done to its times, and the refusal tells no path."""

import os

import pytest

from discreet.engines.duckdb.files import check_unchanged, digest, files, fingerprint, stamp
from discreet.engines.duckdb.options import csv, parquet
from discreet.engines.duckdb.source import settle
from discreet.engines.source import SourceChanged, SourceMissing
from tests.engines.duckdb.sample_files import parquets, written

KEY = bytes(range(32))


def settled(source):
    """Return a fingerprint taken long after the files were written."""
    found = fingerprint(source, KEY)
    return found | {"taken": found["taken"] + 10**10}


def test_an_unchanged_source_passes_by_its_stamp_alone(tmp_path, monkeypatch):
    source = settle(csv(written(tmp_path, "a\n1\n")))
    stored = settled(source)
    monkeypatch.setattr("discreet.engines.duckdb.files.digest", None)  # must not be needed
    assert check_unchanged("visits", source, stored, KEY) is None


def test_a_file_written_just_before_its_stamp_is_read_again(tmp_path):
    source = settle(csv(written(tmp_path, "a\n1\n")))
    renewed = check_unchanged("visits", source, fingerprint(source, KEY), KEY)
    assert renewed["digest"] == digest(source, KEY)


def test_a_touched_source_passes_by_its_digest_and_is_stamped_anew(tmp_path):
    source = settle(csv(written(tmp_path, "a\n1\n")))
    stored = settled(source)
    os.utime(source.path, ns=(1, 1))
    assert check_unchanged("visits", source, stored, KEY)["stamp"] == stamp(source) != stored["stamp"]


def test_a_changed_source_is_refused_with_the_command_that_helps(tmp_path):
    source = settle(csv(written(tmp_path, "a\n1\n")))
    stored = settled(source)
    written(tmp_path, "a\n2\n")
    with pytest.raises(SourceChanged) as refusal:
        check_unchanged("visits", source, stored, KEY)
    assert str(refusal.value) == (
        "the source of 'visits' changed: its rows are no longer those that were registered, and answers name the"
        " version they are about. Fix: run discreet refresh visits, which keeps the budget and counts a new version."
    )


def test_a_vanished_source_is_refused_without_its_path(tmp_path):
    source = settle(csv(written(tmp_path, "a\n1\n")))
    stored = settled(source)
    files(source)[0].unlink()
    with pytest.raises(SourceMissing) as refusal:
        check_unchanged("visits", source, stored, KEY)
    assert str(refusal.value) == (
        "the source of 'visits' is missing: its files are not where they were registered."
        " Fix: put them back, or run discreet refresh visits."
    )


def test_a_new_file_in_a_folder_is_a_change(tmp_path):
    folder = parquets(tmp_path / "p", a={"n": [1]})
    stored = settled(parquet(folder))
    parquets(folder, b={"n": [2]})
    with pytest.raises(SourceChanged):
        check_unchanged("visits", parquet(folder), stored, KEY)


def test_digests_depend_on_the_key_and_the_contents_but_not_on_names(tmp_path):
    one, two = (
        parquets(tmp_path / "p", a={"n": [1]}, b={"n": [2]}),
        parquets(tmp_path / "q", a={"n": [2]}, b={"n": [1]}),
    )
    assert digest(parquet(one), KEY) == digest(parquet(two), KEY)
    assert digest(parquet(one), KEY) != digest(parquet(one), bytes(32))
    assert digest(parquet(one), KEY) != digest(parquet(one / "a.parquet"), KEY)
