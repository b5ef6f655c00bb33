"""Marginals in SQL: rows as small codes, worked out once and kept, and the counts of many groupings of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from math import prod

from discreet.core.exact import Exact
from discreet.core.unit import Unit
from discreet.core.value import dataclass
from discreet.engines.dialect import Dialect, select
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.engine import Engine
from discreet.plan.keys import NO_KEYS, Key, Keys
from discreet.plan.nodes import Plan
from discreet.plan.to_sql.person_bounds import first_rows, ordered
from discreet.plan.to_sql.rows import Relations, base_columns, code_sql, group_sql, row_limbs, tables_under
from discreet.plan.to_sql.statement import SettledPlan

# One pass over the kept rows counts so many marginals, of so many cells in all.
BATCH = 16
BATCH_CELLS = 1 << 21
_SMALLEST = 1 << 15
# Rows that agree in all codes are kept as one, with their number, where there can be no more kinds of them than this.
MOST_KINDS = 1 << 22

Clique = tuple[int, ...]
# For each clique its cells that are not empty, in the order of the codes, and how many rows each has.
Marginals = Callable[[Sequence[Clique]], list[Exact[dict[int, int]]]]


@dataclass(frozen=True, slots=True)
class Axis:
    """One column of codes: the places of a key's values, and one more for null where `nulls` says so."""

    key: Key
    nulls: bool

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.key.values or ()) + self.nulls


@contextmanager
def marginals(
    engine: Engine,
    source: Plan,
    axes: Sequence[Axis],
    relations: Relations,
    dialect: Dialect = DUCKDB,
    unit: Unit | None = None,
) -> Iterator[Marginals]:
    """Give a function that counts the marginals of a plan's rows over sets of axes.

    The tables are read once; the codes of the rows that count are kept for as long as the function is in use.

    Guarantee: of each person the same rows count in every marginal, and no more of them than `reach` says, so that
    between neighbours each marginal differs by no more rows than that (twice as many where a unit is replaced).
    """
    asked = SettledPlan.of(source, NO_KEYS, relations, dialect, unit)
    with engine.kept(codes_sql(asked, axes, relations)) as table:
        yield lambda cliques: list(map(Exact, _counted(engine, table, axes, cliques, dialect)))


def codes_sql(asked: SettledPlan, axes: Sequence[Axis], relations: Relations) -> str:
    """Write the rows that count as codes, one column for each axis."""
    dialect, rows = asked.dialect, asked.rows
    if not asked.unit.is_row and asked.unit.bound == "query":
        numbers = row_limbs(base_columns(asked.plan, tables_under(relations)), dialect)
        rows = first_rows(ordered(rows, numbers, asked.people, dialect), asked.reach)
    keyed = [
        f'{code_sql(axis.key, asked.coded, dialect, late=False)} AS "~k{place}"' for place, axis in enumerate(axes)
    ]
    codes = [f"{_code(axis, place, asked)} AS {_name(place)}" for place, axis in enumerate(axes)]
    coded = select(codes, select(keyed, rows))
    if not _has_kinds(axes):
        return coded
    names = [_name(place) for place in range(len(axes))]
    return select((*names, 'count(*) AS "~rows"'), coded, by=names)


def _has_kinds(axes: Sequence[Axis]) -> bool:
    return prod(axis.size + 1 for axis in axes) <= MOST_KINDS


def marginals_sql(table: str, axes: Sequence[Axis], cliques: Sequence[Clique], dialect: Dialect) -> str:
    """Write the counts of several marginals as one statement: which cell, all of them numbered through, and its rows.

    A row with a null in a marginal counts in none of its cells.
    """
    cells, start = [], 0
    for clique in cliques:
        number = dialect.cast("0", dialect.narrow)
        for place in clique:
            number = f"({number} * {axes[place].size} + {_name(place)})"
        cells.append(f"{number} + {start}")
        start += prod(axes[place].size for place in clique)
    names = [f'"~i{place}"' for place in range(len(cells))]
    kinds = _has_kinds(axes)
    numbered = [f"{sql} AS {name}" for sql, name in zip(cells, names, strict=True)]
    indexed = select((*numbered, '"~rows"') if kinds else numbered, table)
    # Within one grouping all others are null, so that what is not null tells the marginal and the cell at once.
    sets = f"GROUPING SETS ({', '.join(f'({name})' for name in names)})"
    many = dialect.cast('sum("~rows")', dialect.narrow) if kinds else "count(*)"
    counted = select((*names, f'{many} AS "~n"'), indexed, by=(sets,))
    cell = f"COALESCE({', '.join(names)})" if len(names) > 1 else names[0]
    return select(('"~cell"', '"~n"'), select((f'{cell} AS "~cell"', '"~n"'), counted), where='"~cell" IS NOT NULL')


def batches(axes: Sequence[Axis], cliques: Sequence[Clique]) -> list[list[Clique]]:
    """Divide marginals into those that one pass counts together."""
    found: list[list[Clique]] = []
    left = 0
    for clique in cliques:
        cells = prod(axes[place].size for place in clique)
        if not found or len(found[-1]) >= BATCH or cells > left:
            found.append([])
            left = BATCH_CELLS
        found[-1].append(clique)
        left -= cells
    return found


def _counted(
    engine: Engine, table: str, axes: Sequence[Axis], cliques: Sequence[Clique], dialect: Dialect
) -> list[dict[int, int]]:
    found: list[dict[int, int]] = []
    for batch in batches(axes, cliques):
        starts = [0, *accumulate(prod(axes[place].size for place in clique) for clique in batch)]
        counts: list[dict[int, int]] = [{} for _ in batch]
        for cell, many in engine.rows(marginals_sql(table, axes, batch, dialect)):
            assert isinstance(cell, int)
            which = bisect_right(starts, cell) - 1
            counts[which][cell - starts[which]] = int(many or 0)
        found += counts
    return found


def _code(axis: Axis, place: int, asked: SettledPlan) -> str:
    """Write the code of a row: the place of its value, the last code for null, or null where there is none."""
    dialect = asked.dialect
    found = group_sql(Keys((axis.key,)), [f'"~k{place}"'], asked.coded, dialect, late=False)
    kind = "SMALLINT" if axis.size <= _SMALLEST else dialect.small
    return dialect.cast(f"COALESCE({found}, {axis.size - 1})" if axis.nulls else found, kind)


def _name(place: int) -> str:
    return f'"~c{place}"'
