"""Tasks of unhash for Discreet, and the loop that a short script would run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from discreet.lab.attacks.unhash import hashed, unhash


def medallions(algorithm: str) -> Callable[[], object]:
    """Every medallion there could be, tried: the last one is looked for."""
    wanted = hashed(["5X55", "AB123", "ZZZ999"], algorithm)

    def call() -> None:
        found = unhash(wanted, "medallion")
        assert sorted(found.found.values()) == ["5X55", "AB123", "ZZZ999"]
        assert found.tried == found.size

    return call


def numbers(algorithm: str, digits: int) -> Callable[[], object]:
    """Every number of so many digits, tried."""
    wanted = hashed(["9" * digits], algorithm)

    def call() -> None:
        assert len(unhash(wanted, "9" * digits).found) == 1

    return call


def loop(algorithm: str, many: int) -> Callable[[], object]:
    """Hash numbers one by one, and look each up in a set."""
    make, wanted = getattr(hashlib, algorithm), {hashlib.new(algorithm, b"x").digest()}

    def call() -> None:
        assert not [number for number in range(many) if make(b"%d" % number).digest() in wanted]

    return call
