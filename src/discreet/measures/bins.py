"""Bins: measures that count the rows of every bin, and answer with a table of their own."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet.account.budgets.price import Price
from discreet.account.losses.composition import under
from discreet.account.losses.loss import PrivacyLoss
from discreet.answers.column import figure
from discreet.answers.interval import interval
from discreet.answers.quantity import NoisyInteger, PublicValue, Quantity, linear
from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.core.exact import Exact
from discreet.core.unit import Relation
from discreet.core.value import dataclass, replace
from discreet.measures.cumulative import cumulative
from discreet.measures.measure import Measure
from discreet.measures.reach import Reach, about_of, word_of
from discreet.measures.request import MeasureScope, Request, TallyRequest, by_group, end_to_end, of_group
from discreet.mechanisms.cdf import Cdf
from discreet.mechanisms.count import Count
from discreet.mechanisms.parts.noisy import Noisy
from discreet.mechanisms.top_k import TopK
from discreet.plan.aggregates import Aggregate, Cut, check
from discreet.plan.expressions import Expression, Name
from discreet.plan.keys import Key, Keys, Tally, TallyQuery
from discreet.plan.nodes import Derive
from discreet.plan.types import type_of

_DERIVED = "value to be binned"
_EPOCH_ORDINAL = 719163  # date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class BinMeasure(Measure):
    """Counts of bins: noise on each (histogram), on a tree of them (CDF), or a choice among them (top-k).

    `bin` is the key that numbers the bins, `wanted` the bins that are looked at; `shown` is what the answer lists under
    `heading`: bins, thresholds, or ranks.

    Guarantee: the loss of the mechanism, for units whose rows, over all groups and bins, are as many as was derived.
    """

    name: str
    kind: str
    about: str
    of: Expression
    mechanism: Count | Cdf | TopK
    bin: Key
    wanted: tuple[int, ...]
    shown: tuple[object, ...]
    heading: str
    price: Price
    relation: Relation
    grain: int = 1  # in how many parts the counts of bins count a row

    @property
    def loss(self) -> PrivacyLoss:
        """What all groups together cost."""
        return under(self.mechanism.loss, self.relation)

    @property
    def word(self) -> str:
        """The mechanism's name."""
        return {Count: "count", Cdf: "cdf", TopK: "top_k"}[type(self.mechanism)]

    @property
    def title(self) -> str:
        """The name of the column that lists bins, thresholds or ranks."""
        return self.heading

    @property
    def labels(self) -> tuple[object, ...]:
        """What that column lists for every group."""
        return self.shown

    @property
    def label(self) -> str:
        """Where its noise is drawn."""
        return f"column {self.name}/bins"

    def request(self, scope: MeasureScope) -> Request:
        """Ask for the rows of every bin in every group; a choice among bins takes whole rows."""
        derived = scope.plan if isinstance(self.of, Name) else Derive(scope.plan, _DERIVED, self.of)
        query = TallyQuery(
            derived, _with(scope.keys, self.bin), (Tally("rows"),), weighed=not isinstance(self.mechanism, TopK)
        )
        # Bins are groups to a histogram. The nodes of a tree have more than one bin each.
        unit = scope.unit if isinstance(self.mechanism, Count) else replace(scope.unit, max_rows_per_group=None)
        return TallyRequest("how many rows every bin has", query, unit)

    def noisy(self, found: Exact[Sequence[Sequence[int]]], groups: int, mark: str) -> list[list[Quantity]]:
        """Return one column: the quantities of all groups, one after the other, given the exact count of every bin.

        Guarantee: `loss`, by the mechanism's noise or choice.
        """
        kept = found.map(by_group, groups, self.wanted)
        match self.mechanism:
            case Count() as count:
                drawn = count.measured(kept.map(end_to_end))
                ((law, scale),) = drawn.laws
                return [
                    [
                        linear(NoisyInteger(f"{mark}.{self.name}.{place}", value, law, scale), Fraction(1, self.grain))
                        for place, (value,) in enumerate(drawn.values)
                    ]
                ]
            case Cdf() as cdf:
                drawn = cdf.measured(kept)
                rows = [_nodes(drawn, group, f"{mark}.{self.name}.{group}") for group in range(groups)]
                return [[quantity for nodes in rows for quantity in cumulative(nodes, cdf, self.grain)]]
            case TopK() as top:
                chosen = [top.release(kept.map(of_group, group)) for group in range(groups)]
                return [[PublicValue(key) for keys in chosen for key in keys]]

    @property
    def sensitivity(self) -> str:
        """How far one unit moves the counts, for people to read."""
        if isinstance(self.mechanism, Cdf):
            return f"{self.mechanism.sensitivity.l1 // self.grain:,}"
        return f"{self.mechanism.sensitivity // self.grain:,}"

    @property
    def noise(self) -> str:
        """The noise, for people to read."""
        if isinstance(self.mechanism, TopK):
            return f"exponential, epsilon {float(Fraction(self.mechanism.epsilon)):,.4g}"
        noise = self.mechanism.noises[0][0]
        word = "Laplace, scale" if noise.law == "laplace" else "Gaussian, sigma"
        tree = f" on {self.mechanism.levels} levels" if isinstance(self.mechanism, Cdf) else ""
        return f"{word} {figure(float(noise.scale / self.grain))}{tree}"

    @property
    def most_loss(self) -> PrivacyLoss:
        """What it costs at most; a choice costs the same, however many rows it covers."""
        return self.loss if isinstance(self.mechanism, TopK) else self._paid()

    @property
    def least_beta(self) -> float:
        """The least chance that half-widths are right for: the sums of a CDF are folded on a grid."""
        return 1e-4 if isinstance(self.mechanism, Cdf) else 0.0

    def half_width(self, beta: float = 0.05, rows: int = 1) -> float:  # noqa: ARG002
        """Return what an answer stays within, with probability 1 - beta: the worst of a CDF's; for top-k the gap."""
        if not isinstance(self.mechanism, Cdf):
            return self.mechanism.error(beta) / self.grain
        nodes = _nodes(self.mechanism.supposed([[0] * self.mechanism.parts]), 0, "supposed")
        ends = [interval(each.parts[0], 1 - beta) for each in cumulative(nodes, self.mechanism, self.grain)]
        return max((float(high) - float(low)) / 2 for low, high in ends)  # type: ignore[arg-type]

    @property
    def spread(self) -> float:
        """The half-width by which mechanisms are compared."""
        return self.half_width()


def made_bins(
    name: str,
    aggregate: Aggregate,
    price: Price,
    reach: Reach,
    mechanism: Count | Cdf | TopK,
    table: tuple[Key, tuple[int, ...], tuple[object, ...], str],
) -> BinMeasure:
    """Return the measure of an aggregate over bins: its key, the places looked at, what is shown, and its heading."""
    (of,) = aggregate.expressions
    word, about = word_of(aggregate), about_of(aggregate)
    grain = 1 if isinstance(mechanism, TopK) else reach.grain
    return BinMeasure(name, word, about, of, mechanism, *table, price, reach.relation, grain)


def binned_column(aggregate: Aggregate, reach: Reach) -> Column:
    """Return the column that is divided into bins, as the engine will call it."""
    check(aggregate, reach.columns)
    (of,) = aggregate.expressions
    return type_of(of, reach.columns).named(of.name if isinstance(of, Name) else _DERIVED)


def spread_rows(price: Price, reach: Reach) -> dict[str, Any]:
    """Return the price of noise on a tree of bins, over which all rows of a unit may be spread, whatever their bins."""
    parts = reach.rows * reach.grain
    return {**price.noise(), "contributions": parts, "groups": parts}


def _nodes(noisy: Noisy, group: int, mark: str) -> list[NoisyInteger]:
    """Return the noisy nodes of a group's tree."""
    values = zip(noisy.values[group], noisy.laws, strict=True)
    return [NoisyInteger(f"{mark}.{place}", value, *law) for place, (value, law) in enumerate(values)]


def _with(keys: Keys, bin_: Key) -> Keys:
    """Return keys with one more column, which varies fastest."""
    only = None if keys.only is None else tuple((*row, value) for row in keys.only for value in bin_.values or ())
    return Keys((*keys.columns, bin_), only)


def first_step(column: Column, cut: Cut) -> int:
    """Return the first step at or above a cut."""
    return -((-_steps(column, cut)) // 1)


def step_above(column: Column, cut: Cut) -> int:
    """Return the first step above a cut."""
    return _steps(column, cut) // 1 + 1


def _steps(column: Column, cut: Cut) -> Fraction:
    if isinstance(cut, Fraction) == (column.kind == "date"):
        why = f"the column is a {column.kind}"
        raise BadParameter("edges", str(cut), why=why, fix="use dates for dates and numbers for numbers")
    if isinstance(cut, Fraction):
        return cut / (column.step or 1)
    return Fraction(cut.toordinal() - _EPOCH_ORDINAL)


def distinct(cuts: list[int], edges: Sequence[Cut]) -> list[int]:
    """Return the cuts, each of which has to be a step of its own."""
    if len(set(cuts)) < len(cuts):
        why = "two of them fall between the same two steps of the column"
        raise BadParameter("edges", [str(edge) for edge in edges], why=why, fix="use edges at least one step apart")
    return cuts


def plain(cut: Cut) -> object:
    """Return a cut as a person would write it."""
    if not isinstance(cut, Fraction):
        return cut.isoformat()
    return cut.numerator if cut.denominator == 1 else float(cut)
