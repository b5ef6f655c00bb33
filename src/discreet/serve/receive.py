"""Receiving batches: from the bytes of a stranger to a fixed answer, without an exception on the way."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discreet.local.batch import MalformedBatch, ReportBatch
from discreet.local.collection import Collection
from discreet.local.reports import Reports
from discreet.serve.sketches import BatchOutcome, SketchStore, StoreUnavailable

MOST_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Reply:
    """A status of HTTP and a fixed text; `reason` is what a rejection is counted under."""

    status: int
    text: str
    reason: str = ""


ACCEPTED = Reply(202, "accepted")
REPLAYED = Reply(202, "accepted", "replayed")  # the sender need not know that it was heard before
OTHER_SPEC = Reply(409, "these reports were made for another collection", "other_spec")
NO_EPOCH = Reply(409, "the collection has no such epoch", "no_epoch")
CLOSED = Reply(409, "the epoch is closed", "closed")
TOO_LARGE = Reply(413, "the batch is too large", "too_large")
MALFORMED = Reply(422, "this is not a batch of reports", "malformed")
WRONG_LENGTH = Reply(422, "count and length of the reports do not fit", "wrong_length")
OUT_OF_RANGE = Reply(422, "no report of the batch is valid", "out_of_range")
TRY_AGAIN = Reply(503, "the store is not available, send the same batch again")
BUSY = Reply(503, "too much is being received, send the same batch again")
LEFT = Reply(400, "the batch did not arrive in full")  # nobody hears it, and nothing is counted
REASONS = (REPLAYED, OTHER_SPEC, NO_EPOCH, CLOSED, TOO_LARGE, MALFORMED, WRONG_LENGTH, OUT_OF_RANGE)


@dataclass(frozen=True, slots=True)
class Receiver:
    """Takes batches for one collection into its store.

    Guarantee: whatever the bytes are, there is a reply and no exception; what is rejected is counted under its reason
    and has no effect on any sketch; what is accepted is counted once. Reports that are out of range are counted as
    rejected, one by one, the others of their batch are taken.
    """

    collection: Collection
    store: SketchStore
    most_bytes: int = MOST_BYTES
    spec: bytes = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "spec", self.collection.hash)  # computed once, not for every batch

    def receive(self, body: bytes) -> Reply:
        """Return the reply to the body of a request."""
        try:
            reply, rejected = self._taken(body)
            if rejected:
                self.store.reject(reply.reason or OUT_OF_RANGE.reason, rejected)
        except StoreUnavailable:
            return TRY_AGAIN
        return reply

    def too_large(self) -> Reply:
        """Return the reply to a body that was not even read to its end."""
        try:
            self.store.reject(TOO_LARGE.reason)
        except StoreUnavailable:
            return TRY_AGAIN
        return TOO_LARGE

    def _taken(self, body: bytes) -> tuple[Reply, int]:
        """Return the reply and how much of the body was rejected: reports out of range, else the batch as one."""
        if len(body) > self.most_bytes:
            return TOO_LARGE, 1
        try:
            batch = ReportBatch.decode(body)
        except MalformedBatch:
            return MALFORMED, 1
        if batch.spec != self.spec:
            return OTHER_SPEC, 1
        if batch.epoch >= self.collection.epochs:
            return NO_EPOCH, 1
        protocol = self.collection.protocol
        if batch.count == 0 or len(batch.data) != batch.count * protocol.bytes_per_report:
            return WRONG_LENGTH, 1
        data = np.frombuffer(batch.data, dtype=np.uint8)
        sketch = protocol.aggregate(Reports(data, batch.count, protocol.spec_hash))
        if sketch.reports == 0:
            return OUT_OF_RANGE, sketch.rejected
        match self.store.add(batch.epoch, batch.key, sketch):
            case BatchOutcome.ADDED:
                return ACCEPTED, sketch.rejected
            case BatchOutcome.REPLAYED:
                return REPLAYED, 1
            case BatchOutcome.CLOSED:
                return CLOSED, 1
