"""Own values: aggregates of a question as columns of a relation that has one row for each person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from discreet.core.errors import BadParameter
from discreet.core.schema import Table
from discreet.plan.aggregates import Aggregate, Count, Max, Mean, Min, Sum
from discreet.plan.nodes import PerPerson, Plan, columns_of
from discreet.plan.per_person import OwnValue
from discreet.plan.stability import people_of

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
