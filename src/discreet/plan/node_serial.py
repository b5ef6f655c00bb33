"""Plans as records: canonical JSON of the tree of relations, and back, checked anew."""

from __future__ import annotations

from typing import Any

from discreet.core import record as records
from discreet.core.column import Column
from discreet.core.errors import BadParameter, UnknownName
from discreet.plan.nodes import Datum, Derive, Filter, Join, Plan, Public, Scan, Union
from discreet.plan.serial import expression_from_record, expression_record

# Deeper than any question a person writes, shallow enough for Python's stack.
MOST_DEPTH = 200

_FIELDS = {
    "scan": ("node", "table"),
    "filter": ("node", "source", "predicate"),
    "derive": ("node", "source", "name", "expression"),
    "join": ("node", "source", "public", "on"),
    "union": ("node", "one", "other"),
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
        case Join(source, joined, on):
            pairs = [list(pair) for pair in on]
            return {"node": "join", "source": plan_record(source), "public": public_record(joined), "on": pairs}
        case Union(one, other):
            return {"node": "union", "one": plan_record(one), "other": plan_record(other)}


def plan_from_record(record: object, depth: int = MOST_DEPTH) -> Plan:
    """Read what `plan_record` returned, checking it anew."""
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
        case "join":
            pairs = [[_text("on", name) for name in _list("on", pair)] for pair in _list("on", found["on"])]
            on = tuple((ours, theirs) for ours, theirs in pairs)
            return Join(source("source"), public_from_record(found["public"]), on)
    return Union(source("one"), source("other"))


def public_record(public: Public) -> dict[str, Any]:
    """Return a public table as plain JSON values."""
    columns = [column.record() for column in public.columns]
    return {"name": public.name, "columns": columns, "rows": [list(row) for row in public.rows]}


def public_from_record(record: object) -> Public:
    """Read what `public_record` returned, checking it anew."""
    found = records.fields("public", record, ("name", "columns", "rows"))
    columns = tuple(Column.from_record(column) for column in _list("columns", found["columns"]))
    rows = tuple(tuple(_datum(value) for value in _list("rows", row)) for row in _list("rows", found["rows"]))
    return Public(_text("name", found["name"]), columns, rows)


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
    raise BadParameter("rows", value, why="it is neither a whole number, text, a truth value nor null", fix=_UNCHANGED)
