"""Receiving: every body has its reply, what is rejected is counted under its reason, and nothing else moves."""

import os
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import local
from discreet.local.batch import ReportBatch, new_batch_key
from discreet.local.collection import Collection, new_key, read, sign
from discreet.noise import uniform
from discreet.serve import receive
from discreet.serve.receive import Receiver
from discreet.serve.sketches import StoreUnavailable
from discreet.serve.sqlite_sketches import SqliteSketches
from discreet.testing import seeded
from tests.serve.collections import COLLECTION, PROTOCOL, batch, reports, sqlite

FUZZED = 100_000


@pytest.fixture
def receiver(tmp_path):
    store = sqlite(tmp_path)
    yield Receiver(COLLECTION, store)
    store.disconnect()


def test_a_batch_is_counted(receiver):
    made = reports(50)
    assert receiver.receive(batch(made)) == receive.ACCEPTED
    assert receiver.store.sketch(0) == PROTOCOL.aggregate(made)
    assert receiver.store.rejected() == {}


def test_epochs_are_counted_apart(receiver):
    receiver.receive(batch(reports(5), epoch=0))
    receiver.receive(batch(reports(7), epoch=2))
    assert [receiver.store.sketch(epoch).reports for epoch in range(3)] == [5, 0, 7]


def test_a_replayed_key_is_acknowledged_alike_and_not_counted_again(receiver):
    body, key = batch(reports(5)), b"k" * 16
    first = receiver.receive(batch(reports(5), key=key))
    again = receiver.receive(batch(reports(6), key=key))
    assert receiver.receive(body).status == first.status == again.status == 202
    assert first.text == again.text
    assert receiver.store.sketch(0).reports == 10
    assert receiver.store.rejected() == {"replayed": 1}


def test_a_replay_into_another_epoch_is_known_too(receiver):
    receiver.receive(batch(reports(5), key=b"k" * 16, epoch=0))
    assert receiver.receive(batch(reports(5), key=b"k" * 16, epoch=1)) == receive.REPLAYED
    assert receiver.store.sketch(1).reports == 0


def test_every_reason_has_its_status_its_text_and_its_count(receiver):
    receiver.store.close(2)
    half = bytes(reports(4))[:-1]
    bits_beyond = np.frombuffer(bytes(reports(4)), dtype=np.uint8).copy()
    bits_beyond[1::2] |= 0xFE  # nine values need one bit of the second byte
    small = Receiver(COLLECTION, receiver.store, most_bytes=150)
    made = {
        "other_spec": receiver.receive(batch(reports(4), spec=bytes(32))),
        "no_epoch": receiver.receive(batch(reports(4), epoch=3)),
        "closed": receiver.receive(batch(reports(4), epoch=2)),
        "malformed": receiver.receive(b"nonsense"),
        "wrong_length": receiver.receive(batch(half, count=4)),
        "out_of_range": receiver.receive(batch(bits_beyond.tobytes(), count=4)),
        "too_large": small.receive(batch(reports(4000))),
    }
    assert {name: reply.reason for name, reply in made.items()} == {name: name for name in made}
    assert {name: reply.status for name, reply in made.items()} == {
        "other_spec": 409,
        "no_epoch": 409,
        "closed": 409,
        "malformed": 422,
        "wrong_length": 422,
        "out_of_range": 422,
        "too_large": 413,
    }
    assert receiver.store.rejected() == {name: 4 if name == "out_of_range" else 1 for name in made}
    assert all(receiver.store.sketch(epoch).reports == 0 for epoch in range(3))


def test_reports_out_of_range_are_left_out_of_a_batch_one_by_one(receiver):
    good, bad = bytes(reports(3)), b"\x00\xff"
    assert receiver.receive(batch(good + bad, count=4)) == receive.ACCEPTED
    found = receiver.store.sketch(0)
    assert (found.reports, found.rejected) == (3, 1)
    assert receiver.store.rejected() == {"out_of_range": 1}


@pytest.mark.parametrize("count", [0, 1, 4, 6, 2**40, 2**64 - 1])
def test_a_count_that_does_not_fit_is_rejected(receiver, count):
    assert receiver.receive(batch(reports(5), count=count)) == receive.WRONG_LENGTH


def test_a_store_that_fails_means_try_again_and_counts_nothing(receiver):
    class Broken:
        def add(self, *_):
            raise StoreUnavailable("store", why="no room", fix="wait")

        reject = add

    broken = Receiver(COLLECTION, Broken())
    assert broken.receive(batch(reports(5))) == receive.TRY_AGAIN
    assert broken.receive(b"nonsense") == receive.TRY_AGAIN
    assert broken.too_large() == receive.TRY_AGAIN


@settings(max_examples=300)
@given(st.binary(max_size=200))
def test_no_bytes_at_all_raise_an_exception(body):
    class Silent:
        def reject(self, *_):
            pass

    assert Receiver(COLLECTION, Silent()).receive(body) == receive.MALFORMED


def fuzzed(collection, count):
    """Bodies that must be rejected, and why: every kind of damage to a good batch, in turn."""
    size, good = collection.protocol.bytes_per_report, bytes(collection.protocol.encode([1, 2, 3]))
    whole = ReportBatch(collection.hash, new_batch_key(), 0, 3, good).encode()
    cuts, places, values = (uniform(n, count).tolist() for n in (len(whole), len(whole), 255))
    for number in range(count):
        key = number.to_bytes(16, "big")
        match number % 8:
            case 0:
                yield "malformed", whole[: cuts[number]]
            case 1:
                yield (
                    "wrong_length",
                    ReportBatch(collection.hash, key, 0, 3, good + bytes(1 + cuts[number] % size)).encode(),
                )
            case 2:
                yield "wrong_length", ReportBatch(collection.hash, key, 0, 4 + cuts[number], good).encode()
            case 3:
                spec = bytearray(collection.hash)
                spec[places[number] % 32] ^= 1 + values[number]
                yield "other_spec", ReportBatch(bytes(spec), key, 0, 3, good).encode()
            case 4:
                yield "no_epoch", ReportBatch(collection.hash, key, collection.epochs + cuts[number], 3, good).encode()
            case 5:
                yield "out_of_range", ReportBatch(collection.hash, key, 0, 1, b"\xff" * size).encode()
            case 6:
                yield "malformed", whole + bytes([values[number]])
            case 7:
                yield "replayed", whole


@pytest.mark.parametrize(
    "protocol",
    [local.unary(k=9, epsilon=1), local.randomized_response(k=5, epsilon=1), local.hadamard(k=200, epsilon=1)],
    ids=lambda protocol: protocol.name,
)
def test_fuzzed_batches_are_rejected_and_counted_and_move_nothing(protocol, tmp_path):
    collection = read(sign(Collection("fuzzed", protocol, epochs=2), new_key()))
    store = SqliteSketches.create(tmp_path / "s.sqlite", collection)
    receiver = Receiver(collection, store)
    count, expected, found = FUZZED // 3 + 1, Counter(), Counter()
    with seeded(9):
        bodies = list(fuzzed(collection, count))
    assert receiver.receive(bodies[7][1]) == receive.ACCEPTED  # the one that will be replayed
    before = store.sketch(0), store.sketch(1)
    for reason, body in bodies:
        reply = receiver.receive(body)
        expected[reason] += 1
        found[reply.reason] += 1
        assert reply.status in (202, 409, 413, 422)
        assert (reply.status == 202) == (reason == "replayed")
    assert found == expected
    assert store.rejected() == expected
    assert (store.sketch(0), store.sketch(1)) == before
    store.disconnect()


def test_bodies_of_random_bits_inside_a_good_frame_are_counted_or_rejected_one_by_one(receiver):
    # A right-length string of random bits is a valid report: nine values leave seven bits that must be clear.
    data = os.urandom(2 * 4096)
    assert receiver.receive(batch(data, count=4096)) == receive.ACCEPTED
    found = receiver.store.sketch(0)
    valid = int((np.frombuffer(data, dtype=np.uint8)[1::2] < 2).sum())
    assert (found.reports, found.rejected) == (valid, 4096 - valid)
