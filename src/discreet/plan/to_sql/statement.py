"""Questions in SQL: from a plan, keys and tallies to one statement whose answer is a few exact integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from discreet.core.unit import Unit
from discreet.core.value import dataclass, replace
from discreet.engines.dialect import Dialect, select
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.engine import Engine
from discreet.plan.keys import Tally, TallyQuery
from discreet.plan.nodes import Datum
from discreet.plan.stability import GRAIN, has_one_each
from discreet.plan.to_sql.group_caps import capped_sql
from discreet.plan.to_sql.person_bounds import ALLOTTED, MOST_ROWS, PERSON, ROWS, allotted, ordered_groups, shrunk
from discreet.plan.to_sql.read_columns import read_for
from discreet.plan.to_sql.rows import Relations, rows_sql
from discreet.plan.to_sql.settled_plan import SettledPlan as SettledPlan
from discreet.plan.to_sql.sums import Sums as Sums
from discreet.plan.to_sql.weights import WEIGHT, WeighedRows
from discreet.plan.whole import Whole

# Tables that are declared to have more rows are read anew for every question, so that no copy fills memory and disk.
MOST_REMEMBERED = 50_000_000
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
    question: TallyQuery,
    relations: Relations,
    dialect: Dialect = DUCKDB,
    unit: Unit | None = None,
    engine: Engine | None = None,
) -> EngineStatement:
    """Write a question as one statement.

    `unit` may bound people more tightly than the table's own, which it is otherwise. With an `engine`, weighed rows are
    read from what it remembers of them, or put there: the answer is the same.

    Guarantee: between neighbours the answers differ by no more than `stability` says, in units of each tally's `most`;
    where rows are weighed by no more than `weighed_stability`, times 2^20. "people" differs by 1 in each group where
    people are protected, and like "rows" where rows are.
    """
    columns, conditions = read_for(question, relations)
    asked = SettledPlan.of(question.source, question.keys, columns, dialect, unit)
    if question.weighed and not asked.unit.is_row:
        # Who has too many rows depends on conditions alone, and so serves questions about other columns too.
        counted = rows_sql(question.source, conditions, asked.unit, dialect)
        answer = _weighed(question.tallies, asked, counted, engine if _fits(relations) else None)
    else:
        answer = _allotted(Sums.of(question.tallies, asked.columns, dialect), asked)
    names = ("group",) if not question.keys.selected else question.keys.names
    return EngineStatement(answer, (*names, *(tally.kind for tally in question.tallies)))


def _allotted(sums: Sums, asked: SettledPlan) -> str:
    """Write the answer in whole rows."""
    keyed = select((*asked.grouping, *sums.values) or ("1",), asked.rows)
    return _bounded(keyed, sums, asked) if asked.is_bounded else _plain(keyed, sums, asked)


def _fits(relations: Relations) -> bool:
    """Say whether the rows of tables may be kept beside them: a function of what was declared."""
    return all((relation.table.rows or 0) <= MOST_REMEMBERED for relation in relations.values())


def _weighed(tallies: Sequence[Tally], asked: SettledPlan, counted: str, engine: Engine | None) -> str:
    """Write the answer in parts of rows; people are counted by themselves, by the secret order.

    `counted` are the same rows with the columns that suffice to count how many each person has.
    """
    weights = [tally for tally in tallies if tally.kind != "people"]
    if not weights:
        return _allotted(Sums.of(tallies, asked.columns, asked.dialect), asked)
    sums = Sums.of(weights, asked.columns, asked.dialect, GRAIN)
    answer = _each_weighed(sums, asked, counted, engine) if asked.cap is None else capped_sql(sums, asked, asked.cap)
    if len(weights) == len(tallies):
        return answer
    people = _allotted(Sums.of([Tally("people")], asked.columns, asked.dialect), asked)
    return _beside(answer, people, [tally.kind == "people" for tally in tallies], asked)


def _each_weighed(sums: Sums, asked: SettledPlan, counted: str, engine: Engine | None) -> str:
    """Write the answer where all rows of a person weigh the same."""
    late = replace(asked, is_weighed=True)
    parts = _parts(sums, asked.dialect)
    weighed = WeighedRows(
        keyed=select((*late.grouping, *sums.values), asked.rows),
        rows=counted,
        columns=(*late.codes, *(f"{part.sql} AS {name}" for name, part in parts.items())),
        most=asked.unit.max_rows if asked.unit.bound == "query" and not has_one_each(asked.plan) else None,
        dialect=asked.dialect,
    )
    rows = weighed.sql if engine is None else weighed.remembered(engine)
    names = [f'"~v{place}"' for place in range(len(sums.tallies))]
    found = [f"{_weight(sums, place, parts, asked.dialect)} AS {name}" for place, name in enumerate(names)]
    by = late.groups or ("0",)
    return select((*by, *names), late.in_groups(select((*late.codes, *found), rows, by=late.codes)))


def _beside(weights: str, people: str, counted: Sequence[bool], asked: SettledPlan) -> str:
    """Put the number of people beside the weighed sums of their group; `counted` says which tallies are of people."""
    dialect, zero = asked.dialect, asked.dialect.cast("0", asked.dialect.wide)
    keys = [f'"~g{place}"' for place in range(max(1, len(asked.groups)))]
    sums = [f'"~v{place}"' for place in range(len(counted) - sum(counted))]
    wide = [dialect.cast(name, dialect.wide) for name in (*sums, '"~p"')]

    def side(sql: str, names: Sequence[str], values: Sequence[str]) -> str:
        return select((*keys, *values), f'({sql}) AS "~q"({", ".join((*keys, *names))})')

    one = side(weights, sums, (*wide[:-1], zero))
    other = side(people, ['"~p"'], (*[zero for _ in sums], wide[-1]))
    columns = f'"~b"({", ".join((*keys, *sums, chr(34) + "~p" + chr(34)))})'
    given = iter(sums)
    totals = ['sum("~p")' if each else f"sum({next(given)})" for each in counted]
    return select((*keys, *totals), f"({one} UNION ALL {other}) AS {columns}", by=keys)


def _parts(sums: Sums, dialect: Dialect) -> dict[str, Whole]:
    """Write what each row adds to the tallies, times its weight, by the name of its column; each once."""
    weight, found = Whole(WEIGHT, 0, GRAIN, dialect), {}
    for place, added in enumerate(sums.added):
        present = sums.present[place]
        counted = WEIGHT if present == "*" else f"CASE WHEN {present} IS NOT NULL THEN {WEIGHT} END"
        found[_counted(sums, place)] = replace(weight, sql=counted)
        if added is not None:
            found[f'"~s{place}"'] = added.times(weight)
    return found


def _counted(sums: Sums, place: int) -> str:
    """Return the column of the weight of those rows that count for a tally: one for all tallies that count alike."""
    return f'"~n{sums.present.index(sums.present[place])}"'


def _weight(sums: Sums, place: int, parts: Mapping[str, Whole], dialect: Dialect) -> str:
    """Write the sum of what a tally adds, row by row times the row's weight."""

    def total(name: str) -> str:
        return f"COALESCE({dialect.total(name, parts[name].low, parts[name].high)}, 0)"

    low = sums.low[place]
    if sums.added[place] is None:
        return total(_counted(sums, place))
    weighed = total(f'"~s{place}"')
    if not low:
        return weighed
    return f"{weighed} - {dialect.cast(str(low), dialect.wide)} * {total(_counted(sums, place))}"


def _plain(keyed: str, sums: Sums, asked: SettledPlan) -> str:
    """Write the answer where every row counts."""
    names = [f'"~v{place}"' for place in range(len(sums.tallies))]
    found = [f"{_total(sums, place, asked)} AS {name}" for place, name in enumerate(names)]
    return select(
        (*(asked.groups or ("0",)), *names), asked.in_groups(select((*asked.codes, *found), keyed, by=asked.codes))
    )


def _total(sums: Sums, place: int, asked: SettledPlan) -> str:
    if sums.tallies[place].kind == "people":
        # DISTINCT leaves out the one person called null.
        null = f"COALESCE(max(CASE WHEN {PERSON} IS NULL THEN 1 ELSE 0 END), 0)"
        return "count(*)" if asked.unit.is_row else f"count(DISTINCT {PERSON}) + {null}"
    return sums.total(place, asked.dialect)


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
            raised = (
                f"{_sql(sums.added[place])} + {dialect.cast(str((1 << _PACKED) - sums.low[place]), dialect.narrow)}"
            )
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


def _sql(added: Whole | None) -> str:
    assert added is not None
    return added.sql


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
