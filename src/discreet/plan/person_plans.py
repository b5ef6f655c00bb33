"""Plans of people: one row for each person, with values that are asked for, or with what a bound leaves out of theirs.

Of what is cut, the people with more rows than the bound are counted, and of their rows those beyond it, up to a second
bound: the least that was cut, for rows beyond the second bound are not seen. One person changes the first by 1, the
second by the distance of the bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.core.schema import Table
from discreet.core.unit import Unit
from discreet.plan.aggregates import Aggregate, Count, Max, Mean, Min, Sum
from discreet.plan.expressions import Name
from discreet.plan.keys import Keys, declared, exactly
from discreet.plan.nodes import Datum, Filter, PerPerson, Plan, columns_of, tables_of
from discreet.plan.per_person import OwnValue
from discreet.plan.stability import has_one_each, one_each, people_of

WORDS = "sum, count, mean, min and max"


def people_plan(plan: Plan, aggregates: Iterable[tuple[str, object]], tables: Mapping[str, Table]) -> PerPerson:
    """Return the relation of one row for each person of a plan, with these aggregates over their rows, or refuse it."""
    values = tuple(own_value(name, each) for name, each in aggregates)
    made = people_of(plan, values, tables)
    columns_of(made, tables)
    return made


def own_value(name: str, aggregate: object) -> OwnValue:
    """Return an aggregate as a column of people; others than sums, counts, means and extremes have no bounds here."""
    match aggregate:
        case Count(of=of):
            return OwnValue(name, "count", of)
        case Sum(of=of, per_person=within):
            return OwnValue(name, "sum", of, within)
        case Mean(of=of) | Min(of=of) | Max(of=of):
            return OwnValue(name, aggregate.word, of)  # type: ignore[arg-type]
    word = aggregate.word if isinstance(aggregate, Aggregate) else aggregate
    why = f"of a person's rows there are {WORDS}, whose bounds follow from what was declared"
    fix = "write per_person(total=dp.sum('cost'), n=dp.count()), and aggregate that"
    raise BadParameter(name, word, why=why, fix=fix)


ROWS = "rows"
# Without another second bound, so many times the first.
FARTHER = 10
_MOST_LISTED = 1000


def cut_plan(plan: Plan, keys: Keys | None, unit: Unit, most: int) -> PerPerson:
    """Return the rows of people that could count in a question, those in its groups, as one number for each person.

    Guarantee: what is counted is that of one person; `most` bounds what they add.
    """
    one_each(unit, tables_of(plan))
    if unit.bound == "table" or has_one_each(plan):
        why = "no rows are cut in the question: they were bounded once, for the whole table or by person"
        raise BadParameter("cut", most, why=why, fix="leave cut out; discreet lint shows the custodian what was cut")
    if isinstance(most, bool) or not isinstance(most, int) or most <= unit.max_rows:
        why = f"a second bound says how many of a person's rows are looked at, and {unit.max_rows} count already"
        raise BadParameter("cut", most, why=why, fix=f"use a larger number, such as cut={FARTHER * unit.max_rows}")
    return PerPerson(_grouped(plan, keys), (OwnValue(ROWS, "count"),), most)


def cut_aggregates(max_rows: int, most: int) -> dict[str, Aggregate]:
    """Return what is asked of that plan: how many people have more rows than count, and how many rows are beyond."""
    beyond = Name(ROWS) - max_rows
    return {"people": Sum((Name(ROWS) > max_rows).as_number()), ROWS: Sum(beyond.clip(0, most - max_rows))}


def _written(column: Column, value: Datum) -> Any:  # noqa: ANN401  (what a constant may be)
    return exactly(column, value)


def _grouped(plan: Plan, keys: Keys | None) -> Plan:
    """Keep the rows that are in a group, which alone are counted against the bound."""
    if keys is None:
        return plan
    if keys.selected or keys.only is not None:
        why = "which of a person's rows are in a group is known for keys that were declared column by column"
        raise BadParameter("cut", keys.names, why=why, fix="ask what is cut without group_by")
    for key in keys.columns:
        name = Name(key.of.name or key.name)
        values = key.values or ()
        if values == declared(key.of):
            plan = Filter(plan, ~name.is_null())
        elif len(values) <= _MOST_LISTED:
            plan = Filter(plan, name.is_in([_written(key.of, value) for value in values]))
        else:
            why = f"more than {_MOST_LISTED:,} keys are listed"
            raise BadParameter("cut", len(values), why=why, fix="ask what is cut without group_by")
    return plan
