"""Stability: how many rows of a plan, in how many groups, one protected unit can change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.schema import Table
from discreet.core.unit import Unit
from discreet.core.value import dataclass, replace
from discreet.plan.nodes import (
    Derive,
    Filter,
    Join,
    MarkJoin,
    PerPerson,
    PersonJoin,
    Plan,
    Project,
    Scan,
    Union,
    tables_of,
)
from discreet.plan.per_person import OwnValue

if TYPE_CHECKING:
    from discreet.plan.keys import Keys

# A row of a person who has few enough of them weighs so much where sums are asked for; others weigh less.
GRAIN = 1 << 20
# So many rows that joins make of one person take an engine no time that anyone could measure.
MOST_PAIRS = 10_000


@dataclass(frozen=True, slots=True)
class GroupCap:
    """The most that weighed rows of one person count for: `each` in a group, `rows` in all groups together.

    A person has n_j rows in group j. With m_j = min(n_j, each) and M the sum of all m_j, a row in group j weighs
    floor(2^20 m_j min(M, rows) / (n_j M)).

    Guarantee: the rows of group j weigh at most m_j min(M, rows) / M, hence at most `each`, and all of them together at
    most min(M, rows), in units of 2^20. Under these two bounds the sum of squares is convex, so it is largest at a
    corner: as many groups as fit are full, and one has the rest (`l2_squared`). How many groups are met is not bounded.
    """

    each: int
    rows: int

    @property
    def l2_squared(self) -> int:
        """The most that the squares of what groups move by add up to."""
        full, rest = divmod(self.rows, self.each)
        return full * self.each**2 + rest**2

    @classmethod
    def of(cls, rows: int, unit: Unit, keys: Keys | None) -> GroupCap | None:
        """Return what weights have to keep to in these groups, of a person of so many rows; None without a cap."""
        if keys is None or not keys.columns:
            return None
        return cls.among(rows, unit, None if keys.selected else keys.size)

    @classmethod
    def among(cls, rows: int, unit: Unit, groups: int | None) -> GroupCap | None:
        """Return the same, of so many groups; None where their number is not public.

        Guarantee: `rows` is at most max_groups times max_rows_per_group, and at most `groups` times the latter.
        """
        if unit.max_rows_per_group is None:
            return None
        each = min(rows, unit.max_rows_per_group)
        met = unit.max_groups if groups is None else min(unit.max_groups, groups)
        return cls(each, min(rows, met * each))


class UnboundedSensitivity(Refusal):
    """A plan in which one unit could change more rows than anyone can tell."""


@dataclass(frozen=True, slots=True)
class Stability:
    """The most that two neighbouring tables differ in, counted in rows of the plan.

    `l0` groups change, by at most `linf` rows each and `l1` rows in all; `l2_squared` is the sum of the squares of
    these changes. Under replace a removal meets an addition, so everything is counted twice over (squares: four
    times), which also covers statistics whose values have either sign.

    Where rows are weighed, `linf`, `l1` and `l2_squared` are the same, in rows; `l0` is that of whole rows, which are
    chosen by the secret order: weights bound no number of groups (`entries`).

    Guarantee: holds for every pair of neighbours of the unit, after the bounding that `plan.bounding` does.
    """

    l0: int
    linf: int
    l1: int
    l2_squared: int

    @property
    def entries(self) -> int:
        """How many weighed sums one unit can move, each by one part of a row at least."""
        return self.l1 * GRAIN


def stability(plan: Plan, unit: Unit, tables: Mapping[str, Table], groups: bool) -> Stability:
    """Derive how far one unit reaches into a plan that is then divided into groups, or left whole."""
    _check_units(plan, unit, tables)
    rows = reach(plan, unit, tables)
    within = min(rows, unit.max_groups) if not unit.is_row else rows
    found = Stability(l0=within if groups else 1, linf=rows, l1=rows, l2_squared=rows**2)
    if unit.relation == "add_remove":
        return found
    return Stability(
        l0=2 * found.l0 if groups else 1, linf=2 * found.linf, l1=2 * found.l1, l2_squared=4 * found.l2_squared
    )


def groups_of_one(rows: int, unit: Unit, keys: Keys | None) -> int:
    """Return the most groups that one person of so many rows is in: as many as was declared, and as there are keys."""
    if keys is None or not keys.columns:
        return 1
    most = min(rows, unit.max_groups)
    return most if keys.selected else min(most, keys.size)


def weighed_stability(plan: Plan, unit: Unit, tables: Mapping[str, Table], keys: Keys | None) -> Stability:
    """Derive how far one unit moves sums of weighed rows in these groups: less than whole rows where it has a cap."""
    found = stability(plan, unit, tables, groups=keys is not None and bool(keys.columns))
    cap = GroupCap.of(reach(plan, unit, tables), unit, keys)
    if cap is None:
        return found
    twice = 1 if unit.relation == "add_remove" else 2
    return Stability(found.l0, twice * cap.each, twice * cap.rows, twice**2 * cap.l2_squared)


def unit_of(plan: Plan, tables: Mapping[str, Table]) -> Unit:
    """Return the unit that a question about a plan is answered for, which it may lower where `bound` is "query".

    It is that of the tables. Where rows of two tables meet, people have the larger of the two bounds on rows and on
    groups, though no more rows than there can be pairs; bounded once for the tables, they have as many as there can be.
    """
    return _settled(plan, tables)[0]


def reach(plan: Plan, unit: Unit, tables: Mapping[str, Table]) -> int:
    """Return the most rows of the plan that come from one unit, once contributions are bounded.

    Bounded in the query, a person has `max_rows` whatever came before. Single rows, and rows bounded once for the
    table, are multiplied by what joins and unions do to them afterwards. A plan all of whose joins match nothing
    reaches no row, but counts as one, so noise is never of scale zero.
    """
    return _reached(unit, _settled(plan, tables)[1])


def partners(join: PersonJoin, tables: Mapping[str, Table]) -> int:
    """Return how many partners a row keeps at most: as was declared, and no more than a person has rows over there.

    That holds where people are bounded in the query too, so one person with a great many rows in both tables does
    not decide how long the engine takes, or whether it can finish.
    """
    found = _reached(*_settled(join.other, tables))
    return found if join.most is None else min(found, join.most)


def expansion(plan: Plan, tables: Mapping[str, Table]) -> int:
    """Return the most rows that joins make of one row on the way: the product of its partners, public and private.

    Of rows that meet others, or are put after others, the larger of the two sides counts.
    """
    match plan:
        case Scan():
            return 1
        case Filter(source) | Derive(source) | Project(source) | PerPerson(source):
            return expansion(source, tables)
        case Join(source, joined, on):
            return expansion(source, tables) * max(1, joined.fan_out(theirs for _, theirs in on))
        case Union(one, other):
            return max(expansion(one, tables), expansion(other, tables))
        case PersonJoin(one, other):
            return max(expansion(one, tables) * partners(plan, tables), expansion(other, tables))
        case MarkJoin(one, other):
            return max(expansion(one, tables), expansion(other, tables))


def rows_before(source: Plan, most: int, tables: Mapping[str, Table]) -> int | None:
    """Return how many rows of each person may meet up to `most` partners each; None where all rows may.

    Where people are bounded after the join, their rows are limited before it too, or one person with many rows would
    decide how long the engine takes. They are few enough to make `MOST_PAIRS` rows, and never fewer than count in the
    end. Single rows, and people who were bounded once for the table, are limited already.

    Guarantee: a join makes at most max(`MOST_PAIRS`, max_rows * `most`) rows of one person.
    """
    unit = unit_of(source, tables)
    if most <= 1 or unit.is_row or unit.bound == "table":
        return None
    return max(unit.max_rows, MOST_PAIRS // most)


def one_each(unit: Unit, tables: Sequence[str]) -> Unit:
    """Return the unit of a relation that has one row for each person: the same people, under the same relation."""
    if unit.is_row:
        raise UnboundedSensitivity(
            f"table {', '.join(tables)}",
            why="rows are protected there, not people, so nothing says which rows are one person's",
            fix="register it with unit=person(...), or aggregate its rows directly",
            value=[*tables],
        )
    return replace(unit, max_rows=1, max_groups=1, max_rows_per_group=None)


def people_of(plan: Plan, values: tuple[OwnValue, ...], tables: Mapping[str, Table]) -> PerPerson:
    """Return the relation of one row for each person, with bounds for as many rows as a person has in the plan."""
    unit = unit_of(plan, tables)
    one_each(unit, tables_of(plan))
    return PerPerson(plan, values, reach(plan, unit, tables))


def has_one_each(plan: Plan) -> bool:
    """Say whether a plan has at most one row for each person as it stands, so that there is nothing to bound."""
    match plan:
        case PerPerson():
            return True
        case Filter(source) | Derive(source) | Project(source):
            return has_one_each(source)
    return False


def _reached(unit: Unit, rows: int) -> int:
    return unit.max_rows if unit.bound == "query" and not unit.is_row else max(1, rows)


def _settled(plan: Plan, tables: Mapping[str, Table]) -> tuple[Unit, int]:
    """Return the unit of a plan, and how many of its rows come from one when each table has bounded it by itself."""
    match plan:
        case Scan(table):
            if table not in tables:
                raise UnknownName("table", table, tables)
            return tables[table].unit, tables[table].unit.max_rows
        case Filter(source) | Derive(source) | Project(source):
            return _settled(source, tables)
        case PerPerson(source):
            return one_each(_settled(source, tables)[0], tables_of(source)), 1
        case Join(source, joined, on):
            unit, rows = _settled(source, tables)
            return unit, rows * joined.fan_out(theirs for _, theirs in on)
        case Union(one, other):
            (unit, ours), (second, theirs) = _settled(one, tables), _settled(other, tables)
            if unit != second:
                why = "its tables protect different units, so no single number bounds a person's contribution"
                raise BadParameter("union", [*tables_of(plan)], why=why, fix="register both with the same unit")
            # Tables that share an account may contain the same row, so the sides add up even where the tables differ.
            return unit, ours + theirs
        case PersonJoin(one, other, most=most):
            (unit, ours), (second, theirs) = _settled(one, tables), _settled(other, tables)
            _check_meeting(plan, unit, second)
            kept = _reached(second, theirs)
            kept = kept if most is None else min(kept, most)
            rows = _reached(unit, ours) * kept
            if unit.bound == "query":
                rows = min(rows, max(unit.max_rows, second.max_rows))
            groups = min(rows, max(unit.max_groups, second.max_groups))
            caps = [each.max_rows_per_group for each in (unit, second)]
            cap = None if None in caps else min(rows, max(each or 0 for each in caps))
            return replace(unit, max_rows=rows, max_groups=groups, max_rows_per_group=cap), ours * kept
        case MarkJoin(one, other):
            unit, ours = _settled(one, tables)
            _check_meeting(plan, unit, _settled(other, tables)[0])
            return unit, ours


def _check_units(plan: Plan, unit: Unit, tables: Mapping[str, Table]) -> None:
    for name in tables_of(plan):
        if name not in tables:
            raise UnknownName("table", name, tables)
        other = tables[name].unit
        if (other.is_row, other.relation, other.bound) != (unit.is_row, unit.relation, unit.bound):
            raise _unbounded(name)
    settled = unit_of(plan, tables)
    larger = settled.max_rows < unit.max_rows or settled.max_groups < unit.max_groups
    if larger or (unit.max_rows_per_group or 0) > (settled.max_rows_per_group or unit.max_rows_per_group or 0):
        raise _unbounded(", ".join(tables_of(plan)))


def _unbounded(name: str) -> UnboundedSensitivity:
    return UnboundedSensitivity(
        f"table {name}",
        why="its unit is not the one that the question is answered for, so nothing bounds how far one reaches",
        fix="register the tables of a question with the same unit, or ask about them one by one",
        value=name,
    )


def _check_meeting(plan: PersonJoin | MarkJoin, first: Unit, second: Unit) -> None:
    """Refuse to join what has no people, or people who are protected in different ways."""
    for side, unit in ((plan.one, first), (plan.other, second)):
        if unit.is_row:
            raise UnboundedSensitivity(
                f"table {', '.join(tables_of(side))}",
                why="rows are protected there, not people, so nothing says whose rows are paired, or how many",
                fix="register it with unit=person(...), or join it as a public table if it is one",
                value=[*tables_of(side)],
            )
    ours, theirs = (f"relation={unit.relation!r}, bound={unit.bound!r}" for unit in (first, second))
    if ours != theirs:
        raise UnboundedSensitivity(
            f"tables {', '.join(tables_of(plan))}",
            why=f"they protect people in different ways: one by {ours}, the other by {theirs}",
            fix="register both with the same relation and bound",
            value=[*tables_of(plan)],
        )
