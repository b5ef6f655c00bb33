"""Plans as records: canonical JSON of the tree of relations, and back, checked again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from discreet.core import record as records
from discreet.core.column import Column
from discreet.core.errors import BadParameter, UnknownName
from discreet.plan.nodes import (
    Datum,
    Derive,
    Filter,
    Join,
    PersonJoin,
    Plan,
    Project,
    Public,
    Scan,
    Union,
    check_most,
)
from discreet.plan.serial import expression_from_record, expression_record

# Deeper than any question a person writes, shallow enough for Python's stack.
MOST_DEPTH = 200

_FIELDS = {
    "scan": ("node", "table"),
    "filter": ("node", "source", "predicate"),
    "derive": ("node", "source", "name", "expression"),
    "project": ("node", "source", "columns"),
    "join": ("node", "source", "public", "on"),
    "union": ("node", "one", "other"),
    "person_join": ("node", "one", "other", "on", "most", "columns"),
}
_UNCHANGED = "pass the record that plan_record returned, unchanged"


def plan_record(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain JSON values, the same for all that are written alike."""
    match plan:
        case Scan(table):
            return {"node": "scan", "table": table}
        case Filter(source, predicate):
            return {"node": "filter", "source": plan_record(source), "predicate": expression_record(predicate)}
        case Derive(source, name, expression):
            record = expression_record(expression)
            return {"node": "derive", "source": plan_record(source), "name": name, "expression": record}
        case Project(source, columns):
            return {"node": "project", "source": plan_record(source), "columns": _listed(columns)}
        case Join(source, joined, on):
            return {"node": "join", "source": plan_record(source), "public": public_record(joined), "on": _listed(on)}
        case Union(one, other):
            return {"node": "union", "one": plan_record(one), "other": plan_record(other)}
        case PersonJoin(one, other, on, most, columns):
            sides = {"one": plan_record(one), "other": plan_record(other)}
            return {"node": "person_join", **sides, "on": _listed(on), "most": most, "columns": _listed(columns)}


def plan_from_record(record: object, depth: int = MOST_DEPTH) -> Plan:
    """Read what `plan_record` returned, checking it again."""
    if depth < 1:
        raise BadParameter("plan", "...", why=f"it is nested deeper than {MOST_DEPTH}", fix=_UNCHANGED)
    node = record.get("node") if isinstance(record, dict) else None
    if not isinstance(node, str) or node not in _FIELDS:
        raise UnknownName("node", str(node), _FIELDS)
    found = records.fields(node, record, _FIELDS[node])

    def source(name: str) -> Plan:
        return plan_from_record(found[name], depth - 1)

    match node:
        case "scan":
            return Scan(_text("table", found["table"]))
        case "filter":
            return Filter(source("source"), expression_from_record(found["predicate"]))
        case "derive":
            return Derive(source("source"), _text("name", found["name"]), expression_from_record(found["expression"]))
        case "project":
            return Project(source("source"), _pairs("columns", found["columns"]))
        case "join":
            return Join(source("source"), public_from_record(found["public"]), _pairs("on", found["on"]))
        case "person_join":
            on, columns = _pairs("on", found["on"]), _pairs("columns", found["columns"])
            check_most(found["most"])
            return PersonJoin(source("one"), source("other"), on, found["most"], columns)
    return Union(source("one"), source("other"))


def public_record(public: Public) -> dict[str, Any]:
    """Return a public table as plain JSON values."""
    columns = [column.record() for column in public.columns]
    return {"name": public.name, "columns": columns, "rows": [list(row) for row in public.rows]}


def public_from_record(record: object) -> Public:
    """Read what `public_record` returned, checking it again."""
    found = records.fields("public", record, ("name", "columns", "rows"))
    columns = tuple(Column.from_record(column) for column in _list("columns", found["columns"]))
    rows = tuple(tuple(_datum(value) for value in _list("rows", row)) for row in _list("rows", found["rows"]))
    return Public(_text("name", found["name"]), columns, rows)


def _listed(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    return [list(pair) for pair in pairs]


def _pairs(name: str, value: object) -> tuple[tuple[str, str], ...]:
    found = []
    for pair in _list(name, value):
        if len(_list(name, pair)) != 2:
            raise BadParameter(name, pair, why="it is not a pair of names", fix=_UNCHANGED)
        found.append((_text(name, pair[0]), _text(name, pair[1])))
    return tuple(found)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise BadParameter(name, value, why="it is not text", fix=_UNCHANGED)
    return value


def _list(name: str, value: object) -> list[Any]:
    if not isinstance(value, list):
        raise BadParameter(name, value, why="it is not a list", fix=_UNCHANGED)
    return value


def _datum(value: object) -> Datum:
    if value is None or isinstance(value, int | str):
        return value
    raise BadParameter("rows", value, why="it is neither an integer, text, a boolean nor null", fix=_UNCHANGED)
