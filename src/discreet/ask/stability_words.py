"""Stability in words: how many rows of a question one person, or one row, can change, and what they multiply by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from discreet.ask.priced import PricedQuestion
from discreet.core.schema import Table
from discreet.core.unit import Unit
from discreet.plan.nodes import Derive, Filter, Join, PersonJoin, Plan, Project, Scan, Union, tables_of
from discreet.plan.stability import partners, reach, unit_of


def stability_words(question: PricedQuestion) -> tuple[str, ...]:
    """Say how far one unit reaches: one person changes at most 20 rows, in at most 3 groups; then why, join by join."""
    unit, query = question.unit, question.report.query
    rows, groups = question.reach.rows, min(question.reach.groups, question.reach.rows)
    who = "row" if unit.is_row else "person"
    change = f"one {who} changes" if unit.relation == "add_remove" else f"one {who} replaced by another changes"
    counted = f"at most {_many(rows, 'row')}" if rows > 1 else "one row"
    within = f", in at most {_many(groups, 'group')}" if query.keys is not None and groups < rows else ""
    return f"{change} {counted}{within}", *dict.fromkeys(_factors(query.plan, unit, query.tables))


def _factors(plan: Plan, unit: Unit, tables: Mapping[str, Table]) -> Iterator[str]:
    """Say what each join does to the rows of one unit, from the tables up."""
    match plan:
        case Scan():
            return
        case Filter(source) | Derive(source) | Project(source):
            yield from _factors(source, unit, tables)
        case Join(source, joined, on):
            yield from _factors(source, unit, tables)
            found = joined.fan_out(theirs for _, theirs in on)
            after = ", and people are bounded after it" if unit.bound == "query" and not unit.is_row else ""
            if found > 1:
                yield f"joined with {joined.name}: at most {_many(found, 'row')} for each{after}"
        case Union(one, other):
            yield from _factors(one, unit, tables)
            yield from _factors(other, unit, tables)
        case PersonJoin(one, other):
            yield from _factors(one, unit, tables)
            yield from _factors(other, unit, tables)
            yield _meeting(plan, unit, tables)


def _meeting(plan: PersonJoin, unit: Unit, tables: Mapping[str, Table]) -> str:
    ours, theirs = (", ".join(tables_of(side)) for side in (plan.one, plan.other))
    rows, kept = reach(plan.one, unit_of(plan.one, tables), tables), partners(plan, tables)
    pairs = f"{rows:,} x {kept:,} = {_many(rows * kept, 'pair')} of each person's rows"
    words = f"{ours} joined with {theirs}: at most {pairs}"
    most = unit.max_rows
    return f"{words}, of which {most:,} count" if unit.bound == "query" and most < rows * kept else words


def partners_words(plan: Plan, tables: Mapping[str, Table]) -> list[str]:
    """Say how many partners each row was left with, join by join."""
    match plan:
        case Scan():
            return []
        case Union(one, other):
            return partners_words(one, tables) + partners_words(other, tables)
        case PersonJoin(one, other):
            found = partners_words(one, tables) + partners_words(other, tables)
            theirs = ", ".join(tables_of(other))
            return [*found, f"of a row's partners in {theirs} at most {partners(plan, tables):,} count"]
        case Filter(source) | Derive(source) | Project(source) | Join(source):
            return partners_words(source, tables)


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
