"""Verifying: every changed byte, every exchange of entries and every shortened chain is found."""

import json
import shutil
import sqlite3
from contextlib import contextmanager
from datetime import timedelta
from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace

import pytest

from discreet.account import Approx, DiscreteGaussian
from discreet.account.budgets.budget import Budget, BudgetExceeded
from discreet.ledger import Charge, Ledger, Tampered
from discreet.ledger.entry import GENESIS, Entry, Head, canonical
from discreet.ledger.integrity.verify import verify
from discreet.ledger.sqlite.store import SqliteTransaction
from discreet.ledger.store import DERIVED, Check, Private, Root, Seal, Secret, Settled
from tests.ledger.helpers import START, Clock, charge, epsilon, running, surgery

ENTRIES = 16
TABLES = {
    "entries": ("sequence",),
    **{kind.TABLE: kind.KEY for kind in (*DERIVED, Private, Secret, Settled, Check, Seal, Root)},
}


def fill(ledger):
    """One entry of every kind at least, and every kind of row."""
    ledger.add_account("people", epsilon(1))
    ledger.add_account("rho", Budget(rho=1))
    ledger.window("people", epsilon(Fraction(1, 2)))
    ledger.put("table", "visits", {"rows": 1}, private={"stamp": 7})
    token = ledger.grant("ann", ["visits"], {"people": epsilon(1)}, expires=START + timedelta(days=9))
    ledger.revoke(ledger.grant("bob", ["visits"]).partition("_")[0])
    grant = ledger.authenticate(token).id
    ledger.run(charge("q", analyst="ann", grant=grant), lambda _: '{"rows": [[41]]}')
    ledger.run(Charge("r", {"rho": DiscreteGaussian(3)}, {"visits": 1}, "ann"), lambda _: "ä")
    ledger.charge(charge("s"))
    running(ledger)
    with pytest.raises(BudgetExceeded):
        ledger.run(charge("t", 2), lambda _: "41")


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    """A small vault: its anchor, read once, and a connection on which to play."""
    path = tmp_path_factory.mktemp("verify") / "vault.discreet"
    with Ledger.create(path, clock=Clock()) as ledger:
        fill(ledger)
        assert ledger.verify(ledger.head[1]).entries == ledger.head[0] == ENTRIES
    with Ledger.open(path) as ledger, ledger._store._connected() as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        heads = ledger._anchors.heads()
        yield SimpleNamespace(heads=lambda: heads, public_key=""), connection


class Undone:
    """A store that is looked at inside a transaction, which is then rolled back."""

    def __init__(self, connection):
        self.connection = connection

    @contextmanager
    def read(self):
        yield SqliteTransaction(self.connection.execute)

    def check_schema(self):
        """Not looked at: the belts are off here."""


@contextmanager
def forged(vault):
    """A transaction without belts; yields its connection and a check, and undoes everything."""
    anchors, connection = vault
    connection.execute("BEGIN")
    try:
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        yield connection, lambda head=None: verify(Undone(connection), anchors, head)
    finally:
        connection.execute("ROLLBACK")


def rows(connection, table):
    cursor = connection.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def changes(value):
    """Every single-byte change of a stored value, one other value for each byte."""
    match value:
        case None:
            return [1]
        case int():
            return [value + 1, value - 1, value + 1000]
        case bytes():
            return [value[:i] + bytes([value[i] ^ 1]) + value[i + 1 :] for i in range(len(value))] + [value[:-1]]
        case str():
            changed = [value[:i] + chr(ord(value[i]) ^ 1) + value[i + 1 :] for i in range(len(value))]
            return [*changed, value + " ", value[:-1]] if value else ["0"]


# One byte in four in `make test`, from the first of every cell on; all in `make check`.
@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("table", TABLES)
def test_every_single_byte_change_is_found(vault, table, share):
    tried, unnoticed = 0, []
    with forged(vault) as (connection, check):
        assert check().entries == ENTRIES
        for row in rows(connection, table):
            where = " AND ".join(f'"{name}" = ?' for name in TABLES[table])
            key = [row[name] for name in TABLES[table]]
            for column, value in row.items():
                for changed in changes(value)[::share]:
                    connection.execute("SAVEPOINT one")
                    try:
                        connection.execute(f'UPDATE {table} SET "{column}" = ? WHERE {where}', [changed, *key])
                        tried += 1
                        check()
                        unnoticed.append((key, column, changed))
                    except (sqlite3.IntegrityError, Tampered):
                        pass  # found; or refused by the file itself: a key that is taken
                    finally:
                        connection.execute("ROLLBACK TO one")
                        connection.execute("RELEASE one")
    assert unnoticed == []
    assert tried > 25 // share


@pytest.mark.parametrize("table", [name for name in TABLES if name != "entries"])
def test_every_row_that_is_removed_or_added_is_found(vault, table):
    with forged(vault) as (connection, _):
        count = len(rows(connection, table))
    assert count
    for number in range(count):
        with forged(vault) as (connection, check):
            row = rows(connection, table)[number]
            where = " AND ".join(f'"{name}" = ?' for name in TABLES[table])
            connection.execute(f"DELETE FROM {table} WHERE {where}", [row[name] for name in TABLES[table]])
            with pytest.raises(Tampered):
                check()
        with forged(vault) as (connection, check):
            added = {**row, TABLES[table][0]: 99 if table in ("answers", "roots") else "another"}
            places = ", ".join("?" * len(added))
            connection.execute(f"INSERT INTO {table} VALUES ({places})", [*added.values()])
            with pytest.raises(Tampered):
                check()


def test_every_exchange_of_two_entries_is_found_at_the_first_of_them(vault):
    for one, two in combinations(range(1, ENTRIES + 1), 2):
        with forged(vault) as (connection, check):
            for old, new in ((one, -1), (two, one), (-1, two)):
                connection.execute("UPDATE entries SET sequence = ? WHERE sequence = ?", (new, old))
            with pytest.raises(Tampered) as found:
                check()
            assert found.value.sequence == one


def test_every_entry_that_is_left_out_is_found(vault):
    for number in range(1, ENTRIES + 1):
        with forged(vault) as (connection, check):
            connection.execute("DELETE FROM entries WHERE sequence = ?", (number,))
            with pytest.raises(Tampered) as found:
                check()
            assert found.value.sequence == number


def resealed(connection, bodies):
    """Write a chain of entries again, with the right hash everywhere, as a forger with time would."""
    connection.execute("DELETE FROM entries")
    last = Head(0, GENESIS)
    for kind, body in bodies:
        entry = Entry.after(last.sequence, last.hash, kind, body)
        values = (entry.sequence, entry.kind, entry.body, entry.previous, entry.hash)
        connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", values)
        last = Head(entry.sequence, entry.hash)
    return last


def test_a_chain_that_was_sealed_anew_is_found_by_its_rows_or_by_the_anchor(vault):
    for one, two in combinations(range(1, ENTRIES), 2):
        with forged(vault) as (connection, check):
            bodies = connection.execute("SELECT kind, body FROM entries ORDER BY sequence").fetchall()
            bodies[one], bodies[two] = bodies[two], bodies[one]
            resealed(connection, bodies)
            with pytest.raises(Tampered):
                check()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"costs": [["1/1000", "0"]] * 3}, "charged less than the loss costs"),
        ({"costs": [["1/10", "0"]]}, "1 limits were charged, and 3 apply"),
        ({"costs": [["2", "0"]] * 3}, "does not cover it"),
        ({"losses": {"people": {"kind": "Pure", "epsilon": "1/5", "relation": "add_remove"}}}, "charged less"),
        ({"losses": {"nobody": {"kind": "Pure", "epsilon": "1/5", "relation": "add_remove"}}}, "UnknownName"),
        ({"losses": 7}, "AttributeError"),
    ],
)
def test_a_charge_that_no_ledger_would_have_made_is_found_even_if_sealed(vault, change, why):
    with forged(vault) as (connection, check):
        bodies = connection.execute("SELECT kind, body FROM entries ORDER BY sequence").fetchall()
        number = next(i for i, (kind, _) in enumerate(bodies) if kind == "charge")
        bodies[number] = ("charge", canonical(json.loads(bodies[number][1]) | change))
        resealed(connection, bodies)
        with pytest.raises(Tampered, match=why) as found:
            check()
        assert found.value.sequence == number + 1


def test_a_charge_that_forgets_its_delta_is_found_even_if_sealed(ledger, path):
    ledger.add_account("loose", Budget(epsilon=1, delta=Fraction(1, 10**6)))
    ledger.run(Charge("q", {"loose": Approx(Fraction(1, 100), Fraction(1, 10**7))}, {"visits": 1}), lambda _: "41")
    with surgery(path) as connection:
        bodies = connection.execute("SELECT kind, body FROM entries ORDER BY sequence").fetchall()
        number = next(i for i, (kind, _) in enumerate(bodies) if kind == "charge")
        body = json.loads(bodies[number][1])
        ((loss, delta),) = body["costs"]
        assert Fraction(delta) == Fraction(1, 10**7)
        bodies[number] = ("charge", canonical(body | {"costs": [[loss, "0"]]}))
        resealed(connection, bodies)
    with pytest.raises(Tampered, match="charged less than the loss costs") as found:
        ledger.verify()
    assert found.value.sequence == number + 1


def test_entries_that_repeat_or_invent_what_happened_are_found(vault):
    with forged(vault) as (connection, _):
        bodies = connection.execute("SELECT kind, body FROM entries ORDER BY sequence").fetchall()
    by_kind = {kind: (kind, body) for kind, body in bodies}
    planted = [
        by_kind["charge"],
        by_kind["settle"],
        ("settle", canonical({"key": "k", "charge": 3, "fence": 1, "answer": ""})),
        ("revoke", canonical({"grants": ["nobody"]})),
        ("gift", "{}"),
        by_kind["vault"],
        ("account", "[]"),
        ("account", "{"),
    ]
    for entry in planted:
        with forged(vault) as (connection, check):
            resealed(connection, [*bodies, entry])
            with pytest.raises(Tampered) as found:
                check()
            assert found.value.sequence == ENTRIES + 1


def test_a_shortened_chain_is_found_against_the_anchors_and_against_a_head(tmp_path):
    path, copies = tmp_path / "vault.discreet", []
    with Ledger.create(path) as ledger:
        ledger.add_account("people", epsilon(1))
        anchors = [each.path for each in ledger._anchors.places]
    for number in range(3):
        with Ledger.open(path) as ledger:
            ledger.run(charge(f"q{number}"), lambda _: "41")
            head = ledger.head[1]
        copies.append((path.read_bytes(), anchors[0].read_bytes()))
    for old, signed in copies[:-1]:
        path.write_bytes(old)
        for anchor in anchors:
            with Ledger.open(path) as ledger, pytest.raises(Tampered, match="charges are lost"):
                ledger.verify()
            assert ledger.frozen
            anchor.write_bytes(signed)
        # With its own old anchors an old copy is in order by itself; only a head from outside tells.
        with Ledger.open(path) as ledger:
            assert ledger.verify().entries == ledger.head[0]
            assert ledger.verify(ledger.head[1]).head == ledger.head[1]
            with pytest.raises(Tampered, match="no entry of this vault has that hash"):
                ledger.verify(head)
        for anchor in anchors:
            anchor.write_bytes(copies[-1][1])


def test_a_head_from_the_past_is_on_the_chain(ledger):
    past = ledger.head[1]
    ledger.run(charge(), lambda _: "41")
    assert ledger.verify(past).entries == ledger.head[0]


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER entries_are_never_changed",
        "CREATE TABLE more (a)",
        "CREATE TRIGGER quietly AFTER INSERT ON debits BEGIN DELETE FROM debits; END",
        "ALTER TABLE limits ADD COLUMN more TEXT",
    ],
)
def test_a_changed_schema_is_found(ledger, statement):
    with ledger._store._connected() as connection:
        connection.execute(statement)
    with pytest.raises(Tampered, match="schema"):
        ledger.verify()


def test_a_damaged_file_is_found(ledger, path, tmp_path):
    for number in range(9):
        ledger.run(charge(f"{number}" * 2000), lambda _: "41" * 2000)
    ledger.close()
    content = path.read_bytes()
    for page in range(2, len(content) // 4096):
        damaged = tmp_path / f"damaged{page}"
        shutil.copy(path.with_name(path.name + ".anchor"), damaged.with_name(damaged.name + ".anchor"))
        damaged.write_bytes(content[: page * 4096] + b"\xa5" * 64 + content[page * 4096 + 64 :])
        with pytest.raises(Tampered), Ledger.open(damaged) as opened:
            opened.verify()


def test_surgery_leaves_the_schema_as_it_was(ledger, path):
    ledger.close()
    with surgery(path):
        pass
    with Ledger.open(path) as again:
        assert again.verify().entries == 2


def test_a_vault_is_verified_while_others_write(ledger, path):
    with Ledger.open(path) as other:
        for number in range(5):
            other.run(charge(f"q{number}"), lambda _: "41")
            assert ledger.verify().entries == other.head[0]


def test_verifying_says_the_key_that_signs_and_the_vault(ledger):
    found = ledger.verify()
    assert (found.public_key, found.vault, found.head) == (ledger.public_key, ledger.vault_id, ledger.head[1])
