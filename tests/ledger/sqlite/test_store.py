"""The SQLite store: modes from the first byte, clear refusals, and nothing answered when nothing can be stored."""

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from fractions import Fraction

import pytest

from discreet.core.file import state_home
from discreet.ledger import Ledger, NotAVault, Tampered, Unavailable
from discreet.ledger.entry import Head
from discreet.ledger.sqlite import schema
from discreet.ledger.sqlite.store import SqliteStore
from tests.ledger.helpers import charge, epsilon, kinds

posix = pytest.mark.skipif(sys.platform == "win32", reason="file modes and forks are POSIX's")


def never(_draws):
    pytest.fail("answered without a debit")


def pragma(ledger, text):
    with ledger._store._connected() as connection:
        return connection.execute(f"PRAGMA {text}").fetchone()


@posix
def test_only_the_owner_may_read_a_vault_from_its_first_byte_on(path, monkeypatch):
    modes, open_ = [], os.open

    def watched(file, *arguments, **more):
        opened = open_(file, *arguments, **more)
        modes.append(stat.S_IMODE(os.fstat(opened).st_mode))
        return opened

    before = os.umask(0)
    try:
        monkeypatch.setattr(os, "open", watched)
        with Ledger.create(path) as ledger:
            ledger.add_account("people", epsilon(1))
            made = [*path.parent.glob(f"{path.name}*"), *state_home().iterdir()]
            files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in made}
    finally:
        os.umask(before)
    assert modes[0] == 0o600
    beside = {path.name, f"{path.name}-wal", f"{path.name}-shm", f"{path.name}.anchor"}
    assert set(files) == beside | {f"{ledger.vault_id}.anchor"}
    assert set(files.values()) == {0o600}


def test_a_vault_is_flushed_at_every_commit(ledger):
    found = {name: pragma(ledger, name)[0] for name in ("journal_mode", "synchronous", "fullfsync", "foreign_keys")}
    assert found == {"journal_mode": "wal", "synchronous": 2, "fullfsync": 1, "foreign_keys": 1}


def test_a_vault_is_not_made_over_another_file(ledger, path, tmp_path):
    with pytest.raises(NotAVault, match="the file already exists"):
        Ledger.create(path)
    with pytest.raises(NotAVault, match="cannot be made"):
        Ledger.create(tmp_path / "nowhere" / "vault")
    assert ledger.accounts() == ("people",)


def test_a_vault_is_not_made_beside_the_anchor_of_another(ledger, path):
    ledger.close()
    path.unlink()
    with pytest.raises(NotAVault, match="an anchor is left there"):
        Ledger.create(path)
    assert not path.exists()


def test_opening_never_makes_a_vault(path):
    with pytest.raises(NotAVault, match="there is no such file"):
        Ledger.open(path)
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"name,age\nann,40\n", b"SQLite format 3\x00" + b"\x00" * 2000])
def test_a_file_that_is_no_vault_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(NotAVault, match="not a vault"):
        Ledger.open(path)
    assert path.read_bytes() == content


def test_another_database_is_refused(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a)")
    connection.close()
    with pytest.raises(NotAVault, match="not a vault"):
        Ledger.open(path)


def test_a_vault_of_a_later_release_is_refused(ledger, path):
    pragma(ledger, f"user_version = {schema.VERSION + 1}")
    ledger.close()
    with pytest.raises(NotAVault, match=f"its format is {schema.VERSION + 1}"):
        Ledger.open(path)


def test_a_vault_whose_making_was_interrupted_is_refused(path):
    SqliteStore.create(path).close()
    with pytest.raises(NotAVault, match="interrupted"):
        Ledger.open(path)


def test_a_closed_ledger_says_so(ledger):
    ledger.close()
    ledger.close()
    with pytest.raises(Unavailable, match="it was closed"):
        ledger.run(charge(), never)


def test_nothing_is_answered_from_a_vault_that_cannot_be_written(ledger):
    ledger.run(charge("paid"), lambda _: "41")
    pragma(ledger, "query_only = ON")
    with pytest.raises(Unavailable, match="can be read but not written"):
        ledger.run(charge(), never)
    assert ledger.run(charge("paid"), never)[0] == "41"
    pragma(ledger, "query_only = OFF")
    assert ledger.spent("people").loss == Fraction(1, 10)


def test_nothing_is_answered_when_the_disk_is_full(ledger):
    ledger.run(charge("first"), lambda _: "41")
    pragma(ledger, f"max_page_count = {pragma(ledger, 'page_count')[0]}")
    with pytest.raises(Unavailable, match="the disk is full"):
        ledger.run(charge("x" * 100_000), never)
    assert ledger.spent("people").loss == Fraction(1, 10)
    pragma(ledger, "max_page_count = 100000")
    assert ledger.run(charge("x" * 100_000), lambda _: "42")[0] == "42"
    assert ledger.verify().entries == ledger.head[0]


def test_a_disk_that_fills_up_while_working_keeps_the_debit_and_returns_no_answer(ledger):
    def fill(_draws):
        pragma(ledger, f"max_page_count = {pragma(ledger, 'page_count')[0]}")
        return "4" * 100_000

    with pytest.raises(Unavailable, match="the disk is full"):
        ledger.run(charge(), fill)
    assert ledger.answer(charge().key) is None
    pragma(ledger, "max_page_count = 100000")
    assert ledger.run(charge(), lambda _: "42")[0] == "42"
    assert ledger.spent("people").loss == Fraction(1, 10)


def test_a_vault_that_is_locked_for_too_long_is_refused(ledger, path, clock):
    with Ledger.open(path, clock=clock, patience=0.05) as other:
        with ledger._write(), pytest.raises(Unavailable, match="locked it for too long"):
            other.run(charge(), never)
        assert other.run(charge(), lambda _: "41")[0] == "41"


def test_an_anchor_that_cannot_be_written_stops_the_answer_and_keeps_the_charge(ledger, path):
    anchor = path.with_name(path.name + ".anchor")
    anchor.rename(anchor.with_suffix(".away"))
    anchor.mkdir()
    with pytest.raises(Unavailable, match="the anchor"):
        ledger.run(charge(), never)
    anchor.rmdir()
    anchor.with_suffix(".away").rename(anchor)
    assert ledger.run(charge(), lambda _: "41")[0] == "41"
    assert ledger.spent("people").loss == Fraction(1, 10)


@pytest.mark.parametrize("statement", ["UPDATE entries SET body = ''", "DELETE FROM entries"])
def test_the_vault_itself_refuses_to_change_or_remove_entries(ledger, statement):
    with pytest.raises(Tampered), ledger._store._connected() as connection:
        connection.execute(statement)
    assert ledger.verify().entries == 2


def test_a_vault_that_shrinks_under_an_open_ledger_is_refused(ledger):
    ledger._seen = Head(ledger._seen.sequence + 5, "")
    with pytest.raises(Tampered, match="charges are lost"):
        ledger.run(charge(), never)


def test_a_vault_whose_past_was_exchanged_under_an_open_ledger_is_refused(ledger):
    ledger._seen = Head(1, "0" * 64)
    with pytest.raises(Tampered, match="entry 1 is not the one that has been seen") as refused:
        ledger.run(charge(), never)
    assert refused.value.sequence == 1


def test_an_exception_inside_a_transaction_undoes_it(ledger):
    with pytest.raises(KeyError), ledger._write() as transaction:
        raise KeyError(transaction.append("refusal", "{}"))
    assert ledger.head[0] == 2


def test_threads_write_one_after_the_other(ledger):
    threads = [threading.Thread(target=ledger.refused, args=(None, f"q{n}", "why")) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.verify().entries == 10


FORKED = """
import os, sys
from discreet.ledger import Ledger
from tests.ledger.helpers import charge, epsilon, kinds

ledger = Ledger.create(sys.argv[1])
ledger.add_account("people", epsilon(1))
ledger.run(charge("before"), lambda _: "1")
read, write = os.pipe()
child = os.fork()
if child == 0:
    ledger.run(charge("child"), lambda _: "2")
    os.read(read, 1)  # until the parent has closed, and with it, had it shared the file, removed the log
    ledger.run(charge("late"), lambda _: "3")
    os._exit(0)
ledger.run(charge("parent"), lambda _: "4")
while ledger.answer(charge("child").key) is None:
    pass
ledger.close()
os.write(write, b"x")
assert os.waitpid(child, 0)[1] == 0
with Ledger.open(sys.argv[1]) as again:
    print(*(again.answer(charge(q).key) for q in ("before", "child", "late", "parent")), again.spent("people").loss)
    again.verify()
"""


@posix
def test_parent_and_child_of_a_fork_both_keep_their_debits(path):
    ran = subprocess.run([sys.executable, "-c", FORKED, path], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "1 2 3 4 2/5\n"), ran.stderr


def test_a_transaction_that_an_interrupt_left_open_is_undone_by_the_next(path):
    with Ledger.create(path) as ledger:
        left = ledger._write()
        left.__enter__()  # interrupted before the block, with everything kept alive by a traceback
        ledger.refused("ann", "q", "why")
        assert kinds(ledger) == ["vault", "refusal"]
        del left  # what was given up ends nothing of the next one
        assert ledger.verify().entries == 2


def test_an_interrupt_right_after_the_beginning_leaves_no_transaction(path):
    class Interrupted:
        def __init__(self, inner):
            self.inner = inner

        def execute(self, sql, *more):
            found = self.inner.execute(sql, *more)
            if sql.startswith("BEGIN"):
                raise KeyboardInterrupt
            return found

        def __getattr__(self, name):
            return getattr(self.inner, name)

    with Ledger.create(path) as ledger:
        store = ledger._store
        real, store._connection = store._connection, Interrupted(store._connection)
        with pytest.raises(KeyboardInterrupt) as kept:
            ledger.refused("ann", "q", "why")
        assert not real.in_transaction
        store._connection = real
        ledger.refused("ann", "q", "why")
        assert kept
