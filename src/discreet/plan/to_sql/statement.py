"""Questions in SQL: from a plan, keys and tallies to one statement whose answer is a few exact integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from discreet.core.column import Column
from discreet.core.unit import Unit
from discreet.core.value import dataclass
from discreet.engines.dialect import NARROW, WIDE, Dialect, select
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.plan.expressions import Expression
from discreet.plan.keys import Keys, Tally, TallyQuery
from discreet.plan.nodes import Datum, Plan, columns_of
from discreet.plan.refusals import too_wide
from discreet.plan.stability import reach, stability, unit_of
from discreet.plan.to_sql.person_bounds import (
    ALLOTTED,
    MOST_ROWS,
    PERSON,
    ROWS,
    allotted,
    limbs,
    ordered_groups,
    person_limbs,
    shrunk,
)
from discreet.plan.to_sql.rows import (
    GROUP,
    Relations,
    code_sql,
    coded_columns,
    group_sql,
    rows_sql,
    tables_under,
    whole_people,
)
from discreet.plan.to_sql.scalar import expression_sql
from discreet.plan.types import type_of
from discreet.plan.whole import OutOfRange, Whole

# Where the count begins in a sum that carries the count of its values too.
_PACKED = 60


@dataclass(frozen=True, slots=True)
class EngineStatement:
    """SQL that answers a question, and the names of the columns of its answer.

    An answer has a row for each group that is not empty: the place of its key in `keys.listed()` (the values of the key
    where keys are selected), then one exact integer for each tally.
    """

    sql: str
    names: tuple[str, ...]


def tallies_sql(
    question: TallyQuery, relations: Relations, dialect: Dialect = DUCKDB, unit: Unit | None = None
) -> EngineStatement:
    """Write a question as one statement that reads its tables once.

    `unit` may bound people more tightly than the table's own, which it is otherwise.

    Guarantee: between neighbours the answers differ by no more than `stability` says, in units of each tally's `most`;
    "people" by 1 in each group where people are protected, and like "rows" where rows are.
    """
    asked = SettledPlan.of(question.source, question.keys, relations, dialect, unit)
    sums = Sums.of(question.tallies, asked.columns, dialect)
    keyed = select((*asked.grouping, *sums.values) or ("1",), asked.rows)
    answer = _bounded(keyed, sums, asked) if asked.is_bounded else _plain(keyed, sums, asked)
    names = ("group",) if not question.keys.selected else question.keys.names
    return EngineStatement(answer, (*names, *(tally.kind for tally in question.tallies)))


@dataclass(frozen=True, slots=True)
class SettledPlan:
    """A plan and its keys, settled for one unit: the SQL of its rows, and of the groups they fall into."""

    plan: Plan
    keys: Keys
    unit: Unit
    reach: int  # the most rows that come from one unit
    columns: Mapping[str, Column]
    rows: str
    whole: bool
    coded: frozenset[str]
    dialect: Dialect

    @classmethod
    def of(cls, plan: Plan, keys: Keys, relations: Relations, dialect: Dialect, unit: Unit | None) -> SettledPlan:
        """Check that the plan is sound and stable, and write its rows."""
        tables = tables_under(relations)
        columns = columns_of(plan, tables)
        settled = unit or unit_of(plan, tables)
        stability(plan, settled, tables, groups=bool(keys.columns))
        rows = rows_sql(plan, relations, settled, dialect)
        whole, coded = whole_people(plan, relations), coded_columns(plan, relations)
        return cls(plan, keys, settled, reach(plan, settled, tables), columns, rows, whole, coded, dialect)

    @property
    def codes(self) -> tuple[str, ...]:
        """The names of the columns that tell groups apart: a code for each key, or its value where it is selected."""
        return tuple(f'"~k{place}"' for place in range(len(self.keys.columns)))

    @property
    def grouping(self) -> tuple[str, ...]:
        """The columns that tell people and groups apart, named."""
        people = () if self.unit.is_row else (PERSON,)
        if self.keys.selected:
            of = [self.dialect.quote(key.of.name or key.name) for key in self.keys.columns]
        else:
            of = [code_sql(key, self.coded, self.dialect, late=self.is_late) for key in self.keys.columns]
        return (*people, *(f"{sql} AS {name}" for sql, name in zip(of, self.codes, strict=True)))

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of what a group is known by in the answer."""
        if self.keys.selected:
            return self.codes
        return (GROUP,) if self.keys.columns else ()

    def in_groups(self, sql: str) -> str:
        """Leave out what is in no group, and put the place of the group for its codes."""
        if not self.keys.columns:
            return sql
        condition = " AND ".join(f"{name} IS NOT NULL" for name in self.groups)
        if not self.keys.selected:
            group = group_sql(self.keys, self.codes, self.coded, self.dialect, late=self.is_late)
            # Once: else a planner might ask which group a row is in before it adds rows up, for every row.
            sql = self.dialect.once(select(("*", f"{group} AS {GROUP}"), sql))
        return select("*", sql, where=condition)

    @property
    def is_bounded(self) -> bool:
        """Whether people's rows or groups have to be bounded in the query."""
        if self.unit.is_row:
            return False
        return self.unit.bound == "query" or (bool(self.keys.columns) and self.bounds_groups)

    @property
    def bounds_groups(self) -> bool:
        """Whether the groups of one person have to be bounded, since their rows could fall into more."""
        return not self.unit.is_row and self.unit.max_groups < self.reach

    @property
    def is_late(self) -> bool:
        """Whether rows are grouped by the values of keys, whose places are found afterwards."""
        return not self.is_bounded

    @property
    def people(self) -> list[str]:
        """Who a row belongs to, as small numbers."""
        return person_limbs(self.whole, self.dialect)

    @property
    def group_limbs(self) -> list[str]:
        """The group of a row, as small numbers."""
        if not self.keys.selected:
            return list(self.groups)
        columns = zip(self.keys.columns, self.groups, strict=True)
        return [limb for key, name in columns for limb in limbs(key.of, name, self.dialect)]


@dataclass(frozen=True, slots=True)
class Sums:
    """What has to be summed for some tallies: values that several of them share are computed once."""

    tallies: tuple[Tally, ...]
    values: tuple[str, ...]  # the SQL of every value, named
    present: tuple[str, ...]  # for each tally the SQL that is not null where it counts
    added: tuple[str | None, ...]  # for each tally the SQL of what it adds up, None where it only counts
    low: tuple[int, ...]  # what is to be taken off for each row that counts
    most: tuple[int, ...]

    @classmethod
    def of(cls, tallies: Sequence[Tally], columns: Mapping[str, Column], dialect: Dialect) -> Sums:
        """Write the values of tallies, proving that their sums fit."""
        known: list[Expression] = []
        for expression in (each for tally in tallies for each in tally.of):
            if not any(expression.same_as(other) for other in known):
                known.append(expression)
        names = [f'"~x{place}"' for place in range(len(known))]
        values = [_value(expression, columns, dialect) for expression in known]
        sources = [f"{sql} AS {name}" for (sql, _), name in zip(values, names, strict=True)]
        bounds = {name: bound for (_, bound), name in zip(values, names, strict=True)}
        present, added, low, most = [], [], [], []
        for tally in tallies:
            used = [names[next(i for i, other in enumerate(known) if each.same_as(other))] for each in tally.of]
            largest = tally.most(columns)
            if largest * MOST_ROWS >= WIDE:
                raise too_wide(tally.of[0])
            most.append(largest)
            part, off = _added(tally, used, bounds, dialect)
            added.append(part)
            low.append(off)
            present.append(_present(used))
        return cls(tuple(tallies), tuple(sources), tuple(present), tuple(added), tuple(low), tuple(most))

    def is_wide(self, place: int) -> bool:
        """Say whether the sum of a person's values might need the wide type."""
        return self.most[place] * MOST_ROWS >= NARROW


def _value(expression: Expression, columns: Mapping[str, Column], dialect: Dialect) -> tuple[str, tuple[int, int]]:
    column, sql = type_of(expression, columns), expression_sql(expression, columns, dialect)
    if column.kind in ("text", "category"):
        return sql, (0, 0)
    return (dialect.flag_to_integer(sql) if column.kind == "flag" else sql), column.steps


def _added(
    tally: Tally, used: Sequence[str], bounds: Mapping[str, tuple[int, int]], dialect: Dialect
) -> tuple[str | None, int]:
    """Write what a tally adds up, and what has to be taken off afterwards for each row."""
    wholes = [Whole.of(name, bounds[name], dialect) for name in used]
    try:
        match tally.kind:
            case "sum" if not wholes[0].wide:
                return wholes[0].sql, wholes[0].low
            case "sum":
                return wholes[0].shifted(-wholes[0].low).sql, 0
            case "product":
                first, second = (each.scaled(2).shifted(-each.low - each.high) for each in wholes)
                return first.times(second).shifted(first.high * second.high).sql, 0
    except OutOfRange:
        raise too_wide(tally.of[0]) from None
    return None, 0


def _present(used: Sequence[str]) -> str:
    if len(used) < 2 or used[0] == used[1]:
        return used[0] if used else "*"
    condition = " AND ".join(f"{name} IS NOT NULL" for name in used)
    return f"CASE WHEN {condition} THEN 1 END"


def _plain(keyed: str, sums: Sums, asked: SettledPlan) -> str:
    """Write the answer where every row counts."""
    names = [f'"~v{place}"' for place in range(len(sums.tallies))]
    found = [f"{_total(sums, place, asked)} AS {name}" for place, name in enumerate(names)]
    return select(
        (*(asked.groups or ("0",)), *names), asked.in_groups(select((*asked.codes, *found), keyed, by=asked.codes))
    )


def _total(sums: Sums, place: int, asked: SettledPlan) -> str:
    tally, added, low = sums.tallies[place], sums.added[place], sums.low[place]
    if tally.kind == "people":
        # DISTINCT leaves out the one person called null.
        null = f"COALESCE(max(CASE WHEN {PERSON} IS NULL THEN 1 ELSE 0 END), 0)"
        return "count(*)" if asked.unit.is_row else f"count(DISTINCT {PERSON}) + {null}"
    count = f"count({sums.present[place]})"
    if added is None:
        return count
    total = f"COALESCE({asked.dialect.total(added, low, low + sums.most[place])}, 0)"
    return f"{total} - {asked.dialect.cast(str(low), asked.dialect.wide)} * {count}" if low else total


@dataclass(frozen=True, slots=True)
class Within:
    """What is added up for each person within each group: the columns, and each tally's value once rows are allotted.

    Engines spend their time here on the number of sums. A sum and the count of its values therefore share one: every
    value is raised by 2^60, and as their own sum is proven to stay below that, the bits above it are the count.
    """

    summed: tuple[str, ...]
    unpacked: tuple[str, ...]
    values: tuple[str | None, ...]  # None where a tally counts people

    @classmethod
    def of(cls, sums: Sums, asked: SettledPlan) -> Within:
        """Write the sums of every tally."""
        dialect = asked.dialect
        summed, unpacked, counted = [f"{dialect.rows_of_person} AS {ROWS}"], [ROWS], {"*": ROWS}
        places = [place for place in range(len(sums.tallies)) if dialect.packs and _is_packed(sums, place)]
        packed = {sums.present[place]: place for place in reversed(places)}
        for present, place in packed.items():
            counted[present] = f'"~n{place}"'
            raised = f"{sums.added[place]} + {dialect.cast(str((1 << _PACKED) - sums.low[place]), dialect.narrow)}"
            summed.append(f'COALESCE(sum({raised}), 0) AS "~p{place}"')
            count, total = dialect.high_bits(f'"~p{place}"', _PACKED), dialect.low_bits(f'"~p{place}"', _PACKED)
            unpacked.append(f"{dialect.cast(count, dialect.narrow)} AS {counted[present]}")
            unpacked.append(f'{dialect.cast(total, dialect.narrow)} AS "~s{place}"')
        values: list[str | None] = []
        for place, tally in enumerate(sums.tallies):
            present = sums.present[place]
            if tally.kind == "people":
                values.append(None)
                continue
            if present not in counted:
                counted[present] = f'"~n{place}"'
                summed.append(f"count({present}) AS {counted[present]}")
                unpacked.append(counted[present])
            rows = counted[present]
            if sums.added[place] is None:
                values.append(ALLOTTED if rows == ROWS else f"least({rows}, {ALLOTTED})")
                continue
            if packed.get(present) != place:
                kind = dialect.wide if sums.is_wide(place) else dialect.narrow
                summed.append(f'{dialect.cast(_total(sums, place, asked), kind)} AS "~s{place}"')
                unpacked.append(f'"~s{place}"')
            values.append(shrunk(f'"~s{place}"', rows, dialect, wide=sums.is_wide(place)))
        return cls(tuple(summed), tuple(unpacked), tuple(values))


def _is_packed(sums: Sums, place: int) -> bool:
    """Say whether a sum, with the count of its values above it, is proven to fit."""
    return sums.added[place] is not None and sums.most[place] * MOST_ROWS < 1 << _PACKED


def _bounded(keyed: str, sums: Sums, asked: SettledPlan) -> str:
    """Write the answer where each person's rows are added up within groups first, and then bounded.

    Sums are shrunk in proportion to the rows that were allotted, not cut, so that means stay what they were.
    """
    within = Within.of(sums, asked)
    found = ["count(*)" if value is None else f"COALESCE(sum({value}), 0)" for value in within.values]
    by = (PERSON, *asked.codes)
    summed = asked.in_groups(select((*by, *within.unpacked), select((*by, *within.summed), keyed, by=by)))
    if asked.groups:
        # People alone need no rows allotted: everyone counts in as many groups as the unit allows.
        alone = all(tally.kind == "people" for tally in sums.tallies)
        groups = asked.unit.max_groups if alone or asked.bounds_groups else None
        keyed_groups = ordered_groups(summed, asked.group_limbs, asked.people, asked.dialect)
        taken = allotted(keyed_groups, asked.groups, asked.dialect, asked.reach, groups)
    else:
        taken = select(("*", f"least({ROWS}, {asked.reach}) AS {ALLOTTED}"), summed)
    return select((*(asked.groups or ("0",)), *found), taken, by=asked.groups)


def in_order(rows: Iterable[Sequence[Datum]], question: TallyQuery) -> list[tuple[int, ...]]:
    """Return the tallies of every listed group, in order, given the rows of an answer; empty groups have zeros."""
    found: list[tuple[int, ...]] = [(0,) * len(question.tallies)] * question.keys.size
    for group, *tallies in rows:
        assert isinstance(group, int)
        found[group] = tuple(int(each or 0) for each in tallies)
    return found
