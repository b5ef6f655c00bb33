"""Exported sketches: read back as they were, added up, and told apart from those of other collections."""

import pytest

from discreet import local
from discreet.core.errors import BadParameter, Refusal
from discreet.local.collection import Collection, new_key, read, sign
from discreet.serve.parquet_sketches import export, load
from discreet.serve.sketches import OtherCollection
from tests.serve.collections import COLLECTION, PROTOCOL, reports


def test_sketches_come_back_as_they_were(tmp_path):
    made = {0: PROTOCOL.aggregate(reports(9)), 2: PROTOCOL.aggregate(bytes(3))}
    assert made[2].rejected == 2
    export(tmp_path / "it's here.parquet", COLLECTION, made)
    assert load(tmp_path / "it's here.parquet", COLLECTION) == made


def test_other_programs_can_read_the_file(tmp_path):
    import pyarrow.parquet as parquet

    sketch = PROTOCOL.aggregate(reports(9))
    export(tmp_path / "a.parquet", COLLECTION, {1: sketch})
    (row,) = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert row == {
        "spec": COLLECTION.hash.hex(),
        "epoch": 1,
        "reports": 9,
        "rejected": 0,
        "counts": sketch.counts.tolist(),
    }


def test_no_epochs_make_an_empty_file(tmp_path):
    export(tmp_path / "a.parquet", COLLECTION, {})
    assert load(tmp_path / "a.parquet", COLLECTION) == {}


def test_sketches_of_another_collection_are_refused(tmp_path):
    export(tmp_path / "a.parquet", COLLECTION, {0: PROTOCOL.aggregate(reports(9))})
    other = read(sign(Collection("another", local.unary(k=9, epsilon=1)), new_key()))
    with pytest.raises(OtherCollection):
        load(tmp_path / "a.parquet", other)


def test_what_is_no_such_file_is_refused(tmp_path):
    (tmp_path / "a.parquet").write_text("nonsense")
    with pytest.raises(Refusal, match="cannot be read"):
        load(tmp_path / "a.parquet", COLLECTION)
    with pytest.raises(BadParameter, match="could not be written"):
        export(tmp_path / "none" / "a.parquet", COLLECTION, {})
