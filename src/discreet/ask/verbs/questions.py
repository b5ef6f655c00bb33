"""Questions as records: a plan, keys, aggregates and weights, written, and read with every check of the verbs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.ask.query import Query
from discreet.ask.report import Report
from discreet.ask.request import some_fields
from discreet.core.errors import BadParameter
from discreet.core.rational import parse_written
from discreet.measures import declare
from discreet.plan.aggregates import Aggregate, aggregate_from_record
from discreet.plan.key_record import keys_from_record
from discreet.plan.nodes import MarkJoin, PersonJoin, Plan, Scan, Union, columns_of, tables_of
from discreet.plan.serial import canonical_text, plan_from_record, plan_record
from discreet.plan.stability import unit_of

if TYPE_CHECKING:
    from discreet.ask.desk import Desk
    from discreet.ask.question import QueryBase, Question

_QUERY, _QUESTION = ("plan", "keys"), ("plan", "keys", "aggregates", "weights")


def query_record(query: QueryBase) -> dict[str, Any]:
    """Return a query as plain JSON values."""
    return {"plan": plan_record(query.plan), "keys": None if query.keys is None else query.keys.record()}


def question_record(question: Question) -> dict[str, Any]:
    """Return a question as plain JSON values, its aggregates in the order of its columns."""
    aggregates = [[name, each.record()] for name, each in question.aggregates]
    weights = [[name, str(weight)] for name, weight in question.weights]
    return {**query_record(question.query), "aggregates": aggregates, "weights": weights}


def read_query(record: object, desk: Desk) -> Query:
    """Read a query about tables of a desk."""
    return _query(some_fields("question", record, _QUERY, ("plan",)), desk)


def read_question(record: object, desk: Desk) -> Report:
    """Read a question about tables of a desk."""
    declare()
    found = some_fields("question", record, _QUESTION, ("plan", "aggregates"))
    aggregates = [(name, _aggregate(each)) for name, each in _pairs("aggregates", found["aggregates"])]
    weights = [(name, _weight(each)) for name, each in _pairs("weights", found.get("weights", []))]
    return Report.of(_query(found, desk), dict(aggregates)).weighted(**dict(weights))


def _query(found: dict[str, Any], desk: Desk) -> Query:
    plan = plan_from_record(found["plan"])
    snapshot = {name: desk.registered(name) for name in tables_of(plan)}
    tables = {name: each.table for name, each in snapshot.items()}
    columns = columns_of(plan, tables)
    for meeting in _meetings(plan):
        unit_of(meeting, tables)
        accounts = sorted({snapshot[name].account for name in tables_of(meeting)})
        if len(accounts) > 1:
            why = "its tables belong to different accounts, which protect a person separately"
            raise BadParameter("join", accounts, why=why, fix="join tables of one budget group")
    keys = None if found.get("keys") is None else keys_from_record(found["keys"], columns)
    return Query(desk, plan, keys)


def _meetings(plan: Plan) -> Iterator[PersonJoin | MarkJoin]:
    """Yield every place in a plan where rows of two tables of people meet."""
    match plan:
        case Scan():
            return
        case PersonJoin(one, other) | MarkJoin(one, other):
            yield plan
            yield from _meetings(one)
            yield from _meetings(other)
        case Union(one, other):
            yield from _meetings(one)
            yield from _meetings(other)
        case _:
            yield from _meetings(plan.source)


def _aggregate(record: object) -> Aggregate:
    found = aggregate_from_record(record)
    if canonical_text(found.record()) != canonical_text(record):
        why = "it is not written as this release writes it"
        raise BadParameter("aggregate", record, why=why, fix="pass the record that was written, unchanged")
    return found


def _weight(text: object) -> Fraction:
    if not isinstance(text, str):
        raise BadParameter("weights", text, why="a weight is exact text", fix='write "1/3"')
    return parse_written("weights", text)


def _pairs(kind: str, value: object) -> list[tuple[str, Any]]:
    """Return pairs of names and records, each name once."""
    fix = f'write "{kind}": [["n", ...]]'
    if not isinstance(value, list):
        raise BadParameter(kind, type(value).__name__, why="it is a list of pairs", fix=fix)
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise BadParameter(kind, pair, why="it is not a pair of a name and what it names", fix=fix)
    names = [name for name, _ in value]
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise BadParameter(kind, twice[0], why="it is named twice", fix="name each once")
    return [(name, each) for name, each in value]
