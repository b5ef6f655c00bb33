"""Stability: how many rows of a plan, in how many groups, one protected unit can change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.core.errors import Refusal
from discreet.core.schema import Table
from discreet.core.unit import Unit
from discreet.plan.nodes import Derive, Filter, Join, Plan, Scan, Union, tables_of


class UnboundedSensitivity(Refusal):
    """A plan in which one unit could change more rows than anybody can tell."""


@dataclass(frozen=True, slots=True)
class Stability:
    """The most that two neighbouring tables differ in, counted in rows of the plan.

    `l0` groups change, by at most `linf` rows each and `l1` rows in all; `l2_squared` is the sum of the squares of
    these changes. Under replace a removal meets an addition, so everything is counted twice over (squares: four
    times), which also covers statistics whose values have either sign.

    Guarantee: holds for every pair of neighbours of the unit, after the bounding that `plan.bounding` does.
    """

    l0: int
    linf: int
    l1: int
    l2_squared: int


def stability(plan: Plan, unit: Unit, tables: Mapping[str, Table], groups: bool) -> Stability:
    """Derive how far one unit reaches into a plan that is then divided into groups, or left whole."""
    _check_units(plan, unit, tables)
    rows = reach(plan, unit)
    within = min(rows, unit.max_groups) if bounds_groups(plan, unit) else rows
    found = Stability(l0=within if groups else 1, linf=rows, l1=rows, l2_squared=rows**2)
    if unit.relation == "add_remove":
        return found
    return Stability(
        l0=2 * found.l0 if groups else 1, linf=2 * found.linf, l1=2 * found.l1, l2_squared=4 * found.l2_squared
    )


def reach(plan: Plan, unit: Unit) -> int:
    """Return the most rows of the plan that come from one unit, once contributions are bounded.

    Bounded in the query, a person has `max_rows` whatever came before. Single rows, and rows bounded once for the
    table, are multiplied by what joins and unions do to them afterwards. A plan all of whose joins match nothing
    reaches no row, but counts as one, so that noise is never of scale zero.
    """
    if unit.bound == "query" and not unit.is_row:
        return unit.max_rows
    return max(1, unit.max_rows * fan_out(plan))


def bounds_groups(plan: Plan, unit: Unit) -> bool:
    """Say whether the groups of one person have to be bounded, since their rows could fall into more."""
    return not unit.is_row and unit.max_groups < reach(plan, unit)


def fan_out(plan: Plan) -> int:
    """Return how many rows of the plan one row of its tables can become."""
    match plan:
        case Scan():
            return 1
        case Filter(source) | Derive(source):
            return fan_out(source)
        case Join(source, joined, on):
            return fan_out(source) * joined.fan_out(theirs for _, theirs in on)
        case Union(one, other):
            # Tables that share an account may hold the same row, so the sides add up even where the tables differ.
            return fan_out(one) + fan_out(other)


def _check_units(plan: Plan, unit: Unit, tables: Mapping[str, Table]) -> None:
    for name in tables_of(plan):
        if name not in tables:
            continue  # columns_of refuses it, with the nearest names
        other = tables[name].unit
        same = (other.is_row, other.relation, other.bound) == (unit.is_row, unit.relation, unit.bound)
        if not same or other.max_rows < unit.max_rows or other.max_groups < unit.max_groups:
            raise UnboundedSensitivity(
                f"table {name}",
                why="its unit is not the one that the question is answered for, so nothing bounds how far one reaches",
                fix="register the tables of a question with the same unit, or ask about them one by one",
                value=name,
            )
