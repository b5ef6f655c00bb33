"""Caps by group in SQL: rows are added up for each person within each group, and weighed by how many there are.

No order decides anything, and no row is left out. Rows in no group of the question take no part.
"""

from __future__ import annotations

from discreet.engines.dialect import MOST_ROWS, select
from discreet.plan.stability import GRAIN, GroupCap
from discreet.plan.to_sql.person_bounds import PERSON, ROWS
from discreet.plan.to_sql.settled_plan import SettledPlan
from discreet.plan.to_sql.sums import Sums
from discreet.plan.whole import Whole

_TAKEN, _ALL, _WEIGHT = '"~taken"', '"~all"', '"~weight"'


def capped_sql(sums: Sums, asked: SettledPlan, cap: GroupCap) -> str:
    """Write the answer in parts of rows, where what a person counts for is capped in each group.

    Guarantee: one person's rows weigh what `GroupCap` says; rows without an identifier weigh nothing.
    """
    dialect = asked.dialect
    by, names = (PERSON, *asked.codes), [f'"~s{place}"' for place in range(len(sums.tallies))]
    added = [
        f"{dialect.cast(sums.total(place, dialect), dialect.wide if sums.is_wide(place) else dialect.narrow)} AS {name}"
        for place, name in enumerate(names)
    ]
    keyed = select("*", select((*asked.grouping, *sums.values), asked.rows), where=f"{PERSON} IS NOT NULL")
    summed = asked.in_groups(select((*by, f"{dialect.rows_of_person} AS {ROWS}", *added), keyed, by=by))
    taken = select(("*", f"least({ROWS}, {_at_most(cap.each)}) AS {_TAKEN}"), summed)
    everything = f"sum({_TAKEN}) OVER (PARTITION BY {PERSON})"
    shared = select(("*", f"{dialect.cast(everything, dialect.narrow)} AS {_ALL}"), taken)
    weighed = select(("*", f"{_weight(cap, asked).stored} AS {_WEIGHT}"), shared)
    weight = Whole(_WEIGHT, 0, GRAIN, dialect)
    found = []
    for place, name in enumerate(names):
        moved = Whole.of(name, (0, sums.most[place] * MOST_ROWS), dialect).times(weight)
        found.append(f"COALESCE({dialect.total(moved.stored, moved.low, moved.high)}, 0)")
    return select((*asked.groups, *found), weighed, by=asked.groups)


def _weight(cap: GroupCap, asked: SettledPlan) -> Whole:
    """Write floor(2^20 m min(M, rows) / (n M)), which is at most 2^20, since m is at most n."""
    dialect = asked.dialect
    rows, everything = (Whole(name, 1, MOST_ROWS, dialect) for name in (ROWS, _ALL))
    room = Whole(f"least({_ALL}, {_at_most(cap.rows)})", 1, _at_most(cap.rows), dialect)
    taken = Whole(_TAKEN, 1, _at_most(cap.each), dialect)
    return taken.times(room).scaled(GRAIN).over(rows.times(everything), 0, GRAIN)


def _at_most(rows: int) -> int:
    """Return a bound that fits short integers; no table has more rows."""
    return min(rows, MOST_ROWS)
