"""Screened: made-up rows tried out one by one in the engine: which of them count, in which group, and how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from discreet.ask.priced import PricedQuestion
from discreet.core.doors import opened
from discreet.core.errors import Refusal
from discreet.core.schema import Table, between
from discreet.core.unit import row as row_unit
from discreet.lab.audits.made_up_rows import Data, Row, constants, rows
from discreet.lab.audits.stage import Staged
from discreet.plan.keys import NO_KEYS, Key, Keys, Tally, TallyQuery
from discreet.plan.nodes import Datum, Filter, Join, MarkJoin, PerPerson, PersonJoin, Plan, Project, Scan, Union

if TYPE_CHECKING:
    from discreet.core.column import Column

_CANDIDATES = 1500


@dataclass(frozen=True, slots=True)
class ScreenedRow:
    """A row that counts: its group, how far it moves noisy integers in units of their noise, and how high it lies."""

    row: Row
    group: tuple[Datum, ...]
    weight: float
    height: float


def spoken_of(asked: PricedQuestion) -> list[object]:
    """Return the constants and names of a question, each once."""
    query = asked.report.query
    keys = query.keys or NO_KEYS
    listed = [(key.name, key.of.name or "", key.values) for key in keys.columns]
    found = constants((query.plan, tuple(each for _, each in asked.report.aggregates), tuple(listed)))
    return [*dict.fromkeys(found)]


def screened(asked: PricedQuestion, staged: Staged) -> list[ScreenedRow]:
    """Return made-up rows that count, the heaviest first; none where rows cannot be tried one by one.

    Every row is a group of its own: the engine is asked the very tallies of the question, grouped by one column more.
    Joins of two private tables are about people and not about rows, so that there is nothing to try.
    """
    query = asked.report.query
    tables = query.tables
    if len(tables) != 1:
        return []
    ((name, table),) = tables.items()
    mark = _free(table)
    tried = rows(table, spoken_of(asked), _CANDIDATES)
    column = between(0, max(1, len(tried) - 1)).named(mark)
    marked = Table(name, row_unit(), [*table.columns, column])
    data = Data({name: [{**row, mark: str(place)} for place, row in enumerate(tried)]})
    try:
        plan = _carrying(query.plan, mark)
        with staged.screen(marked, data) as runner:
            keys = Keys((Key(mark, column, None), *_open(query.keys or NO_KEYS)))
            found = opened(runner.tallies(TallyQuery(plan, keys, tuple(_wanted(asked))), row_unit()))
    except Refusal:
        return []
    return _weighed(asked, tried, found)


def _wanted(asked: PricedQuestion) -> list[Tally]:
    """Return what every measure tries rows out by."""
    return [Tally("rows"), *(tally for each in asked.measures for tally in each.trial_tallies)]


def _weighed(asked: PricedQuestion, tried: Sequence[Row], found: Sequence[tuple[Datum, ...]]) -> list[ScreenedRow]:
    keys = asked.report.query.keys or NO_KEYS
    width = 1 + len(keys.columns)
    listed = None if keys.selected or not keys.columns else set(keys.listed())
    candidates = []
    for line in found:
        group, tallied = tuple(line[1:width]), [int(each or 0) for each in line[width:]]
        if None in group or (listed is not None and group not in listed):
            continue
        weight, height = _moved(asked, tallied[1:])
        candidates.append(ScreenedRow(tried[int(line[0] or 0)], group, weight, height))
    return sorted(candidates, key=lambda each: (-each.weight, -each.height))


def _moved(asked: PricedQuestion, tallied: list[int]) -> tuple[float, float]:
    """Return how far one row moves all noisy integers, in units of their noise, and the sum of what it adds."""
    weight, place = 0.0, 0
    for each in asked.measures:
        own = tallied[place : place + len(each.trial_tallies)]
        weight, place = weight + each.weight(own), place + len(own)
    return weight, float(sum(tallied))


def _open(keys: Keys) -> list[Key]:
    """Return the keys of a question with no value listed, so that the engine says which groups rows fall into."""
    return [replace(key, values=None) for key in keys.columns]


def _carrying(plan: Plan, mark: str) -> Plan:
    """Return the plan with a column more that passes through it."""
    match plan:
        case Scan():
            return plan
        case Project():
            return replace(plan, source=_carrying(plan.source, mark), columns=(*plan.columns, (mark, mark)))
        case Union():
            return replace(plan, one=_carrying(plan.one, mark), other=_carrying(plan.other, mark))
        case PersonJoin() | MarkJoin() | PerPerson():
            raise Refusal("a relation of people", why="its rows are no rows of one table", fix="try people instead")
        case Filter() | Join():
            return replace(plan, source=_carrying(plan.source, mark))
    return replace(plan, source=_carrying(plan.source, mark))


def _free(columns: Mapping[str, Column] | Table) -> str:
    name = "candidate"
    while name.lower() in {each.lower() for each in columns}:
        name += "_"
    return name
