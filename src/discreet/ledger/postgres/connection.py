"""Connections to a vault in PostgreSQL: made with care, and refused where a commit would not last."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from discreet.ledger.place import ServerPlace, psycopg
from discreet.ledger.postgres.errors import refusal, unreachable
from discreet.ledger.refusals import Unavailable

if TYPE_CHECKING:
    from psycopg import Connection

# PostgreSQL 14 is the oldest that this was written for.
_LEAST = 140000

# A client whose machine was lost would keep everyone waiting; and we would wait for a server that was lost.
_ALIVE = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
# Nobody's operators and functions shadow the server's own; waiting is bounded by us, for each transaction; numbers
# come back with all of their digits, whatever the server or the role has set.
_SETTINGS = (
    "SET search_path = pg_catalog; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 60000; "
    "SET client_min_messages = error; SET extra_float_digits = 1"
)
_ASKED = ("fsync", "full_page_writes", "synchronous_commit", "server_encoding", "server_version_num")

_FACTS = f"SELECT {', '.join(f'current_setting({name!r})' for name in _ASKED)}"


def connect(place: ServerPlace, patience: float) -> tuple[Connection[Any], str]:
    """Connect, and return how commits are to be made durable: "on", or what the server demands beyond it.

    Guarantee: a server that could lose what it has committed, by its own settings, is refused.
    """
    connection = _connection(place, time.monotonic() + patience)
    try:
        cursor = connection.execute(f"{_SETTINGS}; {_FACTS}".encode())
        while cursor.nextset():
            pass
        found = dict(zip(_ASKED, cursor.fetchall()[0], strict=True))
        _check(place, found)
    except psycopg().Error as error:
        connection.close()
        raise refusal(place, error.sqlstate) from None
    except BaseException:
        connection.close()
        raise
    return connection, "remote_apply" if found["synchronous_commit"] == "remote_apply" else "on"


def _connection(place: ServerPlace, deadline: float) -> Connection[Any]:
    pq, given = psycopg().pq, psycopg().conninfo.conninfo_to_dict(place.url)
    more: dict[str, Any] = {name: value for name, value in _ALIVE.items() if name not in given}
    # Values are quoted here, so several statements can go out in one text.
    more |= {"client_encoding": "UTF8", "fallback_application_name": "discreet", "autocommit": True}
    more |= {"cursor_factory": psycopg().ClientCursor}
    while True:
        try:
            made: Connection[Any] = psycopg().Connection.connect(place.url, **more)
        except psycopg().Error:
            # One that is there and takes nobody in is starting, perhaps after a crash, and worth waiting for.
            waiting = pq.PGconn.ping(place.url.encode()) == pq.Ping.REJECT
            if not waiting or time.monotonic() > deadline:
                raise unreachable(place) from None
            time.sleep(0.05)
        else:
            return made


def _check(place: ServerPlace, found: dict[str, str]) -> None:
    for name in ("fsync", "full_page_writes"):
        if found[name] != "on":
            why = f"its server runs with {name} off, so a crash could lose debits of released answers"
            fix = f"set {name} = on and reload the server"
            raise Unavailable(f"the vault {place}", why=why, fix=fix, value=f"{name}={found[name]}")
    if found["server_encoding"] != "UTF8":
        why = f"its database stores {found['server_encoding']}, which cannot hold every text"
        fix = "make a database with ENCODING 'UTF8' for it"
        raise Unavailable(f"the vault {place}", why=why, fix=fix, value=found["server_encoding"])
    if int(found["server_version_num"]) < _LEAST:
        why, fix = "its server is older than PostgreSQL 14", "use PostgreSQL 14 or later"
        raise Unavailable(f"the vault {place}", why=why, fix=fix, value=found["server_version_num"])
