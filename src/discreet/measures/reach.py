"""Reach: how far one unit reaches into a question, what its expressions may be, and aggregates in words."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.core.column import Column
from discreet.core.unit import Relation, Unit
from discreet.core.value import dataclass
from discreet.plan import aggregates as words
from discreet.plan.aggregates import Aggregate
from discreet.plan.expressions import Expression
from discreet.plan.refusals import IllTyped
from discreet.plan.stability import GRAIN, GroupCap
from discreet.plan.types import type_of

# The largest value, and the inverse of the finest step, of what is averaged, added up or ranked.
LARGEST = 10**100


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one unit reaches into a question: rows and groups, under which relation, and the declared size.

    Under replace, `rows` and `groups` are those of a removal and an addition: twice as many.
    """

    columns: Mapping[str, Column]
    rows: int
    groups: int
    relation: Relation
    size: int | None
    people: bool = True  # whether units are people, who count once in a group; rows may come several times by joins
    declared_groups: int | None = None  # in how many groups a person is, where declared keys say more than the unit
    keyed: bool = True  # whether there are groups at all
    unit: Unit | None = None  # whose rows are capped by group, if anyone's
    cells: int | None = 1  # how many groups there are; None where their number is not public

    @property
    def grain(self) -> int:
        """In how many parts a row is counted where sums are asked for: rows of people weigh, single rows are whole."""
        return GRAIN if self.people else 1

    def cap(self, bins: int | None = None) -> GroupCap | None:
        """Return what the weighed rows of one person keep to in each group, or in so many bins of it."""
        if self.unit is None or not (self.keyed or bins):
            return None
        cells = None if self.cells is None else self.cells * (bins or 1)
        return GroupCap.among(self.rows // self._times, self.unit, cells)

    def weighed_rows(self, bins: int | None = None) -> int:
        """Return how many rows a unit moves where rows are weighed."""
        cap = self.cap(bins)
        return self.rows if cap is None else self._times * cap.rows

    def contributions(self, bins: int | None = None) -> dict[str, Any]:
        """Return what a statistic over weighed rows has to cover, in parts of rows, in groups or in bins of them.

        A removal and an addition are covered as twice the rows, in a group too. Weights bound no number of groups: each
        part of a row may fall into another one.
        """
        cap, parts = self.cap(bins), self.weighed_rows(bins) * self.grain
        groups = (parts if self.keyed or bins else 1) if self.people else min(self.groups, self.rows)
        capped = {} if cap is None else {"in_group": self._times * cap.each * self.grain}
        return {"contributions": parts, "groups": parts if bins else groups, **capped}

    @property
    def _times(self) -> int:
        return 1 if self.relation == "add_remove" else 2

    @property
    def people_groups(self) -> int:
        """The most groups whose number of people one unit changes, by one each.

        A person who leaves and one who comes change at most the groups of either; a group that both are in does not
        change, and there are no more groups than keys.
        """
        if self.declared_groups is None:
            return self.groups
        met = self._times * self.declared_groups
        return met if self.cells is None else min(met, self.cells)

    @property
    def person_groups(self) -> int:
        """The most groups that one person is in, whoever comes in their place: no more than there are keys."""
        if self.declared_groups is not None:
            return self.declared_groups
        return self.groups if self.relation == "add_remove" else -(-self.groups // 2)

    def grid(self, what: Expression) -> tuple[int, int, Fraction]:
        """Return the bounds of a number in steps, and the step."""
        found = number(what, self)
        low, high = found.steps
        return low, high, found.step or Fraction(1)

    def bounds(self, what: Expression) -> dict[str, Any]:
        """Return the bounds and the step of a number, as mechanisms take them."""
        low, high, step = self.grid(what)
        return {"low": low * step, "high": high * step, "step": step}


def number(what: Expression, reach: Reach) -> Column:
    """Return the type of an expression that is averaged, added up or ranked: a number."""
    found = type_of(what, reach.columns)
    if found.kind != "number":
        fix = (
            "convert it with as_number()"
            if found.kind == "flag"
            else "count it, group by it, or derive a number from it"
        )
        raise IllTyped(what, why=f"it is a {found.kind}, and this takes a number", fix=fix)
    low, high = found.steps
    step = found.step or Fraction(1)
    if max(abs(low), abs(high)) * step > LARGEST or step.denominator > LARGEST:
        # Its square, as of a variance, times the noise of a low price still has to be a float.
        why = (
            "its values are larger, or finer, than can be written with the error of an answer (up to 1e100, by 1e-100)"
        )
        raise IllTyped(what, why=why, fix="ask for it in other units: divide it, or round it")
    return found


def number_or_none(what: Expression, reach: Reach) -> Column | None:
    """Return the type of an expression if it is a number."""
    found = type_of(what, reach.columns)
    return found if found.kind == "number" else None


def clamped_words(bounds: tuple[Fraction, Fraction]) -> str:
    """Write the bounds of a total for people to read: from 0 to 20,000."""
    low, high = (f"{float(each):,.10g}" for each in bounds)
    return f"from {low} to {high}"


def word_of(aggregate: Aggregate) -> str:
    """Return the aggregate's word, as it is asked for: count, mean, median, quantile, ..."""
    if isinstance(aggregate, words.Quantile) and aggregate.q == (Fraction(1, 2),):
        return "median"
    return aggregate.word


def about_of(aggregate: Aggregate) -> str:
    """Say what an aggregate is, for people to read: mean of cost."""
    of = ", ".join(repr(each) for each in aggregate.expressions)
    word = word_of(aggregate)
    if isinstance(aggregate, words.Sum) and aggregate.per_person is not None:
        return f"{word} of {of}, {clamped_words(aggregate.per_person)} a person"
    return f"{word} of {of}" if of else {"count": "number of rows", "people": "number of people"}.get(word, word)
