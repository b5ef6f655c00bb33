"""Flips: whatever bit of a vault is changed, it is refused, or behaves exactly as if nothing had happened."""

import shutil
import sqlite3
from collections import Counter
from datetime import timedelta
from fractions import Fraction
from random import Random  # noqa: TID251  (which bit to flip is no noise)

import pytest

from discreet.account import DiscreteGaussian
from discreet.account.budgets.budget import Budget
from discreet.core.errors import Refusal
from discreet.ledger import AccessRefused, Charge, Ledger, NotAVault, Tampered, Unavailable
from discreet.ledger.store import Attempt, Part, Run, StoredArtefact
from tests.ledger.forging import KEYS, forger
from tests.ledger.helpers import START, Clock, charge, epsilon, running, surgery
from tests.ledger.integrity.test_verify import changes
from tests.ledger.stores import POSTGRES, new_url

REFUSED = (Tampered, NotAVault, Unavailable)
LATER = START + timedelta(hours=2)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Flushing to disk is what takes time here, and proves nothing."""
    from discreet.ledger.sqlite import store

    connect = store._connect

    def unflushed(*given):
        connection = connect(*given)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    monkeypatch.setattr(store, "_connect", unflushed)


def fill(ledger):
    """Rows of every kind: settled and unsettled debits, a lease, a cap, a window, an ended grant; return the tokens."""
    ledger.add_account("people", epsilon(1))
    ledger.add_account("delta", Budget(epsilon=1, delta=Fraction(1, 10**6)))
    ledger.window("people", epsilon(Fraction(8, 10)))
    ledger.put("table", "visits", {"rows": 1}, private={"stamp": 7})
    token = ledger.grant("ann", ["visits"], {"people": epsilon(Fraction(5, 10))}, expires=START + timedelta(days=9))
    ended = ledger.grant("bob", ["visits"])
    ledger.revoke("bob")
    grant = ledger.authenticate(token).id
    for number in range(3):
        ledger.run(charge(f"q{number}", analyst="ann", grant=grant), lambda *_: '{"rows": [[41]]}')
    ledger.run(Charge("r", {"delta": DiscreteGaussian(30)}, {"visits": 1}, "ann"), lambda *_: "ä")
    ledger.lease(ledger.charge(charge("unsettled")))
    running(ledger)
    return token, ended


def told(place, tokens, *, asking=True, **more):
    """Everything that a vault says and answers, in order, until it refuses; the refusal comes last.

    Of new entries only their kinds: what they say of draws is random.
    """
    found = []
    more.setdefault("anchor", f"{place}.anchor")  # of each copy, the one beside it alone
    try:
        with Ledger.open(place, clock=Clock(LATER), **more) as ledger:
            if ledger.frozen:  # what a lost log leaves is an older vault
                ledger.run(charge("new"), lambda *_: "new")
            old = ledger.head[0]
            found += [ledger.head, ledger.standing(), ledger.grants(), ledger.list("table"), ledger.accounts()]
            found += [ledger.unsettled(), ledger.spent("people", "ann"), ledger.spent("delta", "ann")]
            found += [ledger.authenticate(tokens[0]), ledger.secret("order")]
            with ledger._read() as look:
                found += [row for kind in (StoredArtefact, Run, Part, Attempt) for row in look.all(kind)]
            with pytest.raises(AccessRefused):
                ledger.authenticate(tokens[1])
            found += [asked(ledger, f"q{number}") for number in range(3)]
            if asking:
                found.append(asked(ledger, "unsettled"))
                for more_ in ({"analyst": "ann", "grant": tokens[0].partition("_")[0]}, {}):
                    found += [asked(ledger, f"new{number}", **more_) for number in range(7)]
            found += [entry if entry.sequence <= old else entry.kind for entry in ledger.entries()]
    except REFUSED:  # and no other exception
        found.append(REFUSED)
    return found


def asked(ledger, question, **more):
    """The answer and what is left, or the refusal of a question alone."""
    try:
        answer, receipt = ledger.run(charge(question, **more), lambda *_: "new")
    except REFUSED:
        raise
    except Refusal as refusal:
        return str(refusal)
    return answer, receipt.sequence, receipt.key, receipt.remaining, receipt.replayed


def agrees(found, expected):
    """Whether a vault behaved as the untouched one up to a refusal, or to the end."""
    if found and found[-1] is REFUSED:
        return found[:-1] == expected[: len(found) - 1]
    return found == expected


class Original:
    """A closed vault of which copies are made; and one copied while open, its entries in the write-ahead log."""

    def __init__(self, folder):
        self.path, self.open = folder / "vault", folder / "open"
        with Ledger.create(self.path, clock=Clock(), anchor=f"{self.path}.anchor") as ledger:
            self.tokens = fill(ledger)
            self.copy(self.open)
            self.open.with_name("open-shm").unlink(missing_ok=True)
        self.expected = told(self.copy(folder / "untouched"), self.tokens)
        with surgery(self.copy(folder / "unleased")) as connection:
            connection.execute("DELETE FROM leases")
        self.unleased = told(folder / "unleased", self.tokens)

    def copy(self, path, source=None):
        """Copy a vault and all that lies beside it under its name."""
        source = source or self.path
        for file in [each for each in path.parent.glob(path.name + "*") if each.is_file()]:
            file.unlink()
        for file in [each for each in source.parent.glob(source.name + "*") if each.is_file()]:
            shutil.copy(file, path.with_name(path.name + file.name.removeprefix(source.name)))
        return path


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return Original(tmp_path_factory.mktemp("flips"))


def check(original, path, counts):
    found = told(path, original.tokens)
    counts["refused" if found[-1] is REFUSED else "same"] += 1
    assert agrees(found, original.expected), (len(found), found[-1])


def test_an_untouched_vault_answers_until_its_budget_is_spent(original, tmp_path):
    expected = original.expected
    assert told(original.copy(tmp_path / "copy", original.open), original.tokens) == expected
    answered = {each[2] for each in expected if isinstance(each, tuple) and each[0] == "new"}
    assert 4 <= len(answered) <= 5  # 3 asked, 1 unsettled, 4 more: the window's eight tenths
    assert expected[-1] is not REFUSED


def cells(path):
    """Every cell of every table."""
    with surgery(path) as connection:
        for table, key in KEYS.items():
            cursor = connection.execute(f"SELECT * FROM {table}")
            names = [column[0] for column in cursor.description]
            for row in cursor.fetchall():
                named = dict(zip(names, row, strict=True))
                yield from ((table, [named[name] for name in key], column, named[column]) for column in names)


def flipped(value, generator):
    """One flip of one bit of a stored value."""
    match value:
        case None:
            return 1
        case int():
            return value ^ 1 << generator.randrange(8)
        case float():
            return value + 2.0 ** generator.randrange(-8, 30)
    content = bytearray(value if isinstance(value, bytes) else value.encode() or b"\0")
    content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
    return bytes(content)


def flip_cell(path, cell, generator):
    """Flip a bit of a cell; say whether the file itself refused it, as it does a key that is taken."""
    table, key, column, value = cell
    changed = flipped(value, generator)
    place = "CAST(? AS TEXT)" if isinstance(value, str) else "?"
    where = " AND ".join(f'"{name}" = ?' for name in KEYS[table])
    with surgery(path) as connection:
        try:
            connection.execute(f'UPDATE {table} SET "{column}" = {place} WHERE {where}', [changed, *key])
        except (sqlite3.IntegrityError, OverflowError):
            return False
    return True


def flip_cells(original, path, chosen, seed):
    counts, generator = Counter(), Random(seed)
    for cell in chosen:
        if flip_cell(original.copy(path), cell, generator):
            check(original, path, counts)
    return counts


def test_a_flipped_bit_of_any_cell_is_refused_or_changes_nothing(original, tmp_path):
    every = [*cells(original.copy(tmp_path / "copy"))]
    assert {cell[0] for cell in every} == KEYS.keys()
    entries = [cell for cell in every if cell[0] == "entries"]
    derived = [cell for cell in every if cell[0] != "entries"]
    counts = flip_cells(original, tmp_path / "copy", [*entries[::7], *derived[::3]], seed=18)
    assert counts["refused"] > 50
    assert counts["refused"] > 10 * counts["same"]


def test_a_lease_that_is_lost_changes_who_works_and_neither_charge_nor_answer(original):
    assert original.unleased == original.expected


def flip_bytes(original, path, source, ending, times, seed):
    counts, generator = Counter(), Random(seed)
    for _ in range(times):
        file = original.copy(path, source).with_name(path.name + ending)
        content = bytearray(file.read_bytes())
        content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
        file.write_bytes(content)
        check(original, path, counts)
    return counts


FILES = [("path", ""), ("open", "-wal"), ("open", ""), ("path", ".anchor")]


@pytest.mark.parametrize(("which", "ending"), FILES)
def test_a_flipped_bit_of_the_file_is_refused_or_changes_nothing(original, tmp_path, which, ending):
    counts = flip_bytes(original, tmp_path / "copy", getattr(original, which), ending, 25, seed=18)
    assert counts.total() == 25


def test_garbled_bytes_are_refused_or_change_nothing(original, tmp_path):
    counts, generator = Counter(), Random(18)
    for number in range(30):
        path = original.copy(tmp_path / "copy")
        content = bytearray(path.read_bytes())
        start = 0 if number < 5 else generator.randrange(len(content))
        content[start : start + 16] = generator.randbytes(16)
        path.write_bytes(content if number % 5 else content[:start])
        check(original, path, counts)
    assert counts["refused"] > 10


@pytest.mark.soak
def test_thousands_of_flips_give_not_one_answer_more(original, tmp_path):
    path, counts = tmp_path / "copy", Counter()
    every = [*cells(original.copy(path))]
    for seed in range(6):
        counts += flip_cells(original, path, every, seed)
    assert counts.total() > 1000
    assert counts["refused"] > 10 * counts["same"]
    # Much of the file is free, or superseded by the log; of the anchor the other slot holds; of the log all counts.
    found = {each: flip_bytes(original, path, getattr(original, each[0]), each[1], 1000, seed=1) for each in FILES}
    assert {each.total() for each in found.values()} == {1000}
    assert found["open", "-wal"]["refused"] > 10 * found["open", "-wal"]["same"]


@POSTGRES
def test_every_changed_cell_of_a_vault_in_a_database_is_refused_or_changes_nothing(tmp_path):
    url, anchor, counts = new_url(), tmp_path / "anchor", Counter()
    with Ledger.create(url, clock=Clock(), anchor=anchor) as ledger:
        tokens = fill(ledger)
    expected = told(url, tokens, asking=False, anchor=anchor)
    with forger(url) as forge:
        for table in KEYS:
            for row in forge.rows(table)[-1:]:
                for column, value in row.items():
                    if column in KEYS[table]:
                        continue
                    changed = changes(value)[-1] if not isinstance(value, float) else value + 1
                    forge.change(table, row, **{column: changed})
                    found = told(url, tokens, asking=False, anchor=anchor)
                    counts["refused" if found[-1] is REFUSED else "same"] += 1
                    assert agrees(found, expected), (table, column)
                    forge.put(table, row)
    assert counts["refused"] > 20
