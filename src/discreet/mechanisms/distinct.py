"""Distinct: how many different values, keys or people there are."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from discreet.core.column import Key
from discreet.core.value import dataclass
from discreet.mechanisms.parts.keys import check_keys, occurring, tally
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.mechanisms.parts.statistic import Scalar, Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinct(Scalar):
    """Releases the number of different values that are not null, plus integer noise.

    With declared `keys` only those count. `contributions` bounds the *different* values of one unit: 1 for a column
    that names the unit itself, as when people are counted by their identifier.

    Sensitivity: contributions, under both relations: what an exchanged unit takes away and what it brings have opposite
    signs.
    Guarantee: pure epsilon with Laplace noise, rho-zCDP with Gaussian noise; the loss is that of the integers drawn.
    Error: the exact tail of the noise.
    """

    keys: tuple[Key, ...] | None = None

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        if self.keys is not None:
            self._set(keys=check_keys(self.keys))

    @property
    def sensitivity(self) -> int:
        """As many values as a unit has, but no more than there are keys in a single group."""
        if self.keys is None or self.groups > 1:  # a key counts again in every group
            return self.contributions
        return min(self.contributions, len(self.keys))

    def exact(self, values: Iterable[Any]) -> int:
        """Return how many different values occur; values that cannot be identified by hashing are left out."""
        if self.keys is not None:
            return int((tally(self.keys, values) > 0).sum())
        seen: set[object] = set()
        for value, _ in occurring(values):
            with suppress(Exception):
                seen.add(value)
        return len(seen)


def trials() -> Trials:
    """Yield the worst neighbours: a unit all of whose values nobody else has."""
    yield Trial("one person more", Distinct(epsilon=1), 12, 13)
    yield Trial("four new values", Distinct(epsilon=2, contributions=4), 0, 4)
    yield Trial("one value for none", Distinct(epsilon=1, relation="replace", keys=("A", "B")), 2, 1)
