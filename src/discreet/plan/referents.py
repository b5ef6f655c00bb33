"""Referents: which key a column's values are, and in which columns no two rows of a plan agree; from links alone.

Two columns with one referent hold keys of one table: l_orderkey and o_orderkey both hold orders. Where they are equal,
their rows belong to one row of that table, and so to one person.
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.core.schema import Table
from discreet.plan.nodes import Derive, Filter, Join, MarkJoin, PerPerson, PersonJoin, Plan, Project, Scan, Union, added

# A table and a column of it.
Origin = tuple[str, str]


def origin(plan: Plan, name: str) -> Origin | None:
    """Return the column of a table whose values a column of a plan holds, unchanged; None where it is none's."""
    match plan:
        case Scan(table):
            return table, name
        case Derive(source, made) if made != name:
            return origin(source, name)
        case Filter(source):
            return origin(source, name)
        case Project(source, chosen):
            return origin(source, dict(chosen)[name])
        case Join(source, joined, on) if name not in {each.name for each in added(joined, on)}:
            return origin(source, name)
        case PersonJoin(one, other, columns=taken):
            theirs = dict(taken)
            return origin(other, theirs[name]) if name in theirs else origin(one, name)
        case MarkJoin(one, name=made) if made != name:
            return origin(one, name)
    return None


def referent(found: Origin | None, tables: Mapping[str, Table]) -> Origin | None:
    """Return the key of a table that a column's values are: what its link refers to, or itself if links refer to it."""
    if found is None:
        return None
    table, column = found
    via = tables[table].unit.via if table in tables else None
    if via is not None and via.column == column:
        return via.table, via.key
    links = (each.unit.via for each in tables.values())
    return found if any(link is not None and (link.table, link.key) == found for link in links) else None


def identifying(table: str, name: str, tables: Mapping[str, Table]) -> Origin | None:
    """Return the key that tells the people of a table apart, if a name is its identifier, or a reference to one."""
    unit = tables[table].unit
    if unit.identifier == name:
        return table, name
    via = unit.via
    if via is None or via.column != name or via.table not in tables:
        return None
    return (via.table, via.key) if tables[via.table].unit.identifier == via.key else None


def is_unique(plan: Plan, name: str, tables: Mapping[str, Table]) -> bool:
    """Say whether no two rows of a plan have the same value of a column, if referenced keys are unique.

    That is so of the key itself, in the table that has it; of conditions and new columns; and of joins in which every
    row has one partner at most.

    Guarantee: none. Who takes a row for the only one of its key says `most=1`, which the join then sees to.
    """
    match plan:
        case Scan(table):
            return referent((table, name), tables) == (table, name)
        case Filter(source):
            return is_unique(source, name, tables)
        case Derive(source, made):
            return made != name and is_unique(source, name, tables)
        case Project(source, chosen):
            return is_unique(source, dict(chosen)[name], tables)
        case Join(source, joined, on):
            alone = joined.fan_out(theirs for _, theirs in on) <= 1
            ours = name not in {each.name for each in added(joined, on)}
            return alone and ours and is_unique(source, name, tables)
        case PersonJoin(one, most=1, columns=taken):
            return name not in dict(taken) and is_unique(one, name, tables)
        case MarkJoin(one, name=made):
            return made != name and is_unique(one, name, tables)
        case PersonJoin() | Union() | PerPerson():
            return False


def most_partners(other: Plan, on: tuple[tuple[str, str], ...], tables: Mapping[str, Table]) -> int | None:
    """Return how many partners a row is given in a join of people: one, where it is matched by a key; else None.

    A row of `lineitem` that meets its order by l_orderkey = o_orderkey, and the order's customer, stays one row of that
    person. Proof: among databases whose referenced keys are unique at most one row of `other` has the key, so that one
    partner is all there are, and bounding to one keeps it. In any other database, and where values outside the
    declaration were read as one, the bound to one partner, the first in the secret order, holds all the same: it is
    computed, not trusted. Rows of two persons never meet, since every join of people demands the same person. So the
    rows of a person after the join are as many as before it, or fewer, and each is made of that person's rows alone.
    """
    return 1 if any(is_unique(other, theirs, tables) for _, theirs in on) else None
