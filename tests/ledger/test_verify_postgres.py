"""Verifying a vault in PostgreSQL: every changed field, every lost or added row and every changed table is found."""

from contextlib import contextmanager
from itertools import combinations
from types import SimpleNamespace

import pytest

from discreet.ledger import Ledger, Tampered
from discreet.ledger.integrity.verify import verify
from discreet.ledger.postgres.transaction import PostgresTransaction
from tests.ledger.helpers import Clock, charge, epsilon
from tests.ledger.integrity.test_verify import ENTRIES, TABLES, changes, fill, resealed
from tests.ledger.stores import POSTGRES, connected, new_url

pytestmark = POSTGRES

HARMLESS = "RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'"


@pytest.fixture
def store():
    return "postgres"


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    """A small vault: its anchor, read once, and a forger's connection to it."""
    url, anchor = new_url(), tmp_path_factory.mktemp("verify") / "anchor"
    with Ledger.create(url, clock=Clock(), anchor=anchor) as ledger:
        fill(ledger)
        assert ledger.verify(ledger.head[1]).entries == ledger.head[0] == ENTRIES
        heads = ledger._anchors.heads()
    connection, schema = connected(url)
    with connection:
        connection.execute(f"SET search_path = {schema}")
        yield SimpleNamespace(heads=lambda: heads, public_key=""), connection, schema


class Undone:
    """A store that is looked at inside a transaction, which is then rolled back."""

    def __init__(self, connection, schema):
        self.connection, self.schema = connection, schema

    @contextmanager
    def read(self):
        yield PostgresTransaction(self.connection, f"{self.schema}.", "SELECT 'begun already'", None)

    def check_schema(self):
        """Not looked at: the belts are off here."""


@contextmanager
def forged(vault):
    """A transaction without belts; yields its connection and a check, and undoes everything."""
    anchors, connection, schema = vault
    connection.execute("BEGIN")
    try:
        connection.execute("SET LOCAL session_replication_role = replica")
        yield connection, lambda: verify(Undone(connection, schema), anchors)
    finally:
        connection.execute("ROLLBACK")


def rows(connection, table):
    cursor = connection.execute(f"SELECT * FROM {table} ORDER BY 1")
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def where(table):
    return " AND ".join(f'"{name}" = %s' for name in TABLES[table])


@pytest.mark.parametrize("table", TABLES)
def test_every_changed_field_is_found(vault, table):
    from psycopg import Error

    tried = 0
    with forged(vault) as (connection, check):
        assert check().entries == ENTRIES
        for row in rows(connection, table):
            key = [row[name] for name in TABLES[table]]
            for column, value in row.items():
                changed = changes(value)[-1]
                connection.execute("SAVEPOINT one")
                try:
                    connection.execute(f'UPDATE {table} SET "{column}" = %s WHERE {where(table)}', [changed, *key])
                    tried += 1
                except Error:  # refused by the database itself: a key that is taken
                    pass
                else:
                    with pytest.raises(Tampered):
                        check()
                connection.execute("ROLLBACK TO one")
    assert tried >= 2


@pytest.mark.parametrize("table", [name for name in TABLES if name != "entries"])
def test_every_row_that_is_lost_or_added_is_found(vault, table):
    with forged(vault) as (connection, check):
        for row in rows(connection, table):
            key = [row[name] for name in TABLES[table]]
            connection.execute("SAVEPOINT one")
            connection.execute(f"DELETE FROM {table} WHERE {where(table)}", key)
            with pytest.raises(Tampered):
                check()
            connection.execute("ROLLBACK TO one")
            added = {**row, TABLES[table][0]: 99 if table in ("answers", "roots") else "another"}
            places = ", ".join(["%s"] * len(added))
            connection.execute(f"INSERT INTO {table} VALUES ({places})", [*added.values()])
            with pytest.raises(Tampered):
                check()
            connection.execute("ROLLBACK TO one")


def test_entries_that_are_left_out_or_exchanged_are_found_at_the_first_of_them(vault):
    with forged(vault) as (connection, check):
        for number in range(1, ENTRIES + 1):
            connection.execute("SAVEPOINT one")
            connection.execute("DELETE FROM entries WHERE sequence = %s", (number,))
            with pytest.raises(Tampered) as found:
                check()
            assert found.value.sequence == number
            connection.execute("ROLLBACK TO one")
        for one, two in [*combinations(range(1, ENTRIES + 1), 2)][::7]:
            connection.execute("SAVEPOINT one")
            for old, new in ((one, -1), (two, one), (-1, two)):
                connection.execute("UPDATE entries SET sequence = %s WHERE sequence = %s", (new, old))
            with pytest.raises(Tampered) as found:
                check()
            assert found.value.sequence == one
            connection.execute("ROLLBACK TO one")


class Marked:
    """A connection on which SQLite's question marks mean what PostgreSQL writes as %s."""

    def __init__(self, connection):
        self.connection = connection

    def execute(self, sql, *values):
        return self.connection.execute(sql.replace("?", "%s"), *values)


def test_a_chain_that_was_sealed_anew_is_found_by_its_rows_or_by_the_anchor(vault):
    for one, two in [*combinations(range(1, ENTRIES), 2)][::9]:
        with forged(vault) as (connection, check):
            bodies = connection.execute("SELECT kind, body FROM entries ORDER BY sequence").fetchall()
            bodies[one], bodies[two] = bodies[two], bodies[one]
            resealed(Marked(connection), bodies)
            with pytest.raises(Tampered):
                check()


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("DROP TRIGGER entries_are_never_changed ON entries", "a trigger"),
        ("ALTER TABLE entries DISABLE TRIGGER entries_follow_each_other", "a trigger"),
        ("ALTER TABLE debits DISABLE TRIGGER ALL", "a trigger"),
        ("CREATE TRIGGER quietly AFTER INSERT ON debits EXECUTE FUNCTION entries_stand()", "a trigger"),
        (f"CREATE OR REPLACE FUNCTION entries_stand() {HARMLESS}", "a function"),
        ("ALTER FUNCTION entries_stand() SECURITY DEFINER", "a function"),
        ("CREATE FUNCTION more() RETURNS int LANGUAGE sql AS 'SELECT 1'", "a function"),
        ("CREATE TABLE more (a int)", "a table"),
        ("CREATE VIEW more AS SELECT * FROM secrets", "a table"),
        ("CREATE SEQUENCE more", "a table"),
        ("ALTER TABLE leases SET UNLOGGED", "a table"),
        ("ALTER TABLE debits ENABLE ROW LEVEL SECURITY", "a table"),
        ("CREATE RULE more AS ON DELETE TO debits DO INSTEAD NOTHING", "a table"),
        ("CREATE TABLE public.child () INHERITS (leases)", "a table"),
        ("GRANT SELECT ON secrets TO PUBLIC", "a table"),
        ("ALTER TABLE limits ADD COLUMN more text", "a column"),
        ("ALTER TABLE limits ALTER COLUMN state DROP NOT NULL", "a column"),
        ("ALTER TABLE limits ALTER COLUMN state SET DEFAULT ''", "a column"),
        ('ALTER TABLE limits ALTER COLUMN state TYPE text COLLATE "default"', "a column"),
        ("ALTER TABLE leases ALTER COLUMN fence TYPE int", "a column"),
        ("ALTER TABLE debits DROP CONSTRAINT debits_sequence_fkey", "a constraint"),
        ("ALTER TABLE latch DROP CONSTRAINT latch_one_check", "a constraint"),
        ("ALTER TABLE debits ADD CHECK (key <> 'mine')", "a constraint"),
        ("CREATE UNIQUE INDEX ON debits (identity)", "an index"),
        ("GRANT USAGE ON SCHEMA {} TO PUBLIC", "who may use it"),
    ],
)
def test_a_changed_schema_is_found(ledger, path, statement, what):
    connection, schema = connected(path)
    with connection:
        connection.execute(f"SET search_path = {schema}")
        connection.execute(statement.format(schema))
        try:
            with pytest.raises(Tampered, match=f"the schema of the vault: {what}"):
                ledger.verify()
        finally:
            connection.execute("DROP TABLE IF EXISTS public.child")


def test_a_vault_is_verified_while_others_write_and_against_heads_of_the_past(ledger, path):
    past = ledger.head[1]
    with Ledger.open(path) as other:
        for number in range(3):
            other.run(charge(f"q{number}"), lambda _: "41")
            assert ledger.verify(past).entries == other.head[0]
    found = ledger.verify()
    assert (found.public_key, found.vault, found.head) == (ledger.public_key, ledger.vault_id, ledger.head[1])
    with pytest.raises(Tampered, match="no entry of this vault has that hash"):
        ledger.verify("0" * 64)


def test_an_untouched_vault_has_the_schema_that_was_made(path):
    with Ledger.create(path) as ledger:
        ledger.add_account("people", epsilon(1))
        ledger._store.check_schema()
        assert ledger.verify().entries == 2
