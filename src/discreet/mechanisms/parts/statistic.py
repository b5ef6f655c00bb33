"""What count, sum, mean and their like share: exact integers, integer noise on each, arithmetic on the result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import Number, whole
from discreet.core.doors import opened
from discreet.core.errors import BadParameter
from discreet.core.exact import Exact
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass, replace
from discreet.mechanisms.parts.integer_noise import (
    Noise,
    Sensitivity,
    Whole,
    calibrated,
    check_price,
    floats,
    plus,
    total,
    whole_numbers,
)
from discreet.mechanisms.parts.mechanism import Chance
from discreet.mechanisms.parts.noisy import Noisy
from discreet.mechanisms.parts.raw_values import as_float
from discreet.noise.arrays import NDArray, np
from discreet.noise.sampling import pack

# The exact integers of a group: one, or several, which differs from statistic to statistic; so does the answer.
Integers = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic(ABC):
    """A mechanism that adds integer noise to a few exact integers and computes its answer from the sums.

    `epsilon` buys Laplace noise, `rho` Gaussian noise. `contributions` is the most rows of one unit among the values (1
    protects rows); bounding them is the caller's part, before the exact integers are computed.

    The same statistic is asked for many groups at once by `tables`. `groups` is the most of them that one unit can be
    in, with at most `contributions` rows in all of them together, and at most `in_group` in each, where that is less.
    Under replace a unit leaves its groups and joins others: with `groups` above 1 the noise covers a removal and an
    addition, wherever they happen.
    """

    epsilon: Number | None = None
    rho: Number | None = None
    relation: Relation = "add_remove"
    contributions: int = 1
    groups: int = 1
    in_group: int | None = None

    def __post_init__(self) -> None:
        epsilon, rho = check_price(self.epsilon, self.rho)
        self._set(epsilon=epsilon, rho=rho)
        check_relation(self.relation)
        whole("contributions", self.contributions)
        whole("groups", self.groups)
        if self.in_group is not None and (whole("in_group", self.in_group) > self.contributions or self.groups == 1):
            why = "a group has no more rows of a unit than all groups together, of which there are several"
            raise BadParameter("in_group", self.in_group, why=why, fix="leave it out, or lower contributions")

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
        """What one release costs, of one group or of all groups at once: the losses of all parts together."""
        return total(noise.loss for noise, _ in self.noises)

    def release(self, exact: Exact[Integers] | Integers) -> Integers:
        """Return the private answer to exact integers.

        Guarantee: `loss`, under `relation`, for units of at most `contributions` rows.
        """
        answer = self.releases(opened(exact), 1)[0]
        return answer.item() if isinstance(answer, np.generic) else answer

    def releases(self, exact: Integers, count: int) -> NDArray[Any]:
        """Return many independent answers to one question, for audits and simulations: each costs `loss`."""
        return self._outer(self._noisy(self._inner(exact), whole("count", count)))

    def tables(self, exact: Exact[Sequence[Integers]] | Sequence[Integers]) -> list[Integers]:
        """Return the private answers for many groups, given the exact integers of each.

        Guarantee: `loss` for all of them together, under `relation`, for units of at most `contributions` rows in at
        most `groups` groups. Which groups there are must not depend on the data (declared or privately selected keys).
        """
        found = self.answers(self.noisy(exact))
        return found.tolist() if found.ndim == 1 else list(found)

    def noisy(self, exact: Exact[Sequence[Integers]] | Sequence[Integers]) -> NDArray[Any]:
        """Return the noisy integers of many groups, a row for each and in the order of `noises`: int64, or Python's.

        Guarantee: that of `tables`; all else that is made of them is post-processing.
        """
        found = self.noisy_rows(exact)
        if not isinstance(found, list):
            return found
        return pack([each for row in found for each in row], narrow=True).reshape(len(found), self.parts)

    def noisy_rows(self, exact: Exact[Sequence[Integers]] | Sequence[Integers]) -> NDArray[Any] | list[list[int]]:
        """Return what `noisy` does: an array, or lists of integers where there are few.

        Guarantee: that of `tables`.
        """
        found = opened(exact)
        if self.relation == "replace" and not self._moves_others and len(found) > 1:
            why = "a unit that is replaced may leave one group and join another, so two answers change"
            raise BadParameter("groups", self.groups, why=why, fix="use groups=2 or more, or relation='add_remove'")
        drawn = self._drawn(len(found))
        few = [entry for entry in drawn if isinstance(entry, list)]
        if len(few) == len(drawn):
            pairs = zip(map(self.inner, found), zip(*few, strict=True), strict=True)
            return [[one + own for one, own in zip(row, each, strict=True)] for row, each in pairs]
        return np.stack(_added(self._inner(_columns(found)), drawn), axis=-1)

    def measured(self, exact: Exact[Sequence[Integers]]) -> Noisy:
        """Return the noisy integers of many groups with their laws and their price: for what came from an engine.

        Guarantee: that of `tables`.
        """
        found = self.noisy_rows(exact)
        return self.supposed(found if isinstance(found, list) else found.tolist())

    def supposed(self, integers: Sequence[Sequence[int]]) -> Noisy:
        """Return integers as if they came from `measured`: to suppose data by, which are public."""
        laws = [(noise.law, noise.scale) for noise, size in self.noises for _ in range(size)]
        return Noisy(tuple(tuple(map(int, row)) for row in integers), tuple(laws), self.loss)

    def answers(self, noisy: NDArray[Any]) -> NDArray[Any]:
        """Return what `noisy` integers say, group by group: an array whose first axis counts the groups."""
        return self._outer(list(noisy.T))

    def inner(self, exact: Integers) -> list[int]:
        """Return the exact integers of one group that noise goes to, in the order of `noises`: to suppose data by."""
        return [int(each) for each in self._inner(exact)]

    @property
    def parts(self) -> int:
        """How many integers get noise in each group."""
        return sum(size for _, size in self.noises)

    def __call__(self, values: Iterable[Any]) -> Integers:
        """Return the private answer on raw values.

        Guarantee: that of `release`.
        """
        return self.release(self.exact(values))

    @abstractmethod
    def _inner(self, exact: Integers) -> Sequence[Whole]:
        """Return the integers that get noise; where the exact ones are columns, so are these."""

    @abstractmethod
    def _outer(self, noisy: list[NDArray[Any]]) -> NDArray[Any]:
        """Compute answers from noisy integers, one array of repetitions, or of groups, for each integer."""

    def _noisy(self, integers: Sequence[Whole], count: int) -> list[NDArray[Any]]:
        return _added(integers, self._drawn(count))

    def _drawn(self, count: int) -> list[NDArray[Any] | list[int]]:
        """Draw the noise of each integer, for so many groups."""
        return [entry for noise, size in self.noises for entry in noise.draw((size, count))]

    @property
    def _within(self) -> Relation:
        """The relation that a single group meets: where there are others, a replaced unit leaves it, or joins it."""
        return "add_remove" if self.groups > 1 else self.relation

    @property
    def _moves_others(self) -> bool:
        """Whether the noise covers a replaced unit that leaves one group and joins another."""
        return self.groups > 1

    @property
    def _one_sign(self) -> bool:
        """Whether a unit that is added moves no integer down (or none up)."""
        return True

    def _noise(self, sensitivity: Sensitivity, share: Fraction | int = 1) -> Noise:
        """Return the noise for a part that a unit moves so far, under `_within`, with all of its rows in one group.

        n rows in one group move the part by at most n v, so l2^2 = (contributions v)^2. With x_j rows in group j it is
        at most v^2 times the sum of x_j^2, which is largest where as many groups as possible have `in_group` rows.
        """
        moved = sensitivity.over(min(self.groups, self.contributions))
        if self.in_group is not None:
            full, rest = divmod(self.contributions, self.in_group)
            squares = moved.l2_squared * (full * self.in_group**2 + rest**2)
            moved = replace(moved, l2_squared=-(-squares // self.contributions**2))
        if self.groups > 1 and self.relation == "replace":
            moved = moved.exchanged(self._one_sign)
        return calibrated(moved, self.epsilon, self.rho, self.relation, share)

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar(Statistic):
    """A statistic that is one integer, released in steps of `unit`."""

    @property
    @abstractmethod
    def sensitivity(self) -> int:
        """How far one unit moves the integer; of a group, where there are several."""

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

    def _inner(self, exact: Integers) -> Sequence[Whole]:
        return (whole_numbers(exact),)

    def _outer(self, noisy: list[NDArray[Any]]) -> NDArray[Any]:
        (values,) = noisy
        if self.unit == 1:
            return values
        if self.unit.denominator == 1:
            return values.astype(object) * int(self.unit)
        return floats(values) * as_float(self.unit.numerator) / as_float(self.unit.denominator)


def _added(integers: Sequence[Whole], drawn: Sequence[NDArray[Any] | list[int]]) -> list[NDArray[Any]]:
    return [plus(one, entry) for one, entry in zip(integers, drawn, strict=True)]


def _columns(exact: Sequence[Integers]) -> Integers:
    """Return the exact integers of many groups as columns of Python integers, which do not wrap."""
    if isinstance(exact, np.ndarray):
        table = exact.astype(object)
    elif np.ndim(exact[0]) == 0:
        table = np.array([int(each) for each in exact], dtype=object)
    else:
        table = np.array([[int(each) for each in group] for group in exact], dtype=object)
    return table if table.ndim == 1 else list(table.T)
