"""Sketches: the integers that reports add up to, all that a collector has to keep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core import record as records
from discreet.core.errors import BadParameter


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """Counts of what reports said, how many reports there were, and how many were rejected as malformed.

    `a + b` is the sketch of both batches, in any order and however they were split; only sketches of one protocol
    are added. The counts are exact integers and hold no report of its own.
    """

    spec_hash: str
    counts: NDArray[np.int64]
    reports: int
    rejected: int = 0

    def __post_init__(self) -> None:
        counts = np.array(self.counts, dtype=np.int64).reshape(-1)
        counts.flags.writeable = False
        object.__setattr__(self, "counts", counts)

    def __add__(self, other: object) -> Sketch:
        if not isinstance(other, Sketch):
            return NotImplemented
        if other.spec_hash != self.spec_hash or len(other.counts) != len(self.counts):
            why = "it adds up reports of another protocol"
            raise BadParameter("sketch", other.spec_hash, why=why, fix="estimate each under its own protocol")
        return Sketch(
            self.spec_hash, self.counts + other.counts, self.reports + other.reports, self.rejected + other.rejected
        )

    def __radd__(self, other: object) -> Sketch:
        return self if other == 0 else NotImplemented  # so that sum() works

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sketch):
            return NotImplemented
        same = (self.spec_hash, self.reports, self.rejected) == (other.spec_hash, other.reports, other.rejected)
        return same and np.array_equal(self.counts, other.counts)

    def __hash__(self) -> int:
        return hash((self.spec_hash, self.reports, self.rejected, self.counts.tobytes()))

    def to_bytes(self) -> bytes:
        """Write the sketch as versioned JSON, every integer exact."""
        fields = {"spec": self.spec_hash, "reports": self.reports, "rejected": self.rejected}
        return records.write("sketch", {**fields, "counts": self.counts.tolist()}).encode()

    @staticmethod
    def from_bytes(data: bytes) -> Sketch:
        """Read what `to_bytes` wrote, checking it again."""
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            why = "it is not text"
            raise BadParameter("sketch", data, why=why, fix="pass what to_bytes returned, unchanged") from error
        names = ("spec", "reports", "rejected", "counts")
        found = records.fields("sketch", records.read("sketch", text), names)
        numbers = (found["reports"], found["rejected"], *_listed(found["counts"]))
        whole = all(type(number) is int and abs(number) < 1 << 63 for number in numbers)
        if not (whole and isinstance(found["spec"], str) and found["reports"] >= 0 and found["rejected"] >= 0):
            why = "a sketch is made of integers and the hash of its protocol"
            raise BadParameter("sketch", text[:60], why=why, fix="pass what to_bytes returned, unchanged")
        return Sketch(found["spec"], np.array(found["counts"], dtype=np.int64), found["reports"], found["rejected"])


def _listed(counts: object) -> list[object]:
    return counts if isinstance(counts, list) else [None]
