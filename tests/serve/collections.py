"""Collections to test with, their reports, and stores of every kind."""

import numpy as np

from discreet import local
from discreet.local.batch import ReportBatch, new_batch_key
from discreet.local.collection import Collection, new_key, read, sign
from discreet.serve.postgres_sketches import PostgresSketches
from discreet.serve.sqlite_sketches import SqliteSketches

PROTOCOL = local.unary(k=9, epsilon=1)
SIGNED = sign(Collection("a survey", PROTOCOL, epochs=3, minimum=10), new_key())
COLLECTION = read(SIGNED)


def reports(count, value=0):
    return PROTOCOL.encode(np.full(count, value))


def batch(made, epoch=0, key=None, spec=None, count=None):
    """The bytes of a batch, with any field replaced."""
    number = len(made) if count is None else count
    return ReportBatch(spec or COLLECTION.hash, key or new_batch_key(), epoch, number, bytes(made)).encode()


def sqlite(folder):
    path = folder / "collector.sqlite"
    return SqliteSketches(path, COLLECTION) if path.exists() else SqliteSketches.create(path, COLLECTION)


def postgres(url):
    return PostgresSketches(url, COLLECTION)
