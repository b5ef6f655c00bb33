"""Neighbours: pairs of made-up tables that differ by one unit, at the corners of what was declared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import cycle, islice

from discreet.ask.priced import PricedQuestion
from discreet.core.schema import Table
from discreet.core.unit import Unit
from discreet.lab.audits.linked_rows import tied
from discreet.lab.audits.made_up_rows import OWNER, Data, Row, beyond, broken, missing, rows, scattered
from discreet.lab.audits.screening import ScreenedRow, screened, spoken_of
from discreet.lab.audits.stage import Staged
from discreet.mechanisms.key_selection import KeySelection
from discreet.noise import uniform
from discreet.plan.nodes import PerPerson, Plan

_CROWD = 24
_THRONG = 4000
_DRAWN = 60  # rows to choose from where they could not be tried out
_RARE = 0.1  # how often a group that is nearly shown is shown: rare enough to tell, and not too rare to be seen
_MOST_SHORT = 3000

Rows = Mapping[str, Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two made-up tables that one unit makes different; `name` says how, in words.

    Two that are `apart` are no neighbours: they differ in every group. What mechanisms return decides their answers all
    the same. On the other of two that are `drawn` the programme is run many times, and its draws are judged.
    """

    name: str
    one: Data
    other: Data
    apart: bool = False
    drawn: bool = False


def neighbours(asked: PricedQuestion, staged: Staged) -> list[Neighbours]:
    """Return worst-case neighbours for a question, from the declared bounds and what its conditions let through.

    The unit has more rows than may count, in more groups, at the bounds, beyond them, and where nothing can be read.
    """
    stage = _Stage.of(asked, staged)
    found = [*(_replaced(stage) if asked.unit.relation == "replace" else _added(stage))]
    nobody: Rows = {name: [] for name in stage.tables}
    throng = stage.throng(_many(asked))
    if stage.grouped:
        rising, falling = (stage.data(stage.steps(up=up)) for up in (True, False))
        found.append(Neighbours("no neighbours: groups that rise, and that fall", rising, falling, apart=True))
    return [
        *found,
        Neighbours("no neighbours: nobody, and a throng", stage.data(nobody), stage.data(throng), True, True),
    ]


def _many(asked: PricedQuestion) -> int:
    """Return how many people make a choice by ranks depend on them: about as many as its interval is wide."""
    groups = asked.report.query.keys.size if asked.report.query.keys is not None and asked.selection is None else 1
    ranks = max((each.half_width() for each in asked.measures if each.at_ends), default=0.0)
    return int(min(_THRONG, max(4 * _CROWD, math.ceil(ranks) * groups)))


@dataclass(frozen=True, slots=True)
class _Stage:
    """What is put on stage: rows of several kinds for every table, and the unit that comes and goes."""

    tables: Mapping[str, Table]
    unit: Unit
    top: Rows
    bottom: Rows
    spread: Rows
    any: Rows
    grouped: bool
    ranked: bool
    selection: KeySelection | None
    below: int  # groups of fewer people are withheld
    staged: Mapping[str, Table]  # all tables, those that links lead to as well
    most: int  # rows of one person that may count, in a question or towards their one row

    @classmethod
    def of(cls, asked: PricedQuestion, staged: Staged) -> _Stage:
        """Choose rows by trying them out; where that cannot be done, take the corners and some at random."""
        tables, near = asked.report.query.tables, spoken_of(asked)
        tried = screened(asked, staged)
        grouped = asked.report.query.keys is not None
        if tried:
            (name,) = tables
            chosen = ([tried[0].row], [_lowest(tried)], _by_group(tried, asked.unit), [each.row for each in tried])
            top, bottom, spread, every = ({name: each} for each in chosen)
        else:
            drawn = {name: rows(table, near, _DRAWN) for name, table in tables.items()}
            top, bottom = ({name: found[at : at + 1] or found[:1] for name, found in drawn.items()} for at in (0, 1))
            spread = every = drawn
        ranked = any(each.at_ends for each in asked.measures)
        most = max(asked.unit.max_rows, *_gathered(asked.report.query.plan), 0)
        below, all_ = asked.frequency.below, staged.tables
        return cls(tables, asked.unit, top, bottom, spread, every, grouped, ranked, asked.selection, below, all_, most)

    def crowd(self) -> dict[str, list[Row]]:
        """Return other people's rows: some that count, drawn at random, up to three of each."""
        return {
            name: [
                self.called(name, found[int(uniform(len(found)))], f"other {number}")
                for number in range(_CROWD)
                for _ in range(1 if self.unit.is_row else 1 + number % 3)
            ]
            for name, found in self.any.items()
        }

    def throng(self, many: int) -> dict[str, list[Row]]:
        """Return many people of one row each: rows that count, the values of every second drawn over their bounds."""
        return {
            name: [
                self.called(
                    name,
                    found[place]
                    if (place := number // 2) < len(found) and number % 2
                    else scattered(self.tables[name], found[int(uniform(len(found)))]),
                    f"other {number}",
                )
                for number in range(many)
            ]
            for name, found in self.any.items()
        }

    def steps(self, *, up: bool) -> dict[str, list[Row]]:
        """Return people of one row each, in some groups: in each group one more than in the one before, or one less.

        Whatever follows the order of exact numbers is turned round from one to the other, in whichever group they are.
        """
        return {
            name: [
                self.called(name, row, f"other {place} {number}")
                for place, row in enumerate(found[:_CROWD])
                for number in range(1 + (place if up else min(len(found), _CROWD) - 1 - place))
            ]
            for name, found in self.spread.items()
        }

    def ends(self) -> dict[str, list[Row]]:
        """Return other people's rows, half of them at one end and half at the other."""
        return {
            name: [
                self.called(name, (self.top, self.bottom)[number % 2][name][0], f"other {number}")
                for number in range(_CROWD)
            ]
            for name in self.tables
        }

    def unit_of(self, chosen: Rows, who: str | None = "the one", least: int | None = None) -> dict[str, list[Row]]:
        """Return the rows of the one unit: the chosen ones over and over, until there are more than may count.

        `least` is how many there are to be instead, if not each of the chosen ones once.
        """
        enough = 2 * self.most + 1 if least is None else least
        return {
            name: [self.called(name, row, who) for row in islice(cycle(found), self._count(enough, len(found)))]
            for name, found in chosen.items()
        }

    def missing(self) -> Rows:
        """Return rows at the top with nothing in one column, another one each."""
        return {
            name: [row for top in found for row in missing(self.tables[name], top)] for name, found in self.top.items()
        }

    def beyond(self) -> Rows:
        """Return rows whose numbers lie beyond their bounds."""
        return {n: [beyond(self.tables[n], row, turn) for turn in range(6) for row in f] for n, f in self.top.items()}

    def broken(self) -> Rows:
        """Return rows that cannot be read."""
        return {name: [broken(table, turn) for turn in range(7)] for name, table in self.tables.items()}

    def everything(self) -> Rows:
        """Return rows of every kind, those that count first."""
        kinds = (self.top, self.bottom, self.spread, self.beyond(), self.broken())
        return {name: [row for kind in kinds for row in list(kind[name])[: _CROWD // 2]] for name in self.tables}

    def _count(self, enough: int, kinds: int) -> int:
        return 1 if self.unit.is_row else max(kinds, enough)

    def called(self, name: str, row: Row, who: str | None) -> Row:
        """Return a row that belongs to someone."""
        unit = self.tables[name].unit
        return row if unit.is_row else {**row, unit.identifier or OWNER: who}

    def data(self, rows: Rows) -> Data:
        """Return rows as they are staged, with the keys by which tables refer to each other."""
        return Data(tied(self.staged, rows))


def _added(stage: _Stage) -> Iterator[Neighbours]:
    """Yield neighbours of which one has a unit more."""
    nobody: dict[str, list[Row]] = {name: [] for name in stage.tables}
    bases: dict[int, Data] = {}
    rows_of = "a row" if stage.unit.is_row else "all rows"

    def pair(name: str, base: Rows, more: Rows) -> Neighbours:
        one = bases.setdefault(id(base), stage.data(base))
        return Neighbours(name, one, stage.data(_joined(base, more)))

    crowd = stage.crowd()
    yield pair(f"{rows_of} at the top, nobody else", nobody, stage.unit_of(stage.top))
    yield pair(f"{rows_of} at the bottom, in a crowd", crowd, stage.unit_of(stage.bottom))
    if stage.grouped:
        where = "a row in another group" if stage.unit.is_row else "rows in too many groups"
        yield pair(where, crowd, stage.unit_of(stage.spread))
        if stage.unit.max_groups < stage.unit.max_rows:
            # No row is one too many, so it is the groups alone that have to be bounded.
            few = {name: list(found)[: stage.unit.max_rows] for name, found in stage.spread.items()}
            yield pair("a row in each of too many groups", crowd, stage.unit_of(few, least=1))
    if stage.ranked:
        yield pair(f"{rows_of} at the top, others at both ends", stage.ends(), stage.unit_of(stage.top))
    yield pair("values beyond the bounds", crowd, stage.unit_of(stage.beyond()))
    yield pair("values that cannot be read", crowd, stage.unit_of(stage.broken()))
    yield pair("values that are missing, one in each row", crowd, stage.unit_of(stage.missing()))
    if stage.below > 1 and (many := _nearly_shown(stage)) is not None:
        yield pair("the one a group needs not to be withheld", many, stage.unit_of(stage.spread))
    if not stage.unit.is_row:
        yield pair("a person without a name", crowd, stage.unit_of(stage.top, who=None))
        yield pair("a bit of everything, nobody else", nobody, stage.unit_of(stage.everything()))
    if stage.selection is not None:
        short = _nearly(stage, stage.selection)
        if short is not None:
            yield replace(pair("the one a group needs to be shown", short, stage.unit_of(stage.spread)), drawn=True)


def _replaced(stage: _Stage) -> Iterator[Neighbours]:
    """Yield neighbours in which one unit is another: what leaves, and what comes in its place."""
    crowd = stage.crowd()
    nobody: dict[str, list[Row]] = {name: [] for name in stage.tables}

    def pair(name: str, base: Rows, leaving: Rows, coming: Rows) -> Neighbours:
        ones, others = (stage.unit_of(each) for each in (leaving, coming))
        return Neighbours(name, stage.data(_joined(base, ones)), stage.data(_joined(base, others)))

    yield pair("from bottom to top, nobody else", nobody, stage.bottom, stage.top)
    yield pair("from top to bottom, in a crowd", crowd, stage.top, stage.bottom)
    if stage.grouped:
        halves = [{name: list(found)[at::2] or found for name, found in stage.spread.items()} for at in (0, 1)]
        yield pair("from some groups to others", crowd, *halves)
    yield pair("from the bottom beyond the bounds", crowd, stage.bottom, stage.beyond())
    yield pair("from what can be read to what cannot", nobody, stage.top, stage.broken())
    yield pair("from the bottom to values that are missing", crowd, stage.bottom, stage.missing())


def _nearly(stage: _Stage, selection: KeySelection) -> Rows | None:
    """Return people who are just too few for their groups to be shown often, each of them in as many as may count."""
    few = next((n for n in range(selection.threshold) if selection.probability(n + 1) >= _RARE), 0)
    groups = {name: list(found)[: stage.unit.max_groups] for name, found in stage.spread.items()}
    if not few or few * stage.unit.max_groups > _MOST_SHORT:
        return None
    return {
        name: [stage.called(name, row, f"other {number}") for number in range(few) for row in found]
        for name, found in groups.items()
    }


def _nearly_shown(stage: _Stage) -> Rows | None:
    """Return people of one group each, one too few for any group to be shown where groups of few are withheld."""
    if max(map(len, stage.spread.values())) * (stage.below - 1) > _MOST_SHORT:
        return None
    return {
        name: [
            stage.called(name, row, f"other {place} {number}")
            for place, row in enumerate(found)
            for number in range(stage.below - 1)
        ]
        for name, found in stage.spread.items()
    }


def _gathered(plan: Plan) -> Iterator[int]:
    """Yield of how many rows one row is made that stands for a person."""
    if isinstance(plan, PerPerson):
        yield plan.rows
    for field in fields(plan):
        if isinstance(below := getattr(plan, field.name), Plan):
            yield from _gathered(below)


def _joined(base: Rows, more: Rows) -> Rows:
    return {name: [*found, *more[name]] for name, found in base.items()}


def _lowest(tried: Sequence[ScreenedRow]) -> Row:
    return min(tried, key=lambda each: (each.height, -each.weight)).row


def _by_group(tried: Iterable[ScreenedRow], unit: Unit) -> list[Row]:
    """Return the heaviest row of each group, for more groups than one unit may be in."""
    best: dict[tuple[object, ...], Row] = {}
    for each in tried:
        best.setdefault(each.group, each.row)
    return list(best.values())[: 2 * unit.max_groups + 1]
