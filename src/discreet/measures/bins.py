"""Binned measures: histogram, CDF and top-k, which count the rows of every bin and answer with a table of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from discreet.account.budgets.price import Price
from discreet.account.losses.loss import PrivacyLoss
from discreet.answers.figures import figure
from discreet.answers.interval import interval
from discreet.answers.quantity import NoisyInteger, PublicValue, Quantity, linear
from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation
from discreet.measures.cumulative import cumulative
from discreet.measures.sums import Reach, about_of, word_of
from discreet.mechanisms.cdf import Cdf
from discreet.mechanisms.count import Count
from discreet.mechanisms.parts.relabel import under
from discreet.mechanisms.top_k import TopK
from discreet.plan import aggregates as words
from discreet.plan.aggregates import Aggregate, Cut, check
from discreet.plan.expressions import Expression, Name
from discreet.plan.keys import Key, bins, declared, shown
from discreet.plan.nodes import Derive, Plan, stored
from discreet.plan.types import type_of

_DERIVED = "value to be binned"
_EPOCH_ORDINAL = 719163  # date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class BinMeasure:
    """Counts of bins: noise on each (histogram), on a tree of them (CDF), or a choice among them (top-k).

    `bin` is the key that numbers the bins, `wanted` the bins that are shown, and `labels` what they are called.

    Guarantee: the loss of the mechanism, for units whose rows, over all groups and bins, are as many as was derived.
    """

    name: str
    kind: str
    about: str
    of: Expression
    mechanism: Count | Cdf | TopK
    bin: Key
    wanted: tuple[int, ...]
    labels: tuple[object, ...]
    title: str
    price: Price
    relation: Relation

    @property
    def loss(self) -> PrivacyLoss:
        """What all groups together cost."""
        return under(self.mechanism.loss, self.relation)

    @property
    def word(self) -> str:
        """The mechanism's name."""
        return {Count: "count", Cdf: "cdf", TopK: "top_k"}[type(self.mechanism)]

    def plan(self, plan: Plan) -> Plan:
        """Return the plan with the column that is divided into bins."""
        return plan if isinstance(self.of, Name) else Derive(plan, _DERIVED, self.of)

    def rows(self) -> list[object]:
        """Return what the answer lists for every group: bins, thresholds, or ranks."""
        return list(self.labels)

    def answers(self, counts: Sequence[Sequence[int]], mark: str) -> list[Quantity]:
        """Return the quantities of all groups, one after the other, given the exact count of every bin."""
        kept = [[row[place] for place in self.wanted] for row in counts]
        match self.mechanism:
            case Count() as count:
                drawn = count.noisy([each for row in kept for each in row])
                ((noise, _),) = count.noises
                return [
                    linear(NoisyInteger(f"{mark}.{self.name}.{place}", int(value), noise.law, noise.scale))
                    for place, (value,) in enumerate(drawn)
                ]
            case Cdf() as cdf:
                drawn = cdf.noisy(kept)
                rows = [self._nodes(cdf, row, f"{mark}.{self.name}.{group}") for group, row in enumerate(drawn)]
                return [quantity for nodes in rows for quantity in cumulative(nodes, cdf)]
            case TopK() as top:
                return [PublicValue(key) for row in kept for key in top.release(row)]

    @staticmethod
    def _nodes(cdf: Cdf, values: Sequence[int], mark: str) -> list[NoisyInteger]:
        ((noise, _),) = cdf.noises
        return [
            NoisyInteger(f"{mark}.{place}", int(value), noise.law, noise.scale) for place, value in enumerate(values)
        ]

    @property
    def sensitivity(self) -> str:
        """How far one unit moves the counts, for people to read."""
        if isinstance(self.mechanism, Cdf):
            return f"{self.mechanism.sensitivity.l1:,}"
        return f"{self.mechanism.sensitivity:,}"

    @property
    def noise(self) -> str:
        """The noise, for people to read."""
        if isinstance(self.mechanism, TopK):
            return f"exponential, epsilon {float(Fraction(self.mechanism.epsilon)):,.4g}"
        noise = self.mechanism.noises[0][0]
        word = "Laplace, scale" if noise.law == "laplace" else "Gaussian, sigma"
        tree = f" on {self.mechanism.levels} levels" if isinstance(self.mechanism, Cdf) else ""
        return f"{word} {figure(float(noise.scale))}{tree}"

    def half_width(self, beta: float = 0.05) -> float:
        """Return what an answer stays within, with probability 1 - beta: the worst of a CDF's; for top-k the gap."""
        if not isinstance(self.mechanism, Cdf):
            return self.mechanism.error(beta)
        nodes = self._nodes(self.mechanism, [0] * self.mechanism.parts, "supposed")
        ends = [interval(each.parts[0], 1 - beta) for each in cumulative(nodes, self.mechanism)]
        return max((float(high) - float(low)) / 2 for low, high in ends)  # type: ignore[arg-type]

    @property
    def spread(self) -> float:
        """The half-width by which mechanisms are compared."""
        return self.half_width()


def binned(name: str, aggregate: Aggregate, price: Price, reach: Reach) -> BinMeasure:
    """Return the measure of a histogram, a CDF or a top-k."""
    check(aggregate, reach.columns)
    (of,) = aggregate.expressions
    column = type_of(of, reach.columns).named(of.name if isinstance(of, Name) else _DERIVED)
    parts: dict[str, Any] = {"contributions": reach.rows, "groups": reach.rows}
    match aggregate:
        case words.Histogram(_, edges, keys):
            key, wanted, labels = _bins(column, edges, keys)
            made: Count | Cdf | TopK = Count(**price.noise(), **parts)
            title = "bin" if edges is not None else "key"
        case words.Cdf(_, thresholds):
            cuts = [_above(column, cut) for cut in thresholds]
            key = bins("at_most", column, _distinct(cuts, thresholds))
            wanted, labels = tuple(range(len(cuts) + 1)), (*(_plain(cut) for cut in thresholds), "all")
            made = Cdf(thresholds=tuple(range(len(cuts))), **price.noise(), **parts)
            title = "at_most"
        case words.TopK(_, k):
            values = declared(column) or ()
            key = Key("key", column, values)
            wanted, labels = tuple(range(len(values))), tuple(range(1, k + 1))
            names = tuple(str(value) if isinstance(value, bool) else value for value in values)
            made = TopK(k=k, keys=names, epsilon=price.selecting, contributions=reach.rows)  # type: ignore[arg-type]
            title = "rank"
        case _:
            raise BadParameter("aggregate", about_of(aggregate), why="it has no bins", fix="ask for a histogram")
    return BinMeasure(
        name, word_of(aggregate), about_of(aggregate), of, made, key, wanted, labels, title, price, reach.relation
    )


def _bins(
    column: Column, edges: tuple[Cut, ...] | None, keys: tuple[Any, ...] | None
) -> tuple[Key, tuple[int, ...], tuple[object, ...]]:
    """Return the key of a histogram's bins, which of them are shown, and their labels."""
    if edges is None:
        values = keys if keys is not None else declared(column)
        if values is None:
            why = "its keys were not declared"
            raise BadParameter("keys", column.name, why=why, fix="pass keys=[...], or group by it and give a delta")
        # Given keys are read as the column keeps them: numbers in steps, dates in days.
        values = values if keys is None else tuple(stored(column, value) for value in keys)
        key = Key("key", column, tuple(values))
        return key, tuple(range(len(values))), tuple(shown(column, value) for value in values)
    # The last bin is closed: what equals the last edge is in it.
    cuts = [_first(column, edge) for edge in edges[:-1]] + [_above(column, edges[-1])]
    labels = [f"[{_plain(low)}, {_plain(high)})" for low, high in pairwise(edges)]
    labels[-1] = labels[-1][:-1] + "]"
    return bins("bin", column, _distinct(cuts, edges)), tuple(range(1, len(edges))), tuple(labels)


def _first(column: Column, cut: Cut) -> int:
    """Return the first step at or above a cut."""
    return -((-_steps(column, cut)) // 1)


def _above(column: Column, cut: Cut) -> int:
    """Return the first step above a cut."""
    return _steps(column, cut) // 1 + 1


def _steps(column: Column, cut: Cut) -> Fraction:
    if isinstance(cut, Fraction) == (column.kind == "date"):
        why = f"the column is a {column.kind}"
        raise BadParameter("edges", str(cut), why=why, fix="use dates for dates and numbers for numbers")
    if isinstance(cut, Fraction):
        return cut / (column.step or 1)
    return Fraction(cut.toordinal() - _EPOCH_ORDINAL)


def _distinct(cuts: list[int], edges: Sequence[Cut]) -> list[int]:
    if len(set(cuts)) < len(cuts):
        why = "two of them fall between the same two steps of the column"
        raise BadParameter("edges", [str(edge) for edge in edges], why=why, fix="use edges at least one step apart")
    return cuts


def _plain(cut: Cut) -> object:
    if not isinstance(cut, Fraction):
        return cut.isoformat()
    return cut.numerator if cut.denominator == 1 else float(cut)
