"""Batches: what we write others read, what others write we read, and nothing else passes."""

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.local.batch import MalformedBatch, ReportBatch, new_batch_key

GOOD = ReportBatch(bytes(range(32)), bytes(range(16)), 3, 2, b"report")

batches = st.builds(
    ReportBatch,
    st.binary(min_size=32, max_size=32),
    st.binary(min_size=16, max_size=16),
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**64 - 1),
    st.binary(max_size=400),
)


def fields(batch):
    return {name: getattr(batch, name) for name in ("spec", "key", "epoch", "count", "data")}


@given(batches)
def test_what_we_write_a_library_reads_and_we_read(batch):
    assert cbor2.loads(batch.encode()) == fields(batch)
    assert ReportBatch.decode(batch.encode()) == batch


@given(batches, st.permutations(["spec", "key", "epoch", "count", "data"]))
def test_what_a_library_writes_we_read_in_any_order(batch, order):
    assert ReportBatch.decode(cbor2.dumps({name: fields(batch)[name] for name in order})) == batch


@given(st.binary(max_size=300))
def test_bytes_are_a_batch_or_malformed_and_nothing_else(body):
    try:
        found = ReportBatch.decode(body)
    except MalformedBatch:
        return
    assert cbor2.loads(body) == fields(found)


@given(batches, st.data())
def test_a_damaged_batch_is_read_as_a_library_reads_it_or_not_at_all(batch, data):
    body = bytearray(batch.encode())
    body[data.draw(st.integers(0, len(body) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        found = ReportBatch.decode(bytes(body))
    except MalformedBatch:
        return
    assert cbor2.loads(bytes(body)) == fields(found)


@given(batches, st.data())
def test_a_batch_that_was_cut_is_malformed(batch, data):
    body = batch.encode()
    with pytest.raises(MalformedBatch):
        ReportBatch.decode(body[: data.draw(st.integers(0, len(body) - 1))])


@pytest.mark.parametrize(
    "changed",
    [
        {"spec": bytes(31)},
        {"key": bytes(17)},
        {"epoch": -1},
        {"count": 2**64},
        {"count": 1.0},
        {"data": "text"},
        {"data": [1]},
        {"spec": None},
    ],
)
def test_fields_of_a_wrong_kind_or_length_are_malformed(changed):
    with pytest.raises(MalformedBatch):
        ReportBatch.decode(cbor2.dumps(fields(GOOD) | changed))


@pytest.mark.parametrize(
    "body",
    [
        cbor2.dumps({**fields(GOOD), "more": 1}),
        cbor2.dumps({name: value for name, value in fields(GOOD).items() if name != "key"}),
        cbor2.dumps(cbor2.CBORTag(55799, fields(GOOD))),
        cbor2.dumps([1, 2, 3, 4, 5]),
        GOOD.encode() + b"\x00",
        b"\xbf" + GOOD.encode()[1:] + b"\xff",  # a map of indefinite length
        b"\xa5" + 5 * b"\x63key\x40",  # a field given twice
        b"\xbb" + b"\xff" * 8,  # a map of 2**64 - 1 fields
        GOOD.encode().replace(b"\x46report", b"\x5b" + b"\xff" * 8),  # bytes of a length beyond all memory
        b"",
    ],
)
def test_other_shapes_are_malformed(body):
    with pytest.raises(MalformedBatch):
        ReportBatch.decode(body)


def test_keys_are_fresh():
    assert len({new_batch_key() for _ in range(100)}) == 100
    assert len(new_batch_key()) == 16
