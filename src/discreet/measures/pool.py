"""Pool: aggregates of one column that are computed from the same noisy integers, at the price of all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial

from discreet.account.budgets.price import Price
from discreet.answers.quantity import NoisyInteger, Quantity
from discreet.core.value import dataclass, replace
from discreet.measures.measure import Measure, measure_of
from discreet.measures.moments import SharedMoments
from discreet.measures.reach import Reach
from discreet.measures.sums import SumMeasure, present, sum_of
from discreet.mechanisms.moments import Moments
from discreet.plan.aggregates import Aggregate, Count, Mean, Std, Sum, Variance
from discreet.plan.expressions import Expression
from discreet.plan.keys import Tally
from discreet.plan.serial import canonical_text, expression_record
from discreet.plan.types import type_of

Named = tuple[str, Aggregate]

# The highest power of a value that each aggregate is computed from.
_ORDERS: dict[type[Aggregate], int] = {Count: 0, Sum: 1, Mean: 1, Variance: 2, Std: 2}


@dataclass(frozen=True, slots=True)
class Pool:
    """Some aggregates by name, in the order of their names: those of one column, and numbers of rows beside them.

    `order` is the highest power that is measured, and `nulls` says that rows without a value are counted apart, since
    the number of all rows is asked for as well.
    """

    members: tuple[Named, ...]
    order: int
    nulls: bool

    @classmethod
    def of_members(cls, members: Sequence[Named], reach: Reach) -> Pool:
        """Return the smallest measurement that tells all members."""
        column = _column(members)
        order = max(_ORDERS[type(each)] for _, each in members)
        rows = any(not each.expressions for _, each in members)
        nulls = column is not None and rows and type_of(column, reach.columns).nullable
        return cls(tuple(sorted(members, key=lambda member: member[0])), order, nulls)

    @property
    def of(self) -> Expression | None:
        """The column; None where only rows are counted."""
        return _column(self.members)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the members."""
        return tuple(name for name, _ in self.members)

    @property
    def is_one(self) -> bool:
        """Whether the same is asked several times, or once: then its own statistic says it best."""
        return len({each for _, each in self.members}) == 1

    def measures(self, price: Price, reach: Reach) -> dict[str, Measure]:
        """Return the measure of each member, all of them at the price of the whole pool."""
        return {name: self.measure(name, each, price, reach) for name, each in self.members}

    def log_spread(self, reach: Reach, budgets: Sequence[float]) -> float:
        """Return the weighted sum of logarithms of the members' standard deviations, but for what all pools share."""
        return math.fsum(
            budget * math.log(self._deviation(each, reach))
            for (_, each), budget in zip(self.members, budgets, strict=True)
        )

    def measure(self, name: str, aggregate: Aggregate, price: Price, reach: Reach) -> Measure:
        """Return the measure of one member, at the price of the whole pool."""
        pool = self.names if len(self.members) > 1 else ()
        if self.is_one:
            found = measure_of(name, aggregate, price, reach)
            return replace(found, pool=pool) if isinstance(found, SumMeasure) and pool else found
        return shared(name, aggregate, price, reach, self)

    def _deviation(self, aggregate: Aggregate, reach: Reach) -> float:
        """Return the standard deviation of an aggregate in units of the noise for one row; of the worst values."""
        low, high, _ = (0, 1, 1) if self.order == 0 else reach.grid(self.of)  # type: ignore[arg-type]
        width = high - low or 1
        terms = self.order + 1
        if self.is_one:
            return max(abs(low), abs(high)) or 1.0 if isinstance(aggregate, Sum) else 1.0
        match aggregate:
            case Count(of=None):
                return math.sqrt(terms + self.nulls)
            case Count():
                return math.sqrt(terms)
            case Sum():
                places = [low + width * place / self.order for place in range(terms)]
                return math.hypot(*places)
            case Mean():  # all values at one bound: (1, 0), or (1, 1/2, 0)
                return math.hypot(*(place / self.order for place in range(terms)))
        return 1.0  # a variance: at one bound u^2 alone has a weight


def _column(members: Sequence[Named]) -> Expression | None:
    return next((each.expressions[0] for _, each in members if each.expressions), None)


def pools(aggregates: Sequence[Named], shares: dict[str, Fraction], reach: Reach, *, normal: bool) -> list[Pool]:
    """Return which aggregates are measured together, column by column: those that are off by less that way.

    `shares` are their parts of the price; a pool has the parts of all its members. What is compared is the product of
    the members' standard deviations, each to the power of its share: together; with the numbers of rows apart; and each
    by itself. All of it is a function of the question and the schema, whatever the order of the aggregates.
    """
    columns: dict[str, list[Named]] = {}
    rows: list[Named] = []
    for name, each in sorted(_pooled(aggregates), key=lambda named: named[0]):
        if each.expressions:
            columns.setdefault(canonical_text(expression_record(each.expressions[0])), []).append((name, each))
        else:
            rows.append((name, each))
    home = min(columns, key=lambda text: _homely(columns[text], rows, text, reach), default=None)
    found: list[Pool] = []
    if home is None and rows:
        found.append(Pool.of_members(rows, reach))
    for text, members in sorted(columns.items()):
        more = rows if text == home else []
        ways: list[list[Pool]] = [[Pool.of_members([*members, *more], reach)], _apart([*members, *more], reach)]
        if more:
            ways.insert(1, [Pool.of_members(members, reach), Pool.of_members(more, reach)])
        found += min(ways, key=lambda way: _log_spread(way, shares, reach, normal=normal))
    return found


def _pooled(aggregates: Sequence[Named]) -> list[Named]:
    """Return the aggregates that moments tell: of rows, not of what people add up to."""
    return [
        (name, each)
        for name, each in aggregates
        if type(each) in _ORDERS and not (isinstance(each, Sum) and each.per_person is not None)
    ]


def _homely(members: Sequence[Named], rows: Sequence[Named], text: str, reach: Reach) -> tuple[bool, int, str]:
    """Return which column the rows are best counted with: one without nulls, of few terms, the first by its text."""
    pool = Pool.of_members([*members, *rows], reach)
    return pool.nulls, pool.order, text


def _apart(members: Sequence[Named], reach: Reach) -> list[Pool]:
    return [Pool.of_members([each], reach) for each in members]


def _log_spread(way: Iterable[Pool], shares: dict[str, Fraction], reach: Reach, *, normal: bool) -> float:
    """Return the logarithm of the product that is compared; rounded, so that equal ones are."""
    found = 0.0
    for pool in way:
        parts = [float(shares[name]) for name in pool.names]
        power = 0.5 if normal else 1.0
        found += pool.log_spread(reach, parts) - power * math.log(math.fsum(parts)) * math.fsum(parts)
    return round(found, 9)


def shared(name: str, aggregate: Aggregate, price: Price, reach: Reach, pool: Pool) -> SumMeasure:
    """Return the measure of one member of a pool, which computes it from the moments of all."""
    bounds = reach.bounds(pool.of) if pool.of is not None and pool.order else {"low": 0, "high": 1}
    statistic = Moments(
        **bounds,
        order=pool.order,  # type: ignore[arg-type]
        nulls=pool.nulls,
        **price.noise(),
        **reach.contributions(),
    )
    return SumMeasure.of(
        name,
        aggregate,
        price,
        reach,
        statistic,
        _tallies(pool),
        exact=partial(_exact, statistic, pool),
        quantity=partial(_quantity, aggregate, statistic, reach.grain),
        supposed=_supposing(pool, statistic),
        row=statistic.whole if isinstance(aggregate, Count) else 1,
        pool=pool.names if len(pool.members) > 1 else (),
    )


def _tallies(pool: Pool) -> tuple[Tally, ...]:
    assert pool.of is not None
    wanted = (sum_of(pool.of), present(pool.of), Tally("product", (pool.of, pool.of)))
    found = {0: wanted[1:2], 1: wanted[:2], 2: wanted}[pool.order]
    return (*found, Tally("rows", ())) if pool.nulls else found


def _exact(statistic: Moments, pool: Pool, found: Sequence[int]) -> tuple[int, ...]:
    """Return what the statistic takes from the tallies of one group; rows are values where nulls are not told apart."""
    above, count = (0, found[0]) if pool.order == 0 else (found[0], found[1])
    products = found[2] if pool.order == 2 else 0
    return tuple(statistic.exact_from(found[-1] if pool.nulls else count, count, above, products))


def _quantity(aggregate: Aggregate, statistic: Moments, grain: int, noisy: Sequence[NoisyInteger]) -> Quantity:
    low, high = Fraction(statistic.low), Fraction(statistic.high)
    said = SharedMoments(tuple(noisy), low, high, statistic.order, statistic.nulls, statistic.whole * grain)
    match aggregate:
        case Count(of=None):
            return said.rows
        case Count():
            return said.present
        case Sum():
            return said.total
        case Mean():
            return said.mean
        case Variance():
            return said.variance
    return said.std


def _supposing(pool: Pool, statistic: Moments) -> Callable[[int], list[tuple[int, ...]]]:
    """Return how groups are supposed: all values at either end or in the middle, or half of them at each end."""
    width = statistic.grid.width

    def supposed(rows: int) -> list[tuple[int, ...]]:
        far, near = 2 * rows * width * width, rows * width * width
        middle = width * rows // 2
        ends = (0, far), (width * rows, far), (middle, near), (middle, far)
        found: list[tuple[int, ...]] = [(above, rows, product) for above, product in ends]
        cut = {0: slice(1, 2), 1: slice(0, 2), 2: slice(0, 3)}[pool.order]
        all_rows = (rows,) if pool.nulls else ()
        return [*dict.fromkeys(each[cut] + all_rows for each in found)]

    return supposed
