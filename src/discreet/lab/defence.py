"""Defences: the ways in which a custodian may answer an attacker, from exact numbers to a vault of Discreet's own.

A defence is a value; `protect` puts it in front of the values of a copy and gives a target, which answers questions. A
question is a group of rows, as the attacker knows them, and its answer is the sum of their values: a count, where the
values are bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import Number, positive, whole
from discreet.core.errors import BadParameter
from discreet.lab.table_copy import Bits
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.noise.uniform import uniform

Groups = NDArray[np.bool_]  # a row for each question, a column for each row of the copy
Answers = NDArray[np.float64]  # NaN where a target does not answer
# How likely a promise that has a delta may fail where one epsilon is wanted to compare it by.
DELTA = 1e-6


class Target(Protocol):
    """What answers questions about values that it holds and the attacker wants."""

    def sums(self, groups: Groups) -> Answers:
        """Answer one question for each row of `groups`."""
        ...


class Defence(Protocol):
    """A way to answer; `epsilon` is what it promises about one row in all its answers, None where it is nothing."""

    @property
    def name(self) -> str:
        """What it does, in a few words."""
        ...

    @property
    def epsilon(self) -> float | None:
        """The promise about one row, in all answers together (at a delta of `DELTA`, where there is one)."""
        ...

    def protect(self, values: Bits, questions: int, most: int = 1) -> Target:
        """Put it in front of values from 0 to `most`, for so many questions at most."""
        ...


def ceiling(epsilon: float | None, delta: float = 0.0) -> float | None:
    """Return the share of fair bits that no attacker can expect to exceed, or None where nothing is promised.

    Given everyone else's bits, both values of one make every event likely within a factor of exp(epsilon), up to
    delta, and the better guess is right with probability at most (exp(epsilon) + delta) / (1 + exp(epsilon)).
    """
    return None if epsilon is None else min(1.0, (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon)))


@dataclass(frozen=True, slots=True)
class _Answering:
    """A target that makes its answers out of the exact ones."""

    values: Bits
    answer: Callable[[Bits, Bits], Answers]

    def sums(self, groups: Groups) -> Answers:
        """Count exactly, then answer."""
        weights = np.column_stack([self.values, np.ones_like(self.values)]).astype(np.float64)
        # Some rows at a time: as numbers, the groups of ten thousand people would take gigabytes.
        step = max(1, (1 << 23) // max(1, groups.shape[1]))
        parts = [groups[at : at + step].astype(np.float64) @ weights for at in range(0, len(groups), step)]
        both = np.rint(np.concatenate([np.empty((0, 2)), *parts]))
        exact, sizes = both.astype(np.int64).T
        return np.asarray(self.answer(exact, sizes), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class ExactDefence:
    """Answers are exact: a plain table that anyone may count in."""

    name = "exact"
    epsilon = None

    def protect(self, values: Bits, questions: int, most: int = 1) -> Target:  # noqa: ARG002  (nothing depends on them)
        """Answer everything as it is."""
        return _Answering(values, lambda exact, _: exact.astype(np.float64))


@dataclass(frozen=True, slots=True)
class RoundedDefence:
    """Answers are rounded to a multiple of `base`; halves go up."""

    base: int
    epsilon = None

    def __post_init__(self) -> None:
        whole("base", self.base)

    @property
    def name(self) -> str:
        """The base, in words."""
        return f"rounded to {self.base}"

    def protect(self, values: Bits, questions: int, most: int = 1) -> Target:  # noqa: ARG002
        """Round every answer."""
        base = self.base
        return _Answering(values, lambda exact, _: ((2 * exact + base) // (2 * base) * base).astype(np.float64))


@dataclass(frozen=True, slots=True)
class SuppressedDefence:
    """No answer about fewer than `least` rows, and exact ones about all others."""

    least: int
    epsilon = None

    def __post_init__(self) -> None:
        whole("least", self.least)

    @property
    def name(self) -> str:
        """The threshold, in words."""
        return f"suppressed below {self.least}"

    def protect(self, values: Bits, questions: int, most: int = 1) -> Target:  # noqa: ARG002
        """Withhold answers about small groups."""
        return _Answering(values, lambda exact, sizes: np.where(sizes >= self.least, exact, np.nan))


@dataclass(frozen=True, slots=True)
class SampledDefence:
    """Answers are exact about a sample of the rows, drawn once, and scaled up."""

    share: float
    epsilon = None

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            why = "it is the share of the rows that are kept"
            raise BadParameter("share", self.share, why=why, fix="use a share between 0 and 1, such as 0.5")

    @property
    def name(self) -> str:
        """The share, in words."""
        return f"sampled {self.share:.0%}"

    def protect(self, values: Bits, questions: int, most: int = 1) -> Target:  # noqa: ARG002
        """Draw the sample, once."""
        kept = uniform(10**6, len(values)) < round(self.share * 10**6)
        return _Answering(values * kept, lambda exact, _: exact / self.share)


@dataclass(frozen=True, slots=True)
class NoisyDefence:
    """Every answer is off by an integer, any from -width to width alike: noise that promises nothing."""

    width: int
    epsilon = None

    def __post_init__(self) -> None:
        whole("width", self.width)

    @property
    def name(self) -> str:
        """The width, in words."""
        return f"noise within {self.width}"

    def protect(self, values: Bits, questions: int, most: int = 1) -> Target:  # noqa: ARG002
        """Add noise to every answer again."""
        width = self.width
        return _Answering(
            values, lambda exact, _: (exact + uniform(2 * width + 1, len(exact)) - width).astype(np.float64)
        )


@dataclass(frozen=True, slots=True)
class LaplaceDefence:
    """Discreet's Laplace mechanism for all questions together.

    Guarantee: pure `total` under add_remove of one row, over all answers.
    """

    total: Number

    def __post_init__(self) -> None:
        positive("epsilon", self.total)

    @property
    def name(self) -> str:
        """The promise, in words."""
        return f"Discreet, epsilon {float(self.total):g} in all"

    @property
    def epsilon(self) -> float:
        """The promise about one row."""
        return float(self.total)

    def protect(self, values: Bits, questions: int, most: int = 1) -> Target:
        """Answer so many questions together; one row moves each answer by at most `most`."""
        noise = Laplace(sensitivity=questions * most, epsilon=self.total)
        return _Planned(values, questions, lambda exact: np.asarray(noise.release(exact), np.float64))


@dataclass(frozen=True, slots=True)
class GaussianDefence:
    """Discreet's Gaussian mechanism for all questions together.

    Guarantee: `rho`-zCDP under add_remove of one row, over all answers.
    """

    rho: Number

    def __post_init__(self) -> None:
        positive("rho", self.rho)

    @property
    def name(self) -> str:
        """The promise, in words."""
        return f"Discreet, rho {float(self.rho):g} in all"

    @property
    def epsilon(self) -> float:
        """The promise about one row, at a delta of `DELTA`."""
        from discreet.account.losses.zcdp import Zcdp

        return Zcdp(self.rho).epsilon(DELTA)

    def protect(self, values: Bits, questions: int, most: int = 1) -> Target:
        """Answer so many questions together; one row moves each answer by at most `most`."""
        squared = Fraction(questions) * most**2
        noise = Gaussian(sensitivity_squared=squared, rho=self.rho, dimension=questions)
        return _Planned(values, questions, lambda exact: np.asarray(noise.release(exact.tolist()), np.float64))


@dataclass(slots=True)
class _Planned:
    """A target whose noise was made for so many questions, asked at once or in parts: those beyond get no answer."""

    values: Bits
    questions: int
    release: Callable[[Bits], Answers]
    left: int = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.questions

    def sums(self, groups: Groups) -> Answers:
        """Answer as many questions as are left."""
        answered = min(self.left, len(groups))
        self.left -= answered
        found = np.full(len(groups), np.nan)
        found[:answered] = _Answering(self.values, self._noised).sums(groups[:answered])
        return found

    def _noised(self, exact: Bits, _: Bits) -> Answers:
        """Draw the noise of the whole vector, which is as long as planned, and keep what was asked of it."""
        return self.release(np.pad(exact, (0, self.questions - len(exact))))[: len(exact)]
