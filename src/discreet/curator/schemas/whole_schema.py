"""Whole schemas: tables, links and public tables that are registered in one go, on one account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.core.errors import BadParameter, UnknownName
from discreet.core.link import Link
from discreet.core.unit import LIMITS, Unit, person
from discreet.core.value import dataclass
from discreet.curator.schemas.chain import in_order
from discreet.curator.schemas.foreign_keys import link_of
from discreet.engines.source import Source, locate

PRIVATE = ("source", "unit", "via", "columns", "rows", *LIMITS)
PUBLIC = ("source", "key", "fan_out", "columns")

Terms = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class WholeSchema:
    """The tables of a schema as they are to be registered: private ones in the order of their links, then public ones.

    Guarantee: all private tables are paid from one account, that of the first that has an identifier.
    """

    private: tuple[tuple[str, Unit, Mapping[str, Any]], ...]
    public: tuple[tuple[str, Mapping[str, Any]], ...]
    account: str

    @classmethod
    def of(cls, tables: Terms, public: Terms, person: str | None) -> WholeSchema:
        """Check what is said of all tables, before any of them is registered."""
        if not tables:
            why = "there is no table whose people are protected"
            raise BadParameter("tables", (), why=why, fix='write {"customer": {"source": ..., "unit": person(...)}}')
        for kind, terms, known in (("tables", tables, PRIVATE), ("public", public, PUBLIC)):
            for name, each in terms.items():
                _check_terms(kind, name, each, known)
        if twice := sorted({*tables} & {*public}):
            why = "a table either protects people or is public"
            raise BadParameter("public", twice[0], why=why, fix="name it once")
        sources = {name: each["source"] for name, each in tables.items()}
        units = {name: _unit(name, each, sources, person) for name, each in tables.items()}
        roots = [name for name, unit in units.items() if unit.via is None]
        if rows := [name for name in roots if units[name].is_row]:
            why = "a schema is about people, and a budget counted for them says nothing about single rows"
            fix = "give it a unit of people, or register it by itself, with a budget of its own"
            raise BadParameter("unit", rows[0], why=why, fix=fix)
        ordered = in_order(units, public=public)
        return cls(tuple((name, units[name], tables[name]) for name in ordered), tuple(public.items()), roots[0])


def _check_terms(kind: str, name: str, terms: object, known: tuple[str, ...]) -> None:
    if not isinstance(terms, Mapping):
        why, fix = "a table is described by its terms", f'write {{"{name}": {{"source": ..., "columns": ...}}}}'
        raise BadParameter(kind, name, why=why, fix=fix)
    for word in terms:
        if word not in known:
            raise UnknownName(f"term of {name!r}", str(word), known)
    for word in ("source", *(("columns",) if kind == "tables" else ())):
        if word not in terms:
            why = f"nothing says it of {name!r}"
            raise BadParameter(word, None, why=why, fix=f'add "{word}": nothing is learned from protected rows')


def _unit(name: str, terms: Mapping[str, Any], sources: Mapping[str, object], whose: str | None) -> Unit:
    """Return the unit of a table: as it is given, or from the person's column, a link, or a foreign key."""
    limits = {word: terms[word] for word in LIMITS if word in terms}
    if "unit" in terms:
        if limits or "via" in terms:
            word = next(iter(limits), "via")
            why = f"the unit of {name!r} says it already"
            raise BadParameter(word, terms[word], why=why, fix="leave it out, or leave unit out")
        unit: Unit = terms["unit"]
        return unit
    if "max_rows" not in limits:
        why = f"the number of rows of one person in {name!r} has to be bounded, and no catalogue tells it"
        raise BadParameter("max_rows", None, why=why, fix="use the most one person should count for, for example 20")
    table, _, identifier = (whose or "").rpartition(".")
    if table == name:
        return person(identifier, **limits)
    via = terms.get("via") or link_of(name, located(sources), table)
    if not isinstance(via, Link):
        raise BadParameter("via", via, why="it is not a link", fix='write link("o_custkey", "customer", "c_custkey")')
    return person(via=via, **limits)


def located(sources: Mapping[str, object]) -> dict[str, Source]:
    """Return the sources that have a place, and so perhaps a catalogue; rows in memory have none."""
    return {name: locate(each) for name, each in sources.items() if isinstance(each, str | Source)}
