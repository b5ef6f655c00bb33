"""Links of tables: to which table one refers, on whose account, and that no referenced key occurs twice.

All of it is for custodians: what is counted here of rows is refused or accepted when a table is registered or
refreshed, and no question ever looks at it (`discreet.core.link` says why none has to).
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.ask.registered import Registered, check_comparable
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.link import Link
from discreet.core.schema import Table
from discreet.curator.accounts import Payer, payer
from discreet.curator.overlap import People
from discreet.engines.dialect import dialect_of
from discreet.engines.source import Source, home_of
from discreet.ledger.refusals import Conflict
from discreet.plan.to_sql.owners import person_of, repeated_sql


def referred_by(table: Table, tables: Sequence[Registered]) -> Registered | None:
    """Return the registered table that a link refers to; refuse one that is not there, or has no people."""
    via = table.unit.via
    if via is None:
        return None
    if via.table == table.name:
        why = "the link leads back to the table itself, and so to no person"
        raise BadParameter("via", via.words, why=why, fix="link to a table that a person's identifier is in")
    found = {each.name: each for each in tables}.get(via.table)
    if found is None:
        raise UnknownName("table of the link", via.table, [each.name for each in tables])
    if found.table.unit.is_row:
        why = f"{via.table!r} protects single rows, so that nobody is the person of a row that refers to one"
        fix = f"register {via.table!r} with unit=person({via.key!r}, max_rows=1) in a vault of its own people"
        raise BadParameter("via", via.words, why=why, fix=fix)
    return found


def check_link(
    table: Table,
    source: Source,
    referred: Registered,
    group: str | None,
    people: People | None,
    tables: Sequence[Payer],
) -> str:
    """Return the account that pays for a linked table: that of the table it refers to, and no other.

    Guarantee: all tables of a chain share one account, so that a person's loss through any of them is counted once and
    together; what is read to tell whose the rows are belongs to the same people.
    """
    via, account = table.unit.via, referred.account
    assert via is not None
    if people is not None:
        why = f"its people are those of {via.table!r}, which the link says"
        raise BadParameter("people", people, why=why, fix="leave it out")
    other = payer(source, tables)
    paying = group if other is None or other.account == account else other.account
    if paying not in (None, account):
        why = f"{via.table!r}, which tells its people, is paid from {account!r}, and a person has one account"
        fix = f"use group={account!r}, or leave it out"
        if paying != group:
            fix = f"register it in the vault where {account!r} pays for its rows; here {paying!r} does"
        raise Conflict(f"the link of {table.name!r} to {via.table!r}", why=why, fix=fix, value=paying)
    if via.key not in referred.physical:
        raise UnknownName(f"column of {via.table!r}", via.key, referred.physical)
    check_comparable("via", via.key, referred.physical[via.key])
    check_engines(table.name, source, referred)
    return account


def check_engines(name: str, source: Source, referred: Registered) -> None:
    """Refuse a link that no engine could follow: rows are not carried from one to another."""
    home = home_of(source)
    if referred.engine != home.ENGINE:
        why = f"{name!r} is in {home.ENGINE} and {referred.name!r} in {referred.engine}, and no row is copied"
        raise BadParameter("via", referred.name, why=why, fix="register both from sources of one engine")
    home.opened([source, *(each.source for each in referred.chain)], b"")  # one server, if it is a database


def check_keys(referred: Registered, links: Sequence[Link], secret: bytes) -> None:
    """Refuse a table in which a key that links refer to occurs more than once, by an exact count of all its rows.

    A constraint of the database itself is believed. This looks at data, and so only a custodian ever sees it.
    """
    home, keys = home_of(referred.source), dict.fromkeys(link.key for link in links)
    for key in keys:
        if key not in referred.physical:
            raise UnknownName(f"column of {referred.name!r}", key, referred.physical)
        check_comparable("via", key, referred.physical[key])
    counted = [key for key in keys if not home.holds_unique(referred.source, key)]
    if not counted:
        return
    with home.opened([referred.source], secret) as engine, engine.question():
        dialect = dialect_of(engine.name)
        for key in counted:
            compared = person_of(key, referred.physical[key], dialect)
            ((repeated,),) = engine.rows(repeated_sql(referred.from_sql, compared))
            if repeated:
                raise _repeated(referred, key, int(repeated))


def _repeated(referred: Registered, key: str, repeated: int) -> Refusal:
    what = f"the key {key!r} of {referred.name!r}"
    times = "1 of its values occurs" if repeated == 1 else f"{repeated:,} of its values occur"
    why = f"{times} more than once, so that a row which refers to one has no one person"
    fix = "correct these rows, link by a column that is unique, or register the table with the identifier put into it"
    return Conflict(what, why=why, fix=fix, value=key)
