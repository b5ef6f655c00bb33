"""Quantile: the exponential mechanism over a declared grid, run by run between the data; several quantiles at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.exponential import Exponential
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import positive, whole
from discreet.core.doors import opened
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.exact import Exact
from discreet.core.rational import Number, as_written
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass, replace
from discreet.mechanisms.parts.mechanism import Chance, Trial, Trials
from discreet.mechanisms.parts.raw_values import Grid, Steps, as_float
from discreet.mechanisms.parts.refinement import Counts, Task, find, passes_for
from discreet.mechanisms.parts.runs import Runs, padded
from discreet.mechanisms.parts.tails import chance

Method = Literal["recursive", "separate"]
Others = Any  # the other parameters of a quantile, by name

# With as many public records, and as many others as any table has, ranks still fit 64 bits.
MOST_OFFSET = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """Releases grid points near the quantiles q of values clamped to [low, high]: a number, or an array for several.

    With b records below a point and u up to and including it, the point scores min(q n - b, u - q n): minus the number
    of records between it and the quantile (Smith 2011), or, where it is the quantile, how deep in its ties that lies. A
    record that comes moves q n by q, and b and u by 0 or 1: it moves either term, and so the smaller one, by at most
    max(q, 1 - q). Under replace q n stays, and b and u move by at most 1. Several quantiles are found one inside the
    other, halving the list (Kaplan, Schnapp, Stemmer 2022, `method="recursive"`), or each by itself (`"separate"`).

    An `offset` moves the target from rank q n to q n + offset, with the bounds standing for all ranks beyond the data:
    `bracket` says which offsets enclose a quantile. Being a constant, it cancels in what one record moves a score by.

    Guarantee: an exponential mechanism, Exponential(epsilon), for one quantile. For m of them: m times epsilon / m
    ("separate"), or levels times epsilon / levels, levels = ceil(log2(m + 1)) ("recursive": a unit lies in one part of
    each level under add_remove, in two under replace, for which scores are weighed half).
    Error: in records (ranks), for the worst of the quantiles; for "recursive" up to records tied with an answer.
    """

    q: Number | tuple[Number, ...] = Fraction(1, 2)
    low: Number
    high: Number
    step: Number | None = None
    epsilon: Number
    relation: Relation = "add_remove"
    contributions: int = 1
    method: Method = "recursive"
    offset: int = 0

    def __post_init__(self) -> None:
        grid = Grid.between(self.low, self.high, self.step)
        asked = tuple(self.q) if isinstance(self.q, Iterable) else (self.q,)
        settled = {
            "q": tuple(_check_q(each) for each in asked) if isinstance(self.q, Iterable) else _check_q(self.q),
            "low": grid.low * grid.step,
            "high": grid.high * grid.step,
            "step": grid.step,
            "epsilon": Fraction(positive("epsilon", self.epsilon)),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        if not asked or any(a >= b for a, b in zip(self.quantiles, self.quantiles[1:], strict=False)):
            raise BadParameter(
                "q", self.q, why="several quantiles are listed once each, rising", fix="use (0.25, 0.75)"
            )
        check_relation(self.relation)
        whole("contributions", self.contributions)
        if self.method not in ("recursive", "separate"):
            raise UnknownName("method", str(self.method), ("recursive", "separate"))
        if isinstance(self.offset, bool) or not isinstance(self.offset, int):
            raise BadParameter("offset", self.offset, why="ranks are integers", fix="use an int such as -20")
        if abs(self.offset) > MOST_OFFSET:
            why = f"no table has {MOST_OFFSET:,} records, so that every such target lies beyond them"
            raise BadParameter("offset", self.offset, why=why, fix="use a smaller one; of a bracket, a larger epsilon")
        if self.offset and self.method == "recursive" and len(asked) > 1:
            why = "nested parts have targets of their own"
            raise BadParameter("offset", self.offset, why=why, fix="use method='separate', or one quantile")

    @classmethod
    def minimum(cls, *, low: Number, high: Number, epsilon: Number, rows: int, **others: Others) -> Quantile:
        """Return the quantile to ask for as a minimum of so many rows, which are declared or bought.

        The minimum itself has no safe neighbourhood: every point below it would score as well. This quantile lies as
        deep among the data as the exponential mechanism needs to tell it from the empty space, with probability 0.95.
        """
        # A row moves the score of an extreme quantile by up to 1, that of the median by 1/2: twice its error will do.
        shape = cls(q=Fraction(1, 2), low=low, high=high, epsilon=epsilon, **others)
        depth = Fraction(math.ceil(2 * shape.error(0.05)), whole("rows", rows))
        return cls(q=min(depth, Fraction(1, 2)), low=low, high=high, epsilon=epsilon, **others)

    @classmethod
    def maximum(cls, *, low: Number, high: Number, epsilon: Number, rows: int, **others: Others) -> Quantile:
        """Return the quantile to ask for as a maximum: the mirror of `minimum`."""
        mirror = cls.minimum(low=low, high=high, epsilon=epsilon, rows=rows, **others)
        return cls(q=1 - mirror.quantiles[0], low=low, high=high, epsilon=epsilon, **others)

    @property
    def grid(self) -> Grid:
        """The bounds, counted in steps."""
        return Grid.of(self.low, self.high, self.step)

    @property
    def quantiles(self) -> tuple[Fraction, ...]:
        """All that are asked for."""
        return tuple(self.q) if isinstance(self.q, tuple) else (self.q,)  # type: ignore[arg-type,return-value]

    @property
    def rounds(self) -> int:
        """How many exponential mechanisms one unit takes part in."""
        count = len(self.quantiles)
        return count if self.method == "separate" else math.ceil(math.log2(count + 1))

    @property
    def loss(self) -> PrivacyLoss:
        """As many exponential mechanisms as there are rounds."""
        each = Fraction(self.epsilon) / self.rounds
        return Exponential(each, relation=self.relation) * self.rounds

    def bracket(self, beta: float = 0.05) -> QuantileBracket:
        """Return offsets whose answers enclose the quantiles of the data with probability 1 - beta, and their price.

        Buy `shifted(below)` and `shifted(above)`: each is one more exponential mechanism for every quantile, at the
        same epsilon, so that a quantile with its bracket costs three times as much as alone. Each end is off by less
        than its offset with probability 1 - beta/2, hence below (above) every value that can be called the q-quantile;
        where the data end before, it is the bound.
        """
        alone = replace(self, method="separate", offset=0)
        ranks = math.floor(alone.error(float(chance(beta) / 2)) * (1 + 1e-12)) + 1
        return QuantileBracket(-ranks, ranks, alone.loss * 2)

    def shifted(self, offset: int) -> Quantile:
        """Return the mechanism whose targets lie so many ranks higher, each quantile by itself."""
        return replace(self, method="separate", offset=offset)

    def error(self, beta: float = 0.05) -> float:
        """Return the rank error: each choice is off by (2 sensitivity / epsilon) ln(points / beta) records at most.

        McSherry and Talwar 2007; the errors of nested choices add up, since each lies between two earlier ones.
        """
        points, count = self.grid.width + 1, len(self.quantiles)
        reach = math.log(points) - math.log(float(chance(beta)) / count)
        nested = self.rounds if self.method == "recursive" else 1
        moved = max(self._sensitivity(q) for q in self._splits(self.quantiles))
        return nested * float(2 * moved * self.rounds / Fraction(self.epsilon)) * reach

    def exact(self, values: Iterable[Any]) -> Steps:
        """Return the values that are not null, in steps."""
        return self.grid.integers(values)

    def release(self, exact: Exact[Sequence[int] | Steps] | Sequence[int] | Steps) -> float | NDArray[np.float64]:
        """Return the private quantiles of values in steps, in any order.

        Guarantee: `loss`, under `relation`, for units of at most `contributions` rows.
        """
        return self._answer(self._bounded(opened(exact)))

    def __call__(self, values: Iterable[Any]) -> float | NDArray[np.float64]:
        """Return the private quantiles of raw values.

        Guarantee: that of `release`.
        """
        return self._answer(self.exact(values))

    def search(self, counts: Counts, groups: int, cells: int = 1024) -> NDArray[np.float64]:
        """Return the private quantiles of many groups, numbered from 0, without their rows.

        `counts` answers a list of requests in one pass over the data, in steps and clamped to the bounds: for each of
        them, the cells that are not empty and how many records they hold. Passes are as many as it takes to cut the
        grid into single points, `cells` at a time (for nested quantiles, in every round), which is public; now and then
        a few groups need one more, which is not. All answers have exactly the distribution of `release`; there is a
        row for each group.

        Guarantee: that of `release` for every group by itself. For all groups together it is `loss` as well, for units
        of at most `contributions` rows in all of them under add_remove: the exponents of what one unit changes add up
        over its rows, whichever groups they are in.
        """
        answers = self._real(self.search_steps(counts, groups, cells))
        return answers if isinstance(self.q, tuple) else answers[:, 0]

    def search_steps(self, counts: Counts, groups: int, cells: int = 1024) -> Steps:
        """Return what `search` does, in steps: a row for each group, with a column for each quantile.

        Guarantee: that of `search`.
        """
        whole("cells", cells, least=2)
        out = np.empty((whole("groups", groups, least=0), len(self.quantiles)), dtype=np.int64)
        if not groups:
            return out
        passes = passes_for(self.grid.width + 1, cells)
        if self.alone:
            found = find(self.tasks(groups), counts, cells, passes)
            out[:] = np.sort(np.reshape(found, out.shape), axis=-1)
            return out
        parts = [(group, self._whole) for group in range(groups)]
        while parts:
            tasks = [self._task(group, part, part.within(self.quantiles[part.middle])) for group, part in parts]
            inner = []
            for (group, part), point in zip(parts, find(tasks, counts, cells, passes), strict=True):
                out[group, part.middle] = point
                inner += [(group, half) for half in part.halves(point, self.quantiles[part.middle])]
            parts = inner
        return out

    def tasks(self, groups: int) -> list[Task]:
        """Return what is to be found in so many groups, each quantile by itself."""
        if not self.alone:
            why = "nested quantiles are found one after the other"
            raise BadParameter("method", self.method, why=why, fix="use method='separate'")
        if self.relation == "replace" and groups > 1:
            why = "a unit that is replaced may leave one group and join another, so their sizes are not public"
            fix = "use relation='add_remove' with twice the contributions, which covers an exchange"
            raise BadParameter("relation", self.relation, why=why, fix=fix)
        each = [self._task(0, self._whole, q) for q in self.quantiles]
        return [replace(task, group=group) for group in range(groups) for task in each]

    def _task(self, group: int, part: QuantileSpan, q: Fraction) -> Task:
        last = part.high == self.grid.high
        return Task(group, part.low, part.high, part.data_low, q, self._rate(q), self.offset, last)

    def _answer(self, data: Steps) -> float | NDArray[np.float64]:
        """Answer from values within the bounds, which are put in order as far as needed."""
        (answer,) = self._real(self._find(data, 1))
        return answer if isinstance(self.q, tuple) else float(answer[0])

    def releases(self, exact: Sequence[int] | Steps, count: int) -> NDArray[np.float64]:
        """Return many independent answers, for audits and simulations: each costs `loss`."""
        steps = self._find(self._bounded(exact), whole("count", count))
        answers = self._real(steps)
        return answers if isinstance(self.q, tuple) else answers[:, 0]

    def chances(self, exact: Sequence[int] | Steps) -> dict[float, Chance]:
        """Return rational bounds on the probability of every grid point, for one quantile."""
        if len(self.quantiles) > 1:
            why = "the outcomes of several quantiles are too many to list"
            raise BadParameter("q", self.q, why=why, fix="ask for the chances of one quantile")
        runs = self._runs(self._bounded(exact), self.grid.low, self.grid.high, self.quantiles[0])
        known = runs.chances()
        answers = self._real(np.array(list(known), dtype=np.int64)).tolist()
        return dict(zip(answers, known.values(), strict=True))

    def _real(self, steps: Steps) -> NDArray[np.float64]:
        step = self.grid.step
        return steps.astype(np.float64) * as_float(step.numerator) / as_float(step.denominator)

    def _bounded(self, exact: Sequence[int] | Steps) -> Steps:
        grid = self.grid
        # A list becomes objects: whole numbers beyond 64 bits among others would turn all of them into floats.
        data = exact if isinstance(exact, np.ndarray) else np.array([*exact], dtype=object)
        if data.dtype.kind not in "iuO":
            why = "exact values are whole numbers of steps"
            raise BadParameter("exact", str(data.dtype), why=why, fix="pass raw values to exact(), or to the mechanism")
        # Steps outside the bounds, also those that no int64 holds, are clamped like raw values.
        wide = data.astype(object) if data.dtype.kind == "u" else data
        bounded: Steps = np.clip(wide, grid.low, grid.high).astype(np.int64, copy=False)
        return bounded

    def _sensitivity(self, q: Fraction) -> Fraction:
        """Return how many ranks one unit moves a score."""
        if self.relation == "add_remove":
            return max(q, 1 - q) * self.contributions
        # Alone, q n is fixed and a rank moves by 1. In nested parts the row leaves one part and joins another.
        return (Fraction(1) if self.alone else 2 * max(q, 1 - q)) * self.contributions

    @property
    def alone(self) -> bool:
        """Whether every quantile is sought among all records."""
        return self.method == "separate" or len(self.quantiles) == 1

    def _runs(self, data: Steps, low: int, high: int, q: Fraction) -> Runs:
        return Runs(padded(data, low, high, self.offset), low, high, q, self._rate(q), self.offset)

    def _rate(self, q: Fraction) -> Fraction:
        """Return by how much a record between a point and the quantile, over the denominator of q, weighs a point."""
        return Fraction(self.epsilon) / (2 * self.rounds * self._sensitivity(q) * q.denominator)

    @property
    def _whole(self) -> QuantileSpan:
        grid = self.grid
        return QuantileSpan(grid.low, grid.high, grid.low, 0, len(self.quantiles), Fraction(0), Fraction(1))

    def _find(self, data: Steps, count: int) -> Steps:
        """Return `count` rows of answers, in steps."""
        grid = self.grid
        if self.alone:
            found = [_drawn(self._runs(data, grid.low, grid.high, q), count) for q in self.quantiles]
            return np.sort(np.stack(found, axis=-1), axis=-1)
        data.sort()
        out = np.empty((count, len(self.quantiles)), dtype=np.int64)
        self._nested(data, self._whole, out)
        return out

    def _nested(self, data: Steps, part: QuantileSpan, out: Steps) -> None:
        """Find the middle quantile of a part among its data, then the others to its left and to its right.

        Repetitions that found the same value go on together.
        """
        middle = part.middle
        q = self.quantiles[middle]
        out[:, middle] = _drawn(self._runs(data, part.low, part.high, part.within(q)), len(out))
        for found in np.unique(out[:, middle]).tolist():
            rows = out[:, middle] == found
            again = out[rows]
            cut = int(np.searchsorted(data, found, side="right"))
            for half in part.halves(found, q):
                self._nested(data[:cut] if half.last == middle else data[cut:], half, again)
            out[rows] = again

    def _splits(self, asked: tuple[Fraction, ...]) -> list[Fraction]:
        """Return the relative quantiles that the parts are asked for."""
        if self.method == "separate":
            return list(asked)

        def split(asked: tuple[Fraction, ...], below: Fraction, above: Fraction) -> list[Fraction]:
            if not asked:
                return []
            middle = len(asked) // 2
            cut = asked[middle]
            inner = split(asked[:middle], below, cut) + split(asked[middle + 1 :], cut, above)
            return [(cut - below) / (above - below), *inner]

        return split(asked, Fraction(0), Fraction(1))


class QuantileBracket(NamedTuple):
    """Offsets in ranks, and what the two quantiles with these offsets cost together."""

    below: int
    above: int
    loss: PrivacyLoss


@dataclass(frozen=True, slots=True)
class QuantileSpan:
    """Grid points low .. high, in which quantiles number first .. last - 1 are sought, between two found before.

    Its records are those with values from data_low to high.
    """

    low: int
    high: int
    data_low: int
    first: int
    last: int
    below: Fraction
    above: Fraction

    @property
    def middle(self) -> int:
        """The number of the quantile to find first."""
        return (self.first + self.last) // 2

    def within(self, q: Fraction) -> Fraction:
        """Return a quantile of all records as one of this part."""
        return (q - self.below) / (self.above - self.below)

    def halves(self, found: int, q: Fraction) -> list[QuantileSpan]:
        """Return the parts to the left and to the right of the middle quantile, in which others are sought.

        Records tied with it go to the left.
        """
        left = replace(self, high=found, last=self.middle, above=q)
        right = replace(self, low=found, data_low=found + 1, first=self.middle + 1, below=q)
        return [part for part in (left, right) if part.first < part.last]


def _drawn(runs: Runs, count: int) -> Steps:
    """Draw one grid point without, or many with, a table of all."""
    return np.array([runs.one()], dtype=np.int64) if count == 1 else runs.many(count)


def _check_q(value: object) -> Fraction:
    q = as_written("q", value)
    if not 0 <= q <= 1:
        raise BadParameter("q", value, why="a quantile lies between 0 and 1", fix="use 0.5 for the median")
    return q


def trials() -> Trials:
    """Yield the worst neighbours: a record that moves the rank of every point on one side."""
    yield Trial("a median", Quantile(low=0, high=7, epsilon=1), [1, 2, 5], [1, 2, 5, 7])
    yield Trial("a quartile", Quantile(q=0.25, low=0, high=5, epsilon=2), [3, 3, 3], [3, 3])
    replace = Quantile(low=0, high=6, epsilon=1, relation="replace")
    yield Trial("one end for the other", replace, [0, 3, 3, 6], [6, 3, 3, 6])
    yield Trial("an offset beyond the data", Quantile(low=0, high=5, epsilon=1, offset=-2), [3, 4], [3, 4, 5])
    several = Quantile(q=(0.25, 0.5, 0.75), low=0, high=3, epsilon=2)
    yield Trial("three at once", several, [0, 1, 2, 3], [0, 1, 2, 3, 3])
