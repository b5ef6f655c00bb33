"""The vault that the release before format 3 made, `golden/format_2.json`, put back into a file or a database.

It has a table of twelve rows, an account with a window, an analyst with a cap and a monthly one, an answer, a charge
that has failed and one that waits for its answer.
"""

import json
import sqlite3
from pathlib import Path

from discreet.core.file import data_home
from discreet.ledger.sqlite import schema
from tests.ledger.stores import connected, new_url

GOLDEN = json.loads((Path(__file__).parent / "golden" / "format_2.json").read_text(encoding="utf-8"))
# Another of that format, by the last release that wrote it, after more use: noisy counts with a delta, synthetic data,
# a grant that was revoked, a charge that was refused; an answer that failed, and a charge that waits.
USED = json.loads((Path(__file__).parent / "golden" / "format_2_used.json").read_text(encoding="utf-8"))


def old_vault(store, folder, golden=GOLDEN):
    """Put the vault back as it was, with its anchor and its rows; return its place."""
    place = _file(folder, golden) if store == "sqlite" else _schema(new_url(), golden)
    rows = place.with_name(f"{place.name}.data") if store == "sqlite" else data_home() / golden["vault"]
    rows.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, content in golden["files"].items():
        (rows / name).write_bytes(bytes.fromhex(content))
    return place


def _file(folder, golden):
    place = folder / "vault.discreet"
    connection = sqlite3.connect(place)
    connection.execute("PRAGMA journal_mode = WAL")
    triggers = [each for each in GOLDEN["sqlite"] if each.startswith("CREATE TRIGGER")]
    for each in [each for each in GOLDEN["sqlite"] if each not in triggers]:
        connection.execute(each)
    for table, rows in golden["rows"].items():
        for row in rows:
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO {table} VALUES ({marks})", [*map(_value, row)])
    connection.commit()
    for each in (*triggers, f"PRAGMA application_id = {schema.APPLICATION_ID}", "PRAGMA user_version = 2"):
        connection.execute(each)
    connection.close()
    place.chmod(0o600)
    anchor = place.with_name(f"{place.name}.anchor")
    anchor.write_bytes(b"".join(slot.ljust(511).encode() + b"\n" for slot in golden["anchor"]))
    return place


def _schema(url, golden):
    connection, schema = connected(url)
    with connection:
        for each in GOLDEN["postgres"]:
            connection.execute(each.replace('"SCHEMA"', f'"{schema}"').encode())
        for table, rows in golden["rows"].items():
            for row in rows:
                marks = ", ".join(["%s"] * len(row))
                connection.execute(f"INSERT INTO {schema}.{table} VALUES ({marks})", [*map(_value, row)])
    return url


def _value(value):
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) else value
