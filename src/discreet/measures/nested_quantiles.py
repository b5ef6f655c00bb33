"""Nested quantiles: points chosen one inside the other, and one measurement of counts around them for all intervals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.account.budgets.price import Price, root_below
from discreet.account.losses.composition import under
from discreet.account.losses.loss import PrivacyLoss
from discreet.answers.column import figure
from discreet.answers.quantity import BracketedValue, Quantity
from discreet.answers.rank_inversion import cell_edges, rank_interval
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass, replace
from discreet.measures.quantiles import QuantileMeasure, column_names, written_steps
from discreet.measures.reach import Reach, about_of, word_of
from discreet.measures.request import in_cells
from discreet.mechanisms.histogram import Histogram
from discreet.mechanisms.joint_quantiles import search_together
from discreet.mechanisms.parts.integer_noise import total
from discreet.mechanisms.parts.refinement import Counts
from discreet.mechanisms.quantile import MOST_OFFSET, Quantile
from discreet.plan import aggregates as words
from discreet.plan.to_sql.cells import CellRequest

POINTS = Fraction(17, 20)  # the share of the price that buys the points, where intervals are wanted too
_AT_ONCE = 1024  # points of a grid that are counted one by one


@dataclass(frozen=True, slots=True)
class NestedQuantiles(QuantileMeasure):
    """Quantiles of one expression: points at most of the price, and noisy counts of cells around them at the rest.

    Several points are found one inside the other, by exponential mechanisms that halve the list (Kaplan, Schnapp,
    Stemmer 2022). Then one histogram of the cells between edges around these points gives the intervals of all of them.

    Guarantee: the loss of `Quantile`, and of `Histogram` on cells that follow from what it chose: one row lies in one
    cell of one group, so that a unit moves the counts of all groups by as many rows as it has in L1, and in L2.
    """

    cells: Histogram | None = None

    @property
    def bought(self) -> tuple[Quantile, ...]:
        """The mechanism that finds the points."""
        return (self.middle,)

    @property
    def loss(self) -> PrivacyLoss:
        """What all groups together cost."""
        parts = [self.middle.loss, *([self.cells.loss] if self.cells is not None else [])]
        return under(total(parts), self.relation)

    @property
    def most_loss(self) -> PrivacyLoss:
        """What it costs at most, whatever the number of rows that the counts are made noisy for."""
        return self.loss if self.cells is None else self._paid()

    def noisy(self, found: Counts, groups: int, mark: str) -> list[list[Quantity]]:  # noqa: ARG002
        """Return a column of quantities for each quantile, a row for each group, from counts of cells.

        Guarantee: `loss`, by the choices of the exponential mechanisms and the noise of the counts.
        """
        (points,) = search_together(self.bought, found, groups)
        rows = [[int(each) for each in row] for row in points.tolist()]
        ends: list[list[tuple[int, int]]] | None = None if self.cells is None else self._intervals(rows, found)
        return [
            [self._bracket(row[place], None if ends is None else ends[group][place]) for group, row in enumerate(rows)]
            for place in range(len(self.names))
        ]

    def _bracket(self, at: int, ends: tuple[int, int] | None) -> BracketedValue:
        if ends is None:
            return BracketedValue(self.written(at), None, None)
        return BracketedValue(self.written(at), self.written(min(ends[0], at)), self.written(max(ends[1], at)))

    def _intervals(self, points: Sequence[Sequence[int]], found: Counts) -> list[list[tuple[int, int]]]:
        """Return the ends of every interval, group by group, from one noisy histogram of all cells."""
        assert self.cells is not None
        grid = self.middle.grid
        edges = [cell_edges(row, grid.low, grid.high) for row in points]
        requests: list[CellRequest] = []
        single = grid.width < _AT_ONCE
        for group, each in enumerate(edges):
            if single:
                requests.append(CellRequest(group, grid.low, 1, grid.width + 1))
            else:
                starts = [grid.low, *(edge + 1 for edge in each[:-1])]
                requests += [
                    CellRequest(group, start, edge + 1 - start, 1) for start, edge in zip(starts, each, strict=True)
                ]
        cuts = [[edge - grid.low for edge in each] for each in edges]
        exact = found(requests).map(in_cells, cuts, single)  # type: ignore[arg-type,union-attr]
        cells = self.histogram(sum(map(len, edges)))
        (noisy,) = cells.measured(exact).values
        ((noise, _),) = cells.noises
        whole, place = (grid.low, grid.high), 0
        out = []
        for each in edges:
            own, place = noisy[place : place + len(each)], place + len(each)
            out.append(
                [rank_interval(own, each, grid.low, q, noise.law, noise.scale) or whole for q in self.middle.quantiles]
            )
        return out

    def histogram(self, cells: int) -> Histogram:
        """Return the mechanism for so many cells."""
        assert self.cells is not None
        return replace(self.cells, keys=tuple(range(cells)))

    @property
    def noise(self) -> str:
        """The mechanisms, for people to read."""
        each = float(Fraction(self.middle.epsilon)) / self.middle.rounds
        text = f"exponential, epsilon {each:,.4g}" + (
            f" each of {self.middle.rounds}" if self.middle.rounds > 1 else ""
        )
        if self.cells is None:
            return text
        ((noise, _),) = self.cells.noises
        word = "Laplace, scale" if noise.law == "laplace" else "Gaussian, sigma"
        return f"{text}; {word} {figure(float(noise.scale))}"

    def half_width(self, beta: float = 0.05, rows: int = 1) -> float:  # noqa: ARG002
        """Return how many ranks no answer is off by more than, with probability 1 - beta."""
        return self.middle.error(beta)


def nested(name: str, aggregate: words.Quantile, price: Price, reach: Reach) -> NestedQuantiles:
    """Return the measure of quantiles, with their intervals unless these are not wanted."""
    low, high, step = reach.grid(aggregate.of)
    points = price.share(POINTS) if aggregate.interval else price
    made = Quantile(
        q=aggregate.q,
        low=low * step,
        high=high * step,
        step=step,
        epsilon=1,
        contributions=reach.rows,
        method="recursive" if len(aggregate.q) > 1 else "separate",
    )
    middle = replace(made, epsilon=_each(points, made.rounds) * made.rounds)
    if middle.error() > MOST_OFFSET:
        why = "at so low a price a quantile may be off by more ranks than any table has"
        raise BadParameter("epsilon", float(middle.epsilon), why=why, fix="pay more: a larger epsilon, or rho")
    cells = None
    if aggregate.interval:
        cells = Histogram(keys=(0, 1), **price.share(1 - POINTS).noise(), contributions=reach.rows)
    return NestedQuantiles(
        name,
        word_of(aggregate),
        about_of(aggregate),
        aggregate.of,
        column_names(name, aggregate.q),
        middle,
        price,
        reach.relation,
        written_steps(step),
        cells,
    )


def _each(price: Price, rounds: int) -> Fraction:
    """Return the epsilon of each of so many rounds: equal shares of epsilon, or of rho = epsilon^2 / 8."""
    if price.epsilon is not None:
        return price.epsilon / rounds
    assert price.rho is not None
    return root_below(8 * price.rho / rounds)
