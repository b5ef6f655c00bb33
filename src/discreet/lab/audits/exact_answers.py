"""Exacts: what the engine finds of a question on made-up rows, before any noise: integers, people, ranked values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.ask.priced import PricedQuestion
from discreet.ask.release import binned_question, tallied_question
from discreet.ask.runner import Runner
from discreet.core.doors import opened
from discreet.lab.audits.neighbours import Neighbours
from discreet.lab.audits.stage import Staged
from discreet.measures.bins import BinMeasure
from discreet.measures.quantiles import QuantileMeasure
from discreet.measures.sums import SumMeasure
from discreet.plan.keys import NO_KEYS, Keys
from discreet.plan.nodes import Datum
from discreet.plan.tallies import Tally, TallyQuery
from discreet.plan.to_sql.cells import CellRequest, Counts

_CELLS = 1024

Group = tuple[Datum, ...]
People = Mapping[Group, int]


@dataclass(frozen=True, slots=True)
class ExactAnswers:
    """The engine's findings on one neighbour, group by group in one order for both.

    `people` counts those of each group where groups are selected; `tallied` has what each measure adds noise to, `bins`
    the counts of a table of bins, and `ranked` the values a quantile is sought among, in steps.
    """

    groups: tuple[Group, ...]
    people: tuple[int, ...] | None
    tallied: Mapping[str, Sequence[tuple[int, ...]]]
    bins: Mapping[str, Sequence[Sequence[int]]]
    ranked: Mapping[str, Sequence[Sequence[int]]]


def exacts(asked: PricedQuestion, staged: Staged, pair: Neighbours) -> tuple[ExactAnswers, ExactAnswers]:
    """Ask the engine about both neighbours; groups that are selected are those that either of them has."""
    registered = asked.report.query.registered
    keys = asked.report.query.keys or NO_KEYS
    with staged.runner(registered, pair.one) as first, staged.runner(registered, pair.other) as second:
        people: tuple[People | None, ...] = (None, None)
        if asked.selection is not None:
            people = tuple(_people(asked, each, keys) for each in (first, second))
            keys = keys.chosen(sorted({group for each in people for group in each or ()}, key=repr))
        found = [_exact(asked, each, keys, known) for each, known in zip((first, second), people, strict=True)]
    return found[0], found[1]


def _people(asked: PricedQuestion, runner: Runner, keys: Keys) -> People:
    rows = runner.tallies(TallyQuery(asked.report.query.plan, keys, (Tally("people"),)), asked.unit)
    width = len(keys.columns)
    return {tuple(row[:width]): int(row[width] or 0) for row in rows}


def _exact(asked: PricedQuestion, runner: Runner, keys: Keys, people: People | None) -> ExactAnswers:
    groups: tuple[Group, ...] = keys.listed() if keys.columns else ((),)
    known = None if people is None else tuple(people.get(group, 0) for group in groups)
    if not groups:
        return ExactAnswers((), known, {}, {}, {})
    sums = [each for each in asked.measures if isinstance(each, SumMeasure)]
    tallied: dict[str, list[tuple[int, ...]]] = {}
    if sums:
        question, places = tallied_question(asked, sums, keys)
        rows = runner.in_order(question, asked.unit)
        tallied = {name: [tuple(row[at] for at in places[name]) for row in rows] for name in places}
    bins, ranked = {}, {}
    for each in asked.measures:
        if isinstance(each, BinMeasure):
            counted = [row[0] for row in runner.in_order(binned_question(asked, each, keys), asked.unit)]
            width = len(counted) // len(groups)
            tables = [counted[at * width : (at + 1) * width] for at in range(len(groups))]
            bins[each.name] = [[table[place] for place in each.wanted] for table in tables]
        elif isinstance(each, QuantileMeasure):
            with runner.counts(asked.report.query.plan, keys, each.of, asked.unit) as counts:
                grid: Any = each.middle.grid
                ranked[each.name] = [_values(counts, group, grid.low, grid.high) for group in range(len(groups))]
    return ExactAnswers(groups, known, tallied, bins, ranked)


def _values(counts: Counts, group: int, low: int, high: int) -> list[int]:
    """Return the values of a group, in order, by looking closer and closer at the cells that hold any."""
    found: list[int] = []
    waiting = [(low, high)]
    while waiting:
        requests = []
        for first, last in waiting:
            width = -(-(last - first + 1) // _CELLS)
            requests.append(CellRequest(group, first, width, -(-(last - first + 1) // width)))
        waiting = []
        for request, answer in zip(requests, opened(counts(requests)), strict=True):
            for cell, many in answer.items():
                start = request.low + cell * request.width
                if request.width == 1:
                    found += [start] * many
                else:
                    waiting.append((start, min(start + request.width - 1, high)))
    return sorted(found)
