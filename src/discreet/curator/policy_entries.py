"""Entries of a policy: tables, budgets and grants as `discreet.toml` writes them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

from discreet.account.budgets.budget import Budget
from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.core.link import Link
from discreet.core.schema import Table, between, date, flag, one_of, text
from discreet.core.unit import LIMITS, Unit, person
from discreet.curator.declare import column_of, expiry_of, unit_of
from discreet.curator.overlap import People, check_word
from discreet.curator.toml import Node
from discreet.engines.duckdb.options import csv
from discreet.engines.source import Source, locate


@dataclass(frozen=True, slots=True)
class TablePolicy:
    """What the file says about one table; `node` remembers where."""

    name: str
    source: Source
    unit: Unit
    columns: Mapping[str, Column]
    rows: int | None
    group: str | None
    people: People | None
    budget: Budget | None
    node: Node


@dataclass(frozen=True, slots=True)
class PublicPolicy:
    """What the file says about one public table."""

    name: str
    source: Source
    key: tuple[str, ...] | None
    fan_out: Mapping[tuple[str, ...], int]
    columns: Mapping[str, Column] | None
    node: Node


@dataclass(frozen=True, slots=True)
class GrantPolicy:
    """What the file says about one analyst."""

    analyst: str
    tables: tuple[str, ...]
    budget: Budget | None
    monthly: Budget | None
    expires: dt.datetime | None
    node: Node


def table_policy(node: Node, folder: Path) -> TablePolicy:
    """Read [tables.NAME]; paths are meant from the folder."""
    node.table("source", "unit", "columns", "rows", "group", "people", "budget")
    name = node.path[-1]
    source = _source(node.need("source", 'say where the rows are: source = "visits.parquet"'), folder)
    unit = _unit(
        node.need("unit", 'declare the protected unit: unit = "row", or { person = "patient_id", max_rows = 20 }')
    )
    declared = node.need("columns", f"declare them under [tables.{name}.columns]")
    columns = {each.path[-1]: _column(each) for each in declared.each()}
    rows = node["rows"].value
    with node.here():
        Table(name, unit, columns)
    with node.here("rows"):
        Table(name, unit, columns, rows)
    group = node["group"].words() if "group" in node else None
    with node.here("people"):
        people = check_word(node["people"].value)
    budget = budget_policy(node["budget"]) if "budget" in node else None
    return TablePolicy(name, source, unit, MappingProxyType(columns), rows, group, people, budget, node)


def _source(node: Node, folder: Path) -> Source:
    if isinstance(node.value, str):
        with node.here():
            elsewhere = re.match(r"[a-z][a-z-]+:", node.value)  # a database, or Spark
            return locate(node.value if elsewhere else str(_at(folder, node.value)))
    node.table("path", "delimiter", "quote", "header", "names")
    named = node.need("path", 'say which file: path = "visits.csv"').words()
    options: dict[str, Any] = {name: node.value[name] for name in ("delimiter", "quote", "header") if name in node}
    if options.get("quote") == "":
        options["quote"] = None
    if "names" in node:
        options["names"] = node["names"].items(str, "names")
    with node.here():
        return csv(_at(folder, named), **options)


def _at(folder: Path, named: str) -> Path:
    try:
        return folder / Path(named).expanduser()
    except RuntimeError:
        raise BadParameter("source", named, why="~ names nobody here", fix="write the whole path") from None


def _unit(node: Node) -> Unit:
    if isinstance(node.value, str):
        with node.here():
            return unit_of(node.value)
    node.table("person", *LIMITS, "row", "via")
    limits = {name: node.value[name] for name in LIMITS if name in node}
    with node.here():
        if node.value.get("row") is True and "person" not in node:
            return unit_of("row", **limits)
        if "via" in node and "person" not in node:
            return _linked(node["via"], limits)
        return unit_of(f"person:{node.need('person', 'name the identifier column').words()}", **limits)


def _linked(via: Node, limits: dict[str, Any]) -> Unit:
    """Read { via = "l_orderkey = orders.o_orderkey" }, or { via = { column, table, key } } for names of any kind."""
    with via.here():
        if isinstance(via.value, str):
            return unit_of(f"via:{via.value}", **limits)
        via.table("column", "table", "key")
        fix = 'write via = "l_orderkey = orders.o_orderkey"'
        found = Link(*(via.need(name, fix).words() for name in ("column", "table", "key")))
        return person(via=found, **limits)


def public_policy(node: Node, folder: Path) -> PublicPolicy:
    """Read [public.NAME]."""
    node.table("source", "key", "fan_out", "columns")
    source = _source(node.need("source", 'say where the rows are: source = "part.parquet"'), folder)
    columns = {each.path[-1]: _column(each) for each in node["columns"].each()} if "columns" in node else None
    key = None
    if "key" in node:
        key = (node["key"].value,) if isinstance(node["key"].value, str) else node["key"].items(str, "columns")
    fan_out = {
        tuple(name.strip() for name in each.path[-1].split(",")): each.value
        for each in (node["fan_out"].each() if "fan_out" in node else ())
    }
    return PublicPolicy(node.path[-1], source, key, fan_out, columns, node)


def _column(node: Node) -> Column:
    if isinstance(node.value, str):
        with node.here():
            return column_of(node.value)
    if isinstance(node.value, list):
        keys = node.items((str, int), "text or of integers")
        with node.here():
            return one_of(*keys)
    value = node.table("kind", "bounds", "step", "keys", "nullable").value
    nullable = value.get("nullable", True)
    if "keys" in node:
        keys = node["keys"].items((str, int), "text or of integers")
    with node.here():
        match value.get("kind", _kind(value)):
            case "number" if "bounds" in node and "keys" not in node:
                return between(*_pair(node["bounds"], (int, Decimal)), step=value.get("step"), nullable=nullable)
            case "date" if "bounds" in node and not {"keys", "step"} & set(value):
                return date(*_pair(node["bounds"], (str, dt.date)), nullable=nullable)
            case "category" if "keys" in node and not {"bounds", "step"} & set(value):
                return one_of(*keys, nullable=nullable)
            case "flag" if not {"bounds", "step", "keys"} & set(value):
                return flag(nullable=nullable)
            case "text" if not {"bounds", "step", "keys"} & set(value):
                return text(nullable=nullable)
        why = "a number or a date has bounds, a category has keys, a flag or a text has neither"
        fix = 'write { bounds = [0, 110] }, { keys = ["A", "B"] }, "flag" or "text"'
        raise BadParameter(".".join(node.path), value, why=why, fix=fix)


def _kind(value: Mapping[str, Any]) -> str:
    """Tell the kind of column from its parts, where they do tell."""
    if "keys" in value:
        return "category"
    bounds = value.get("bounds")
    return (
        "date" if isinstance(bounds, list) and any(isinstance(bound, str | dt.date) for bound in bounds) else "number"
    )


def _pair(node: Node, kind: tuple[type, ...]) -> tuple[Any, Any]:
    bounds = node.items(kind, "two bounds")
    with node.here():
        if len(bounds) != 2:
            raise BadParameter("bounds", list(bounds), why="there are two bounds", fix="write bounds = [0, 110]")
    return bounds[0], bounds[1]


def budget_policy(node: Node) -> Budget:
    """Read a budget: { epsilon = 1, delta = 1e-6 } or { rho = 0.1 }."""
    node.table("epsilon", "delta", "rho")
    with node.here():
        return Budget(**node.value)


def grant_policy(node: Node) -> GrantPolicy:
    """Read [grants.ANALYST]."""
    node.table("tables", "budget", "monthly", "expires")
    named = node.need("tables", 'say to which tables: tables = ["visits"]').items(str, "names of tables")
    budget, monthly = (budget_policy(node[name]) if name in node else None for name in ("budget", "monthly"))
    return GrantPolicy(node.path[-1], named, budget, monthly, _expires(node["expires"]), node)


def _expires(node: Node) -> dt.datetime | None:
    match node.value:
        case None:
            return None
        case dt.datetime() as moment:
            return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
        case dt.date() as day:
            return dt.datetime.combine(day, dt.time(), dt.UTC)
    with node.here():
        return expiry_of(node.words())
