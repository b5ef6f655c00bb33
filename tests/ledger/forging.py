"""Forging: what someone, or a failing disk, does to the rows of a vault behind its ledger's back, in either store."""

import sqlite3
from contextlib import closing, contextmanager

from discreet.ledger.lease import Lease
from discreet.ledger.store import DERIVED, Attempt, Check, Private, Root, Seal, Secret, Settled, StoredDraw
from tests.ledger.stores import connected

KEYS = {
    kind.TABLE: kind.KEY for kind in (*DERIVED, Attempt, Private, Secret, Settled, StoredDraw, Lease, Check, Seal, Root)
}
KEYS["entries"] = ("sequence",)


class Forger:
    """A connection without belts to a vault's tables."""

    def __init__(self, connection, mark):
        self.connection, self.mark = connection, mark

    def execute(self, sql, values=()):
        return self.connection.execute(sql.replace("?", self.mark), list(values))

    def rows(self, table):
        cursor = self.execute(f"SELECT * FROM {table} ORDER BY 1")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def all(self):
        """All rows of the vault, by their tables."""
        return {table: self.rows(table) for table in KEYS}

    def restore(self, rows):
        """Put the vault back as it was."""
        for table in KEYS:
            self.execute(f"DELETE FROM {table}")
            for row in rows[table]:
                self.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row.values())

    def change(self, table, row, **changes):
        """Change some columns of a row, found by its key."""
        for column, value in changes.items():
            # As text, whatever its bytes: what a flipped bit leaves need not be valid UTF-8.
            place = "CAST(? AS TEXT)" if isinstance(value, bytes) and not isinstance(row[column], bytes) else "?"
            where, key = self._where(table, row)
            self.execute(f'UPDATE {table} SET "{column}" = {place} WHERE {where}', [value, *key])
            row = {**row, column: value}

    def remove(self, table, row):
        where, key = self._where(table, row)
        self.execute(f"DELETE FROM {table} WHERE {where}", key)

    def put(self, table, row):
        """Store a row just as it was, in place of the one with its key."""
        self.remove(table, row)
        self.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row.values())

    def _where(self, table, row):
        return " AND ".join(f'"{name}" = ?' for name in KEYS[table]), [row[name] for name in KEYS[table]]


@contextmanager
def forger(path):
    """Open a vault as a forger would, at its path or its URL."""
    if hasattr(path, "parent"):
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            yield Forger(connection, "?")
        return
    connection, schema = connected(path)
    with connection:
        connection.execute(f"SET search_path = {schema}")
        connection.execute("SET session_replication_role = replica")
        yield Forger(connection, "%s")
