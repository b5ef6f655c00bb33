"""Expressions as records: canonical JSON in which every number is exact, and back, checked again."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from typing import Any

from discreet.core import record as records
from discreet.core.column import Column
from discreet.core.errors import BadParameter, UnknownName
from discreet.plan.constants import Parameter
from discreet.plan.dimension import Dimension
from discreet.plan.expressions import (
    MOST_DEPTH,
    Arithmetic,
    Call,
    Case,
    Compare,
    Expression,
    Literal,
    Logic,
    Name,
)
from discreet.plan.match import Comparison, check_most
from discreet.plan.nodes import (
    Datum,
    Derive,
    Filter,
    Join,
    MarkJoin,
    PerPerson,
    PersonJoin,
    Plan,
    Project,
    Public,
    Scan,
    Union,
)
from discreet.plan.per_person import OwnValue

_UNCHANGED = "pass the text that to_json returned, unchanged"


def expression_record(expression: Expression) -> dict[str, Any]:
    """Return an expression as plain JSON values, the same for all that are written alike."""
    of = [expression_record(part) for part in expression.parts]
    match expression:
        case Name(name=name):
            return {"name": name}
        case Literal(value=value):
            return constant_record(value)
        case Arithmetic(sign=sign, step=step):
            return {"arithmetic": sign, "of": of, "step": None if step is None else str(step)}
        case Compare(order=order):
            return {"compare": order, "of": of}
        case Logic(word=word):
            return {"logic": word, "of": of}
        case Case(branches=branches):
            return {"case": len(branches), "of": of}
        case Call(function=function, parameters=parameters):
            return {"call": function, "of": of, "with": [constant_record(each) for each in parameters]}
    raise BadParameter(
        "expression", expression, why="it is not an expression", fix="write it with columns and operators"
    )


def expression_from_record(record: object, depth: int = MOST_DEPTH) -> Expression:
    """Read what `expression_record` returned, checking it again."""
    found = _object(record)
    if depth < 1:
        raise BadParameter("record", "...", why=f"it is nested deeper than {MOST_DEPTH}", fix=_UNCHANGED)
    parts = [expression_from_record(part, depth - 1) for part in _list("of", found.get("of", []))]
    if "name" in found:
        return Name(records.fields("name", found, ("name",))["name"])
    if "arithmetic" in found:
        records.fields("arithmetic", found, ("arithmetic", "of", "step"))
        step = None if found["step"] is None else _fraction("step", found["step"])
        return Arithmetic(_word(found["arithmetic"]), *_pair(parts), step)
    if "compare" in found:
        records.fields("compare", found, ("compare", "of"))
        return Compare(_word(found["compare"]), *_pair(parts))
    if "logic" in found:
        records.fields("logic", found, ("logic", "of"))
        return Logic(_word(found["logic"]), tuple(parts))
    if "case" in found:
        records.fields("case", found, ("case", "of"))
        return _case(found["case"], parts)
    if "call" in found:
        records.fields("call", found, ("call", "of", "with"))
        parameters = tuple(constant_from_record(each) for each in _list("with", found["with"]))
        return Call(_word(found["call"]), tuple(parts), parameters)
    value = constant_from_record(found)
    if value is None:
        raise BadParameter("null", None, why="a null stands for a missing parameter only", fix=_UNCHANGED)
    return Literal(value)


def constant_record(value: Parameter) -> dict[str, Any]:
    """Return a constant as a JSON object that says of which kind it is."""
    match value:
        case None:
            return {"null": None}
        case bool():
            return {"flag": value}
        case Fraction():
            return {"number": str(value)}
        case str():
            return {"text": value}
        case dt.date():
            return {"date": value.isoformat()}


def constant_from_record(record: object) -> Parameter:
    """Read what `constant_record` returned."""
    match _object(record):
        case {"null": None, **others} if not others:
            return None
        case {"flag": bool() as flag, **others} if not others:
            return flag
        case {"number": text, **others} if not others:
            return _fraction("number", text)
        case {"text": str() as text, **others} if not others:
            return Literal(text).value
        case {"date": str() as text, **others} if not others:
            with suppress(ValueError):
                return dt.date.fromisoformat(text)
    raise BadParameter("record", record, why="it is not an expression of this release", fix=_UNCHANGED)


def canonical(expression: Expression) -> str:
    """Return the one text of all expressions that are written alike."""
    return canonical_text(expression_record(expression))


def canonical_text(record: object) -> str:
    """Write a record in one way only: sorted names, no spaces."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def _case(branches: object, parts: list[Expression]) -> Case:
    if type(branches) is not int or branches < 1 or len(parts) not in (2 * branches, 2 * branches + 1):
        raise BadParameter("case", branches, why="a branch has a condition and a value", fix=_UNCHANGED)
    pairs = tuple((parts[2 * place], parts[2 * place + 1]) for place in range(branches))
    return Case(pairs, parts[-1] if len(parts) % 2 else None)


def _pair(parts: list[Expression]) -> tuple[Expression, Expression]:
    if len(parts) != 2:
        raise BadParameter("of", len(parts), why="there are two operands", fix=_UNCHANGED)
    return parts[0], parts[1]


def _object(record: object) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise BadParameter("record", record, why="it must be an object", fix=_UNCHANGED)
    return record


def _list(name: str, value: object) -> list[Any]:
    if not isinstance(value, list):
        raise BadParameter(name, value, why="it must be a list", fix=_UNCHANGED)
    return value


def _word(value: object) -> Any:  # noqa: ANN401  (the node it goes to knows its own words)
    if not isinstance(value, str):
        raise BadParameter("record", value, why="it must be a word", fix=_UNCHANGED)
    return value


def _fraction(name: str, text: object) -> Fraction:
    above, slash, below = text.partition("/") if isinstance(text, str) else ("", "", "")
    digits = above.removeprefix("-")
    if all(part.isascii() and part.isdecimal() for part in ((digits, below) if slash else (digits,))):
        with suppress(ValueError, ZeroDivisionError):
            return Fraction(int(above), int(below) if slash else 1)
    raise BadParameter(name, text, why="an exact number is text such as '3' or '1/10'", fix=_UNCHANGED)


# Deeper than any question a person writes, shallow enough for Python's stack.
MOST_DEPTH = 200

_FIELDS = {
    "scan": ("node", "table"),
    "filter": ("node", "source", "predicate"),
    "derive": ("node", "source", "name", "expression"),
    "project": ("node", "source", "columns"),
    "join": ("node", "source", "public", "on"),
    "dimension": ("node", "source", "public", "on"),
    "union": ("node", "one", "other"),
    "per_person": ("node", "source", "values", "rows"),
    "person_join": ("node", "one", "other", "on", "most", "columns"),
    "person_left_join": ("node", "one", "other", "on", "most", "columns"),
    "mark_join": ("node", "one", "other", "on", "compare", "name"),
}
_UNCHANGED_PLAN = "pass the record that plan_record returned, unchanged"


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
        case Join(source, Dimension() as joined, on):
            public = joined.record()
            return {"node": "dimension", "source": plan_record(source), "public": public, "on": _listed(on)}
        case Join(source, joined, on):
            return {"node": "join", "source": plan_record(source), "public": public_record(joined), "on": _listed(on)}
        case PerPerson(source, values, rows):
            listed = [_own_record(each) for each in values]
            return {"node": "per_person", "source": plan_record(source), "values": listed, "rows": rows}
        case Union(one, other):
            return {"node": "union", "one": plan_record(one), "other": plan_record(other)}
        case PersonJoin(one, other, on, most, columns, outer):
            node = "person_left_join" if outer else "person_join"
            sides = {"one": plan_record(one), "other": plan_record(other)}
            return {"node": node, **sides, "on": _listed(on), "most": most, "columns": _listed(columns)}
        case MarkJoin(one, other, on, compare, name):
            sides = {"one": plan_record(one), "other": plan_record(other)}
            compared = None if compare is None else list(compare)
            return {"node": "mark_join", **sides, "on": _listed(on), "compare": compared, "name": name}


def plan_from_record(record: object, depth: int = MOST_DEPTH) -> Plan:
    """Read what `plan_record` returned, checking it again."""
    if depth < 1:
        raise BadParameter("plan", "...", why=f"it is nested deeper than {MOST_DEPTH}", fix=_UNCHANGED_PLAN)
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
        case "per_person":
            return PerPerson(source("source"), tuple(map(_own_value, _list("values", found["values"]))), found["rows"])
        case "dimension":
            return Join(source("source"), Dimension.from_record(found["public"]), _pairs("on", found["on"]))
        case "person_join" | "person_left_join":
            on, columns = _pairs("on", found["on"]), _pairs("columns", found["columns"])
            check_most(found["most"])
            outer = node == "person_left_join"
            return PersonJoin(source("one"), source("other"), on, found["most"], columns, outer)
        case "mark_join":
            on, compare = _pairs("on", found["on"]), _comparison(found["compare"])
            return MarkJoin(source("one"), source("other"), on, compare, _text("name", found["name"]))
    return Union(source("one"), source("other"))


def _own_record(value: OwnValue) -> dict[str, Any]:
    of = None if value.of is None else expression_record(value.of)
    within = None if value.within is None else [str(each) for each in value.within]
    return {"name": value.name, "word": value.word, "of": of, "within": within}


def _own_value(record: object) -> OwnValue:
    found = records.fields("values", record, ("name", "word", "of", "within"))
    of = None if found["of"] is None else expression_from_record(found["of"])
    within = found["within"]
    if within is not None:
        ends = [_fraction("within", each) for each in _list("within", within)]
        if len(ends) != 2:
            raise BadParameter("within", within, why="bounds are two numbers", fix=_UNCHANGED_PLAN)
        within = ends[0], ends[1]
    return OwnValue(_text("name", found["name"]), _word(found["word"]), of, within)


def public_record(public: Public) -> dict[str, Any]:
    """Return a public table of the question as plain JSON values."""
    columns = [column.record() for column in public.columns]
    return {"name": public.name, "columns": columns, "rows": [list(row) for row in public.rows]}


def public_from_record(record: object) -> Public:
    """Read what `public_record` returned, checking it again."""
    found = records.fields("public", record, ("name", "columns", "rows"))
    columns = tuple(Column.from_record(column) for column in _list_of("columns", found["columns"]))
    rows = tuple(tuple(_datum(value) for value in _list_of("rows", row)) for row in _list_of("rows", found["rows"]))
    return Public(_text("name", found["name"]), columns, rows)


def _listed(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    return [list(pair) for pair in pairs]


def _pairs(name: str, value: object) -> tuple[tuple[str, str], ...]:
    found = []
    for pair in _list_of(name, value):
        if len(_list_of(name, pair)) != 2:
            raise BadParameter(name, pair, why="it is not a pair of names", fix=_UNCHANGED_PLAN)
        found.append((_text(name, pair[0]), _text(name, pair[1])))
    return tuple(found)


def _comparison(value: object) -> Comparison | None:
    if value is None:
        return None
    words = [_text("compare", each) for each in _list_of("compare", value)]
    if len(words) != 3:
        raise BadParameter("compare", value, why="it is two columns and a comparison", fix=_UNCHANGED_PLAN)
    return words[0], words[1], words[2]


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise BadParameter(name, value, why="it is not text", fix=_UNCHANGED_PLAN)
    return value


def _list_of(name: str, value: object) -> list[Any]:
    if not isinstance(value, list):
        raise BadParameter(name, value, why="it is not a list", fix=_UNCHANGED_PLAN)
    return value


def _datum(value: object) -> Datum:
    if value is None or isinstance(value, int | str):
        return value
    raise BadParameter("rows", value, why="it is neither an integer, text, a boolean nor null", fix=_UNCHANGED_PLAN)


def encoded(value: object) -> object:
    """Return a field as plain JSON values."""
    match value:
        case Expression():
            return expression_record(value)
        case tuple():
            return [encoded(each) for each in value]
        case Fraction() | dt.date():
            return constant_record(value)
    return value


def decoded(name: str, value: object) -> object:
    """Read what `encoded` returned of the field of that name."""
    match value:
        case list():
            return tuple(decoded(name, each) for each in value)
        case dict():
            return expression_from_record(value) if name in ("of", "other") else constant_from_record(value)
    return value
