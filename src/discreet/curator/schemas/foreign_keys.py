"""Foreign keys: what a catalogue says of links and keys, as proposals; it says nothing of bounds, and nothing is read.

A foreign key is a promise of the database that a reference leads somewhere, and that its target is unique. Which of
them tells whose a row is, only the custodian knows: where several lead to people, none is chosen.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from discreet.core.errors import BadParameter
from discreet.core.link import Link
from discreet.engines.source import ForeignKey, Source, home_of


def link_of(name: str, sources: Mapping[str, Source], person: str) -> Link:
    """Return the one foreign key of a table that leads to people, over any chain; refuse none, and several."""
    found = links_of(sources, person).get(name, [])
    if len(found) == 1:
        return found[0]
    if not found:
        why = f"no foreign key of {name!r} leads to the people of {person or 'any table'!r}"
        fix = 'say whose its rows are, via=link("o_custkey", "customer", "c_custkey"), or put it under public'
        raise BadParameter("via", name, why=why, fix=fix)
    listed = " and ".join(f"{each.column} = {each.table}.{each.key}" for each in found)
    why = f"{len(found)} foreign keys of {name!r} lead to people: {listed}"
    fix = f'say which tells whose its rows are: via=link("{found[0].column}", "{found[0].table}", "{found[0].key}")'
    raise BadParameter("via", name, why=why, fix=fix)


def links_of(sources: Mapping[str, Source], person: str) -> dict[str, list[Link]]:
    """Return, of every table, the foreign keys of one column that lead to the table of people, over any chain.

    What leads there through the table itself does not count.
    """
    keys = {name: foreign_keys(name, sources) for name in sources}
    return {
        name: [each for each in links if each.table in _reaching(keys, person, name)]
        for name, links in keys.items()
        if name != person
    }


def foreign_keys(name: str, sources: Mapping[str, Source]) -> list[Link]:
    """Return the foreign keys of one column that lead from a table to others of the schema."""
    names = {each.path: table for table, each in sources.items() if each.engine == sources[name].engine}
    found = home_of(sources[name]).constraints(sources[name]).foreign
    links = (link for key in found if (link := _link(key, names)) is not None and link.table != name)
    return [*dict.fromkeys(links)]  # a database may declare one twice


def referred_from(names: Collection[str], sources: Mapping[str, Source]) -> set[str]:
    """Return the tables that foreign keys of some lead to, of however many columns, over any chain."""
    paths = {each.path: table for table, each in sources.items()}
    found, ring = set(names), set(names)
    while ring:
        keys = (key for name in ring for key in home_of(sources[name]).constraints(sources[name]).foreign)
        ring = {paths[key.path] for key in keys if key.path in paths} - found
        found |= ring
    return found - set(names)


def _link(key: ForeignKey, names: Mapping[str, str]) -> Link | None:
    if len(key.columns) != 1 or key.path not in names:
        return None
    return Link(key.columns[0], names[key.path], key.keys[0])


def _reaching(keys: Mapping[str, list[Link]], person: str, without: str) -> set[str]:
    """Return the tables that lead to that of people, without passing one."""
    found, ring = {person}, {person}
    while ring:
        ring = {
            name
            for name, links in keys.items()
            if name not in found and name != without and any(each.table in ring for each in links)
        }
        found |= ring
    return found
