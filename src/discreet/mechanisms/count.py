"""Count: how many values are not null."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from discreet.core.value import dataclass
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.mechanisms.parts.raw_values import column
from discreet.mechanisms.parts.statistic import Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(Scalar):
    """Releases the number of values that are not null, plus integer noise.

    Sensitivity: `contributions` under both relations; an exchanged unit may have all of its rows null.
    Guarantee: pure epsilon with Laplace noise, rho-zCDP with Gaussian noise; the loss is that of the integers drawn.
    Error: the exact tail of the noise.
    """

    @property
    def sensitivity(self) -> int:
        """As many rows as a unit has."""
        return self.contributions

    def exact(self, values: Iterable[Any]) -> int:
        """Return how many values are not null."""
        return int(column(values)[1].sum())


def trials() -> Trials:
    """Yield the worst neighbours: a unit that counts for all its rows, and one that counts for none."""
    yield Trial("one row more", Count(epsilon=1), 10, 11)
    yield Trial("three rows of a person", Count(epsilon=0.5, contributions=3), 0, 3)
    yield Trial("one row nulled", Count(rho=0.125, relation="replace"), 5, 4)
