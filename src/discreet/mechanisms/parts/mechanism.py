"""What every mechanism is: a loss and an error from parameters alone, then a release."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from discreet.account.losses.loss import PrivacyLoss
from discreet.core.value import dataclass

Chance = tuple[Fraction, Fraction]


@runtime_checkable
class Mechanism(Protocol):
    """Declares before it draws: `loss` and `error` are functions of parameters and public sizes, never of data."""

    @property
    def loss(self) -> PrivacyLoss:
        """What one release costs, as the event of the noise that is really drawn."""

    def error(self, beta: float = 0.05) -> float:
        """Return a half-width that the error of a release exceeds with probability at most beta."""

    def release(self, exact: Any) -> Any:
        """Return the private answer to an exact one."""


@runtime_checkable
class Repeatable(Protocol):
    """A mechanism that can be run many times at once on one input: for audits and simulations, never on real data."""

    def releases(self, exact: Any, count: int) -> Any:
        """Return `count` independent releases, as an array whose first axis counts them."""


@runtime_checkable
class Enumerable(Protocol):
    """A mechanism whose output distribution can be written down: for the exact audit."""

    def chances(self, exact: Any) -> Mapping[Hashable, Chance]:
        """Return rational bounds (low, high) on the probability of every output, all together within 2**-60 of 1."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A worst-case pair of neighbours, kept beside a mechanism's code; the auditor runs all of them.

    `one` and `other` are what `release` is given on two neighbouring tables. Each module that is a registry entry has a
    function `trials() -> Iterator[Trial]`.
    """

    name: str
    mechanism: Mechanism
    one: Any
    other: Any


Trials = Iterator[Trial]
