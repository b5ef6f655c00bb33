"""Where the tests keep their vaults: in a file, and in a schema of their own of a real PostgreSQL server."""

import os
from itertools import count

import pytest

from tests.postgres import server

POSTGRES = pytest.mark.xdist_group("postgres-ledger")
STORES = ("sqlite", pytest.param("postgres", marks=POSTGRES))

_NAMES = count()


def new_place(store, folder):
    """The path of a new vault in the folder, or the URL of a new schema."""
    return folder / "vault.discreet" if store == "sqlite" else new_url()


def new_url():
    """The URL of a schema that nobody has used."""
    return f"{server()}&schema=vault_{os.getpid()}_{next(_NAMES)}"


def homes(folder):
    """The environment of a machine that keeps anchors and copies in this folder."""
    return {"XDG_STATE_HOME": str(folder / "state"), "XDG_DATA_HOME": str(folder / "data")}


def content(place, folder):
    """Everything that is stored of a vault in a folder and, where it has one, its schema."""
    files = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
    return files if hasattr(place, "parent") else files + _dump(place)


def connected(url):
    """A connection of someone else to the database of a vault, and the name of its schema."""
    import psycopg

    address, _, schema = url.rpartition("&schema=")
    return psycopg.connect(address, autocommit=True, cursor_factory=psycopg.ClientCursor), schema


def _dump(url):
    connection, schema = connected(url)
    with connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,)).fetchall()
        rows = [connection.execute(f"SELECT * FROM {schema}.{table}").fetchall() for (table,) in tables]
    assert len(rows) > 10
    return "".join(str(value) for table in rows for row in table for value in row).encode()
