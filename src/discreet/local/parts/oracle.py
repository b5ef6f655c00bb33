"""Frequency oracles: protocols whose reports each support some of the values 0 .. k-1."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.account.numeric.checks import finite, whole
from discreet.core.errors import BadParameter
from discreet.core.rational import Number
from discreet.local.estimate import Estimate
from discreet.local.grid import asked
from discreet.local.parts import interval
from discreet.local.post_processing import processed
from discreet.local.protocol import Protocol, categories, reports_of
from discreet.local.sketch import Sketch

_MOST_WRITTEN = 1 << 16


class Oracle(Protocol):
    """A protocol in which a report supports its own value with probability p and every other one with probability q.

    Anyone who has a value counts towards it with probability p, everyone else with probability q, independently: the
    estimate (support - n q)/(p - q) is unbiased (Wang, Blocki, Li, Jha 2017).
    """

    __slots__ = ()
    k: int

    @property
    @abstractmethod
    def support(self) -> tuple[Fraction, Fraction]:
        """The probabilities (p, q) that a report supports its own value, and any other one, exactly."""

    @abstractmethod
    def supports(self, sketch: Sketch) -> NDArray[np.int64]:
        """Return how many reports support each value."""

    def checked(self, values: ArrayLike) -> NDArray[Any]:
        """Return the values, refusing any outside 0 .. k-1."""
        return categories(values, self.k)

    def estimate(self, sketch: Sketch, beta: float = 0.05, post: str | None = None) -> Estimate:
        """Return how many reports are of each value, with an interval that holds with probability 1 - beta.

        Without `post` the values are unbiased, and may be negative; "simplex", "norm_sub" and "base_cut" make them
        consistent (see `discreet.local.post_processing`).
        """
        found = self.own(sketch)
        p, q = self.support
        value, low, high = interval.counts(self.supports(found), found.reports, p, q, beta)
        estimate = Estimate(
            value, low, high, reports=found.reports, rejected=found.rejected, beta=beta, protocol=str(self)
        )
        return processed(estimate, post, threshold=self.error(found.reports, beta)) if post is not None else estimate

    def variance(self, n: int, count: Number = 0) -> float:
        """Return the variance of the estimate for a value that `count` of n people have."""
        p, q = self.support
        people, having = reports_of(n), Fraction(finite("count", count))
        return float((having * p * (1 - p) + (people - having) * q * (1 - q)) / (p - q) ** 2)

    def __str__(self) -> str:
        return f"{self.name}(k={self.k}, epsilon={float(self.epsilon):g})"

    def written(self, outcomes: int) -> None:
        """Refuse to write out a distribution of too many outcomes."""
        if outcomes > _MOST_WRITTEN:
            why = f"it has {outcomes:,} reports, too many to write out"
            raise BadParameter("k", self.k, why=why, fix="ask for the likelihood of a smaller protocol")


def parameters(k: int, epsilon: Number) -> tuple[int, Fraction]:
    """Return a number of values and an epsilon, checked."""
    size = whole("k", k, least=2)
    if size > 1 << 30:
        why = "a table of estimates for so many values does not fit into memory"
        raise BadParameter("k", k, why=why, fix="hash the values, or use heavy_hitters")
    return size, asked(epsilon)
