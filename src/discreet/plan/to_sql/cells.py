"""Cells: how many values of each group lie in which equal cells, for quantiles that are refined in a few passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.core.exact import Exact
from discreet.core.unit import Unit
from discreet.engines.dialect import Dialect, select
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.engine import Engine
from discreet.plan.expressions import Expression
from discreet.plan.keys import Keys
from discreet.plan.nodes import Plan
from discreet.plan.to_sql.person_bounds import PERSON, first_groups, first_rows, ordered, ordered_groups
from discreet.plan.to_sql.rows import GROUP, Relations, base_columns, row_limbs, tables_under
from discreet.plan.to_sql.scalar import expression_sql
from discreet.plan.to_sql.statement import SettledPlan
from discreet.plan.types import type_of
from discreet.plan.whole import is_wide

VALUE = '"~value"'


class CellQuery(Protocol):
    """What a request says; `CellRequest` here, and that of the mechanisms."""

    @property
    def group(self) -> int:
        """The place of the group in `keys.listed()`."""

    @property
    def low(self) -> int:
        """Where the first cell begins, in steps."""

    @property
    def width(self) -> int:
        """How many steps a cell has."""

    @property
    def cells(self) -> int:
        """How many cells there are."""


class CellRequest(NamedTuple):
    """Asks how many values of a group lie in each of the cells [low + i * width, low + (i + 1) * width), i < cells."""

    group: int
    low: int
    width: int
    cells: int


# For each request the cells that are not empty, and how many values lie in them.
Counts = Callable[[Sequence[CellQuery]], Exact[list[dict[int, int]]]]


@contextmanager
def cells(
    engine: Engine,
    source: Plan,
    keys: Keys,
    of: Expression,
    relations: Relations,
    dialect: Dialect = DUCKDB,
    unit: Unit | None = None,
) -> Iterator[Counts]:
    """Give a function that answers requests about the values of an expression, each list of them in one scan.

    Where people are bounded, the rows that are kept are worked out once and stay the same for all requests.

    Guarantee: of each person at most max_rows values, in at most max_groups groups, are counted.
    """
    asked = SettledPlan.of(source, keys, relations, dialect, unit)
    column = _counted(of, asked)
    values = values_sql(asked, of, relations)
    if asked.unit.is_row:
        yield lambda requests: Exact(_answer(engine, values, column, requests, dialect))
        return
    with engine.kept(values) as table:
        yield lambda requests: Exact(_answer(engine, table, column, requests, dialect))


def counts(
    engine: Engine,
    source: Plan,
    keys: Keys,
    of: Expression,
    relations: Relations,
    requests: Sequence[CellQuery],
    unit: Unit | None = None,
) -> Exact[list[dict[int, int]]]:
    """Answer one list of requests: for each the cells that are not empty, and how many values lie in them."""
    with cells(engine, source, keys, of, relations, unit=unit) as answer:
        return answer(requests)


def values_sql(asked: SettledPlan, of: Expression, relations: Relations) -> str:
    """Write the values that count, with their groups: those of rows in a group that are not null, bounded by person."""
    dialect, unit = asked.dialect, asked.unit
    value = expression_sql(of, asked.columns, dialect)
    named = select(("*", *asked.grouping[asked.grouping[:1] == (PERSON,) :], f"{value} AS {VALUE}"), asked.rows)
    rows = select("*", asked.in_groups(named), where=f"{VALUE} IS NOT NULL")
    if not asked.groups:
        rows = select(("*", f"0 AS {GROUP}"), rows)
    if not unit.is_row and unit.bound == "query":
        numbers = row_limbs(base_columns(asked.plan, tables_under(relations)), dialect)
        first = first_rows(ordered(rows, numbers, asked.people, dialect), asked.reach)
        rows = select((PERSON, GROUP, VALUE), first)
    if asked.groups and asked.bounds_groups:
        rows = first_groups(ordered_groups(rows, [GROUP], asked.people, dialect), [GROUP], unit.max_groups)
    return select((GROUP, VALUE), rows)


def cells_sql(values: str, column: Column, requests: Sequence[CellQuery], dialect: Dialect = DUCKDB) -> str:
    """Write the requests as one statement: which request, which cell, how many values; empty cells are left out."""
    shapes = {(each.low, each.width, each.cells) for each in requests}
    widest = max(max(abs(low), abs(low + width * many)) for low, width, many in shapes)
    kind = dialect.wide if is_wide(-widest, widest) or is_wide(*column.steps) else dialect.narrow
    if len(shapes) == 1 and len({each.group for each in requests}) == len(requests):
        ((low, width, many),) = shapes
        first, last, wide = (dialect.cast(str(each), kind) for each in (low, low + width * many - 1, width))
        cell = dialect.cast(dialect.floor_div(f"({VALUE} - {first})", wide, wide=kind == dialect.wide), dialect.narrow)
        inside = select((f"{GROUP} AS g", f"{cell} AS c"), values, where=f"{VALUE} BETWEEN {first} AND {last}")
        return select(("g", "c", "count(*)"), inside, by=("g", "c"))
    listed = ", ".join(
        f"({place}, {each.group}, {each.low}, {each.width}, {each.low + each.width * each.cells - 1})"
        for place, each in enumerate(requests)
    )
    typed = [f"{dialect.cast(name, kind)} AS {name}" for name in ("low", "wide", "last")]
    asking = select(("i", "g", *typed), f"(VALUES {listed}) AS q(i, g, low, wide, last)")
    cell = dialect.cast(dialect.floor_div(f"({VALUE} - low)", "wide", wide=kind == dialect.wide), dialect.narrow)
    source = f"({values})" if values.startswith("SELECT ") else values
    joined = f"{source} AS v JOIN ({asking}) AS q ON {GROUP} = g AND {VALUE} BETWEEN low AND last"
    return select(("i", "c", "count(*)"), select(("i", f"{cell} AS c"), joined), by=("i", "c"))


def _answer(
    engine: Engine, values: str, column: Column, requests: Sequence[CellQuery], dialect: Dialect
) -> list[dict[int, int]]:
    found: list[dict[int, int]] = [{} for _ in requests]
    if not requests:
        return found
    for each in requests:
        if each.width < 1 or each.cells < 1 or each.group < 0:
            why = "a request has a group, at least one cell, and cells of at least one step"
            raise BadParameter("requests", (each.group, each.low, each.width, each.cells), why=why, fix="fix it")
    # Quantiles often ask the same of a group several times, once for the value and once for each end of its interval.
    once = list(dict.fromkeys(CellRequest(each.group, each.low, each.width, each.cells) for each in requests))
    if len(once) < len(requests):
        answers = dict(zip(once, _answer(engine, values, column, once, dialect), strict=True))
        return [dict(answers[CellRequest(each.group, each.low, each.width, each.cells)]) for each in requests]
    shapes = {(each.low, each.width, each.cells) for each in requests}
    groups = {each.group: place for place, each in enumerate(requests)}
    direct = len(shapes) == 1 and len(groups) == len(requests)
    for which, cell, many in engine.rows(cells_sql(values, column, requests, dialect)):
        assert isinstance(which, int)
        place = groups.get(which) if direct else which
        if place is not None:
            found[place][int(cell or 0)] = int(many or 0)
    return found


def _counted(of: Expression, asked: SettledPlan) -> Column:
    column = type_of(of, asked.columns)
    if column.kind not in ("number", "date"):
        why = f"values are put into cells by their size, and this is a {column.kind}"
        raise BadParameter("of", of, why=why, fix="ask about a number or a date")
    return column
