"""What count, sum, mean and their like share: exact integers, integer noise on each, arithmetic on the result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.checks import Number, whole
from discreet.account.loss import PrivacyLoss
from discreet.core.unit import Relation, check_relation
from discreet.mechanisms._mechanism import Chance
from discreet.mechanisms._noise import Noise, Sensitivity, calibrated, check_price, floats, plus, total
from discreet.mechanisms._values import as_float

# An integer, or several: it differs from statistic to statistic; so does the answer.
Exact = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic(ABC):
    """A mechanism that adds integer noise to a few exact integers and computes its answer from the sums.

    `epsilon` buys Laplace noise, `rho` Gaussian noise. `contributions` is the most rows of one unit among the values (1
    protects rows); bounding them is the caller's part, before the exact integers are computed.
    """

    epsilon: Number | None = None
    rho: Number | None = None
    relation: Relation = "add_remove"
    contributions: int = 1

    def __post_init__(self) -> None:
        epsilon, rho = check_price(self.epsilon, self.rho)
        self._set(epsilon=epsilon, rho=rho)
        check_relation(self.relation)
        whole("contributions", self.contributions)

    @property
    @abstractmethod
    def noises(self) -> tuple[tuple[Noise, int], ...]:
        """The noise of each part of the statistic, with the number of integers in that part."""

    @abstractmethod
    def exact(self, values: Iterable[Any]) -> object:
        """Return the exact integers; no value raises, and each changes nothing but its own record's contribution."""

    @abstractmethod
    def error(self, beta: float = 0.05) -> float:
        """Return a half-width that the error of a release exceeds with probability at most beta."""

    @property
    def loss(self) -> PrivacyLoss:
        """What one release costs: the losses of all parts together."""
        return total(noise.loss for noise, _ in self.noises)

    def release(self, exact: Exact) -> Exact:
        """Return the private answer to exact integers.

        Guarantee: `loss`, under `relation`, for units of at most `contributions` rows.
        """
        answer = self.releases(exact, 1)[0]
        return answer.item() if isinstance(answer, np.generic) else answer

    def releases(self, exact: Exact, count: int) -> NDArray[Any]:
        """Return many independent answers to one question, for audits and simulations: each costs `loss`."""
        whole("count", count)
        integers = self._inner(exact)
        drawn = [noise.draw((size, count)) for noise, size in self.noises]
        entries = [entry for part in drawn for entry in part]
        return self._outer([plus(one, entry) for one, entry in zip(integers, entries, strict=True)])

    def __call__(self, values: Iterable[Any]) -> Exact:
        """Return the private answer on raw values.

        Guarantee: that of `release`.
        """
        return self.release(self.exact(values))

    @abstractmethod
    def _inner(self, exact: Exact) -> Sequence[int]:
        """Return the integers that get noise."""

    @abstractmethod
    def _outer(self, noisy: list[NDArray[Any]]) -> NDArray[Any]:
        """Compute answers from noisy integers, one array of repetitions for each integer."""

    def _noise(self, sensitivity: Sensitivity, share: Fraction | int = 1) -> Noise:
        return calibrated(sensitivity, self.epsilon, self.rho, self.relation, share)

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar(Statistic):
    """A statistic that is one integer, released in steps of `unit`."""

    @property
    @abstractmethod
    def sensitivity(self) -> int:
        """How far one unit moves the integer."""

    @property
    def unit(self) -> Fraction:
        """What one step of the integer means."""
        return Fraction(1)

    @property
    def noises(self) -> tuple[tuple[Noise, int], ...]:
        """One noise on one integer."""
        return ((self._noise(Sensitivity.entries(1, self.sensitivity)), 1),)

    def error(self, beta: float = 0.05) -> float:
        """Return the half-width of the noise, scaled."""
        return float(self.noises[0][0].half_width(beta) * self.unit)

    def chances(self, exact: int) -> dict[int | float, Chance]:
        """Return rational bounds on the probability of every answer."""
        known = self.noises[0][0].chances()
        answers = self._outer([plus(int(exact), np.array(list(known), dtype=object))])
        return dict(zip(answers.tolist(), known.values(), strict=True))

    def _inner(self, exact: int) -> Sequence[int]:
        return (int(exact),)

    def _outer(self, noisy: list[NDArray[Any]]) -> NDArray[Any]:
        (values,) = noisy
        if self.unit == 1:
            return values
        if self.unit.denominator == 1:
            return values.astype(object) * int(self.unit)
        return floats(values) * as_float(self.unit.numerator) / as_float(self.unit.denominator)
