"""Chains: in which order the tables of a schema are registered, each after the one that its rows refer to."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from discreet.core.errors import BadParameter, UnknownName
from discreet.core.unit import Unit


def in_order(units: Mapping[str, Unit], known: Collection[str] = (), public: Collection[str] = ()) -> list[str]:
    """Return the names of tables, each after the one that it is linked to, and otherwise as they were given.

    `known` are tables that are registered already, `public` those that protect nobody. A chain that leads to no person
    is refused: into a circle, to a public table, or to one that is nowhere.
    """
    found: list[str] = []
    for name in units:
        for each in reversed(_chain(name, units, known, public)):
            if each not in found:
                found.append(each)
    return found


def _chain(name: str, units: Mapping[str, Unit], known: Collection[str], public: Collection[str]) -> list[str]:
    """Return a table and those that its rows refer to, one after the other."""
    chain = [name]
    while (via := units[chain[-1]].via) is not None:
        if via.table in chain:
            circle = " -> ".join([*chain[chain.index(via.table) :], via.table])
            why = f"its links go in a circle, {circle}, and so lead to no person"
            raise BadParameter("via", via.words, why=why, fix="link one of them to a table that has the identifier")
        if via.table in public:
            why = f"{via.table!r} is public, so that nobody is the person of its rows"
            fix = f"join {via.table!r} in questions, and link to a table that leads to a person"
            raise BadParameter("via", via.words, why=why, fix=fix)
        if via.table in known and via.table not in units:
            break
        if via.table not in units:
            raise UnknownName("table of the link", via.table, [*units, *known])
        chain.append(via.table)
    return chain
