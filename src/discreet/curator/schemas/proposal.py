"""Proposals: the policy of a whole schema, as far as a catalogue tells it; bounds and limits are left to its custodian.

Keys and foreign keys are what a database promises of all its states. What columns may contain, and how many rows one
person has, is knowledge about the data, which nothing here looks at.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from discreet.core.errors import BadParameter, UnknownName
from discreet.core.link import Link
from discreet.curator.schemas.foreign_keys import links_of, referred_from
from discreet.engines.source import Sibling, Source, home_of

_HEAD = """\
# Proposed from the catalogue: links, keys and public tables. Everything else is for you to declare, from what you know
# and not from what you see: max_rows, what each column may contain, the budget. Check that what is called public is.
"""

_UNKNOWN = """\
# No foreign key leads from these to people, and none of the tables above refers to them: {}.
# Whether they are about people, nothing here can tell. Link them, give them an identifier, or leave them out.
"""


def proposed(people: Source, identifier: str) -> str:
    """Return a policy for the schema that a table of people lies in.

    Tables that a foreign key leads from to these people are linked; those that such tables refer to are proposed as
    public. Where several foreign keys lead there, all are shown and none is chosen. A table of which the catalogue says
    neither may be about people as well, so that it is named and nothing is proposed for it.
    """
    home = home_of(people)
    people = home.settle(people)
    beside = home.siblings(people)
    if not beside:
        why = "files have no catalogue that would tell of keys and references"
        raise BadParameter("source", people.path, why=why, fix="write discreet.toml by hand: see docs/policy.md")
    if identifier not in home.describe(people):
        raise UnknownName(f"column of {people.path}", identifier, home.describe(people))
    sources = {each.name: each.source for each in beside}
    whose = next(each.name for each in beside if each.source.path == people.path)
    links = links_of(sources, whose)
    private = [whose, *(name for name in sources if links.get(name))]
    sections = [_private(each, links.get(each.name, []), identifier) for each in beside if each.name in private]
    facts = referred_from(private, sources)
    sections += [_public(each) for each in beside if each.name in facts]
    others = [each.name for each in beside if each.name not in private and each.name not in facts]
    sections += [_UNKNOWN.format(", ".join(others))] if others else []
    return "\n".join([_HEAD, *sections])


def _private(table: Sibling, links: list[Link], identifier: str) -> str:
    lines = [f"[tables.{_key(table.name)}]", f"source = {_text(table.written)}"]
    if not links:
        lines.append(f"unit = {{ person = {_text(identifier)} }}  # add max_rows")
        lines.append("# budget = { epsilon = 1, delta = 1e-9 }  # permanent, and shared by all tables of the schema")
    elif len(links) == 1:
        lines.append(f"unit = {{ via = {_via(links[0])} }}  # add max_rows")
    else:
        lines.append("# Several foreign keys lead to people: keep the one that tells whose a row is.")
        lines += [f"# unit = {{ via = {_via(each)} }}  # add max_rows" for each in links]
    lines += ["", f"[tables.{_key(table.name)}.columns]"]
    return "\n".join([*lines, *_columns(home_of(table.source).describe(table.source)), ""])


def _public(table: Sibling) -> str:
    keys = home_of(table.source).constraints(table.source).unique
    lines = [f"[public.{_key(table.name)}]", f"source = {_text(table.written)}"]
    if keys:
        columns = ", ".join(map(_text, keys[0]))
        lines.append(f"key = {columns if len(keys[0]) == 1 else f'[{columns}]'}")
    else:
        lines.append("# It has no key: add one, or fan_out = { column = 4 }, how many rows share a value at most.")
    return "\n".join([*lines, ""])


def _columns(physical: Mapping[str, str]) -> list[str]:
    return [f"# {_key(name)} =  # {kind}" for name, kind in physical.items()]


def _via(link: Link) -> str:
    plain = not any(sign in f"{link.column}{link.table}{link.key}" for sign in "=.")
    if plain:
        return _text(f"{link.column} = {link.table}.{link.key}")
    return f"{{ column = {_text(link.column)}, table = {_text(link.table)}, key = {_text(link.key)} }}"


def _key(name: str) -> str:
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else _text(name)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
