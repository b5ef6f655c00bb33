"""The PostgreSQL store: durable or refused, one writer at a time, secrets in no log, clear refusals, survived forks."""

import os
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from fractions import Fraction

import pytest

from discreet.ledger import Frozen, Ledger, NotAVault, Tampered, Unavailable
from discreet.ledger.entry import Head
from discreet.ledger.place import place_of
from discreet.ledger.postgres import schema as postgres_schema
from discreet.ledger.postgres.schema import VERSION
from discreet.ledger.postgres.store import PostgresStore
from discreet.ledger.store import Debit
from tests.ledger.forging import forger
from tests.ledger.helpers import charge, epsilon
from tests.ledger.sqlite.test_store import FORKED, posix
from tests.ledger.stores import POSTGRES, connected, homes, new_url
from tests.postgres import shared

pytestmark = POSTGRES


@pytest.fixture
def store():
    return "postgres"


def never(_draws):
    pytest.fail("answered without a debit")


@contextmanager
def someone(path):
    """Someone else's connection to the vault's schema."""
    connection, schema = connected(path)
    with connection:
        connection.execute(f"SET search_path = {schema}")
        yield connection


def setting(ledger, name):
    with ledger._store.write() as transaction:
        return transaction.ask(f"SELECT current_setting('{name}')")[0][0]


def test_a_commit_waits_for_the_disk_whatever_the_role_prefers(ledger, path):
    with someone(path) as connection:
        connection.execute("ALTER ROLE postgres SET synchronous_commit = off")
        try:
            with Ledger.open(path) as other:
                assert setting(other, "synchronous_commit") == "on"
            connection.execute("ALTER ROLE postgres SET synchronous_commit = remote_apply")
            with Ledger.open(path) as other:
                assert setting(other, "synchronous_commit") == "remote_apply"
        finally:
            connection.execute("ALTER ROLE postgres RESET synchronous_commit")


@pytest.mark.parametrize("name", ["fsync", "full_page_writes"])
def test_a_server_that_could_lose_debits_is_refused(ledger, path, name):
    with someone(path) as connection:
        connection.execute(f"ALTER SYSTEM SET {name} = off")
        connection.execute("SELECT pg_reload_conf()")
        try:
            while connection.execute(f"SHOW {name}").fetchone() == ("on",):
                pass
            with pytest.raises(Unavailable, match=f"runs with {name} off") as refused:
                Ledger.open(path)
            assert refused.value.value == f"{name}=off"
        finally:
            connection.execute(f"ALTER SYSTEM RESET {name}")
            connection.execute("SELECT pg_reload_conf()")
            while connection.execute(f"SHOW {name}").fetchone() == ("off",):
                pass
    with Ledger.open(path) as again:
        assert again.accounts() == ("people",)


def test_a_database_that_cannot_hold_every_text_is_refused(path):
    with someone(path) as connection:
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(Unavailable, match="which cannot hold every text"):
        Ledger.create(path.replace("/postgres?", "/latin?"))


def test_a_vault_is_not_made_over_another_and_opening_never_makes_one(ledger, path):
    with pytest.raises(NotAVault, match="there is a schema"):
        Ledger.create(path)
    with pytest.raises(NotAVault, match="the database has no schema 'none'"):
        Ledger.open(path + "none&schema=none")
    with someone(path) as connection:
        connection.execute("CREATE SCHEMA other_thing")
    with pytest.raises(NotAVault, match="is no vault"):
        Ledger.open(path.rpartition("=")[0] + "=other_thing")
    assert ledger.accounts() == ("people",)


def test_a_vault_of_a_later_release_or_half_made_is_refused(path):
    PostgresStore.create(place_of(path)).close()
    with pytest.raises(NotAVault, match="interrupted"):
        Ledger.open(path)
    with someone(path) as connection:
        connection.execute(f"UPDATE latch SET format = {VERSION + 1}")
    with pytest.raises(NotAVault, match=f"its format is {VERSION + 1}"):
        Ledger.open(path)


def test_making_that_fails_leaves_no_schema(path, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="the anchor"):
        Ledger.create(path, anchor=tmp_path / "file" / "anchor")
    assert not Ledger.exists(path)


def test_two_that_make_the_same_vault_at_once_do_not_disturb_each_other(path):
    results = []

    def make():
        try:
            Ledger.create(path).close()
            results.append("made")
        except NotAVault:
            results.append("refused")

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["made", "refused", "refused", "refused"]
    with Ledger.open(path) as ledger:
        assert ledger.verify().entries == 1


def test_a_schema_may_have_any_name(path):
    url = path.rpartition("=")[0] + "=it%27s%20%22my%22%20vault%3B--%20%C3%A4%25s"
    with Ledger.create(url) as ledger:
        ledger.add_account("people", epsilon(1))
        assert ledger.run(charge(), lambda _: "41")[0] == "41"
        assert ledger.verify().entries == 4
        assert ledger.place.schema == 'it\'s "my" vault;-- ä%s'


def test_the_keys_of_a_vault_reach_no_log_of_the_server(tmp_path):
    from psycopg import connect

    url = shared().database()
    with connect(shared().url, autocommit=True) as connection:
        name = url.partition("?")[0].rpartition("/")[2]
        for words in ("log_statement = 'all'", "log_parameter_max_length = -1", "log_min_duration_statement = 0"):
            connection.execute(f"ALTER DATABASE {name} SET {words}")
    with Ledger.create(url, anchor=tmp_path / "anchor") as ledger:
        ledger.add_account("people", epsilon(1))
        ledger.run(charge("asked once"), lambda _: "41")
        ledger.put("table", "visits", {}, private={"stamp": "of the rows"})
        ledger.put("table", "visits", {}, private={"stamp": "of the rows"})
        ledger.verify()
        secrets = [ledger._secret.value, ledger._anchors.signer._private, ledger.secret("order")]
    log = shared().log
    assert "asked once" in log  # the log does show what statements are given
    assert "of the rows" not in log
    for secret in secrets:
        assert secret.hex() not in log
        assert repr(secret) not in log


def test_nobody_else_may_read_the_vault(ledger, path):
    import psycopg

    with someone(path) as connection:
        connection.execute("CREATE ROLE stranger LOGIN")
    try:
        with pytest.raises(Unavailable, match="may not do that"):
            Ledger.open(path.replace("postgres@", "stranger@"))
        with someone(path.replace("postgres@", "stranger@")) as connection:
            for table in postgres_schema.TABLES:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(f"SELECT * FROM {ledger.place.schema}.{table}")
    finally:
        with someone(path) as connection:
            connection.execute("DROP ROLE stranger")


def test_a_closed_ledger_says_so(ledger):
    ledger.close()
    ledger.close()
    with pytest.raises(Unavailable, match="it was closed"):
        ledger.run(charge(), never)


def test_nothing_is_answered_from_a_vault_that_cannot_be_written(ledger, path):
    ledger.run(charge("paid"), lambda _: "41")
    with someone(path) as connection:
        connection.execute("ALTER ROLE postgres SET default_transaction_read_only = on")
        try:
            with Ledger.open(path) as other:
                with pytest.raises(Unavailable, match="can be read but not written"):
                    other.run(charge(), never)
                assert other.run(charge("paid"), never)[0] == "41"
        finally:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute("ALTER ROLE postgres RESET default_transaction_read_only")
    assert ledger.spent("people").loss == Fraction(1, 10)


def test_a_vault_that_is_locked_for_too_long_is_refused(ledger, path, clock):
    with Ledger.open(path, clock=clock, patience=0.05) as other:
        with ledger._write(), pytest.raises(Unavailable, match="locked it for too long"):
            other.run(charge(), never)
        assert other.run(charge(), lambda _: "41")[0] == "41"


def test_readers_wait_for_no_writer_and_see_one_state(ledger, path, clock):
    with Ledger.open(path, clock=clock) as other, other._read() as look:
        before = look.head()
        with ledger._write() as transaction:
            transaction.append("refusal", "{}")
            assert look.entry(before.sequence + 1) is None
        assert look.entry(before.sequence + 1) is None
        assert [*look.entries(before.sequence)] == []


def test_an_exception_inside_a_transaction_undoes_it(ledger):
    with pytest.raises(KeyError), ledger._write() as transaction:
        raise KeyError(transaction.append("refusal", "{}"))
    assert ledger.head[0] == 2


def test_a_failed_transaction_is_never_taken_for_a_committed_one(ledger):
    from psycopg import Error

    def write():
        with ledger._write() as transaction:
            transaction.append("refusal", "{}")
            assert transaction._raw.ask("SELECT 1") == [(1,)]  # which sends the entry, too
            with suppress(Error):
                transaction._raw.ask("SELECT 1 / 0")

    with pytest.raises(Unavailable, match="SQLSTATE 25P02"):
        write()
    assert ledger.head[0] == 2


def test_a_latch_without_its_row_lets_nobody_write(ledger, path):
    with someone(path) as connection:
        connection.execute("DELETE FROM latch")
    with pytest.raises(Tampered, match="keeps writers apart"):
        ledger.run(charge(), never)


@pytest.mark.parametrize(
    "statement", ["UPDATE entries SET body = ''", "DELETE FROM entries", "TRUNCATE entries CASCADE"]
)
def test_the_vault_itself_refuses_to_change_or_remove_entries(ledger, path, statement):
    from psycopg import Error

    with someone(path) as connection, pytest.raises(Error, match="never changed"):
        connection.execute(statement)
    assert ledger.verify().entries == 2


def test_the_vault_itself_refuses_entries_out_of_order(ledger, path):
    from psycopg import Error

    for number in (1, 2, 4, 0, -1):
        with someone(path) as connection, pytest.raises(Error):
            connection.execute(f"INSERT INTO entries VALUES ({number}, 'refusal', '{{}}', '', '')")
    assert ledger.verify().entries == 2


def test_a_vault_that_shrinks_under_an_open_ledger_is_refused(ledger):
    ledger._seen = Head(ledger._seen.sequence + 5, "")
    with pytest.raises(Tampered, match="charges are lost"):
        ledger.run(charge(), never)


def test_a_failover_that_lost_entries_is_refused_by_an_open_ledger_even_if_others_have_written_since(ledger):
    ledger._seen = Head(1, "0" * 64)
    with pytest.raises(Tampered, match="entry 1 is not the one that has been seen"):
        ledger.run(charge(), never)
    assert ledger.spent("people").loss == 0


def test_every_text_comes_back_as_it_was_stored(ledger):
    texts = ["\0", "\1", "\2", "\0\1\2", "\1\1", "a\0b", "ä\U0001f600\u0301", "'\"\\;--%s$1", "\x7f\n"]
    for number, text in enumerate(texts):
        assert ledger.run(charge(f"{number}{text}", Fraction(1, 100), key=text), lambda _, text=text: text)[0] == text
        assert ledger.answer(text) == text
    with ledger._read() as look:
        assert [row.key for row in look.all(Debit)] == sorted(texts, key=str.encode)
    assert ledger.verify().entries == ledger.head[0]
    assert ledger.answer("\ud800") is None


def test_long_tables_are_read_in_pages(ledger, monkeypatch):
    monkeypatch.setattr("discreet.ledger.postgres.transaction._PAGE", 3)
    for number in range(7):
        ledger.run(charge(f"q{number}"), lambda _: "41")
    assert len([*ledger.entries()]) == 16
    with ledger._read() as look:
        assert [entry.sequence for entry in look.entries(after=2, limit=5)] == [3, 4, 5, 6, 7]
    assert ledger.verify().entries == 16


def test_a_name_too_long_for_an_index_is_refused_and_nothing_is_stored(ledger):
    long = os.urandom(5000).hex()
    with pytest.raises(Unavailable, match="larger than a vault can store"):
        ledger.run(charge(key=long), never)
    assert ledger.spent("people").loss == 0


def test_threads_write_one_after_the_other(ledger):
    threads = [threading.Thread(target=ledger.refused, args=(None, f"q{n}", "why")) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.verify().entries == 10


@posix
def test_parent_and_child_of_a_fork_both_keep_their_debits(path, tmp_path):
    words = [sys.executable, "-W", "error", "-c", FORKED, path]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60, env=os.environ | homes(tmp_path))
    assert (ran.returncode, ran.stdout) == (0, "1 2 3 4 2/5\n"), ran.stderr


def test_another_machine_has_an_anchor_of_its_own_from_its_first_look_on(ledger, path, tmp_path, monkeypatch):
    ledger.run(charge("q"), lambda _: "41")
    assert ledger.verify().anchor == 4
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other machine"))
    with Ledger.open(path) as other:
        assert [entry.kind for entry in other.entries()][-1] == "anchor"  # the vault is new here, and says so
        assert other.verify().anchor == 5
        other.run(charge("r"), lambda _: "41")
        assert other.verify().anchor == 7
    monkeypatch.undo()
    assert ledger.verify().anchor == 4  # this one vouches for what it has seen itself
    ledger.run(charge("s"), lambda _: "41")
    assert ledger.verify().anchor == 9


@posix
def test_the_anchor_lies_in_a_folder_of_its_owner(ledger):
    anchor = ledger._anchors.path
    assert stat.S_IMODE(anchor.stat().st_mode) == 0o600
    assert stat.S_IMODE(anchor.parent.stat().st_mode) == 0o700


def test_a_shortened_database_is_refused_and_an_older_one_is_frozen_by_a_machine_that_saw_more(ledger, path):
    with forger(path) as forge:
        before = forge.all()
    ledger.run(charge("q"), lambda _: "41")
    ledger.close()
    with forger(path) as forge:
        for table in ("answers", "tallies", "limits", "debits", "entries"):
            forge.execute(f"DELETE FROM {table} WHERE sequence > 2")
    with pytest.raises(Tampered, match="made for another end"):
        Ledger.open(path)
    with forger(path) as forge:
        forge.restore(before)
    with Ledger.open(path) as old:
        assert "it ends at entry 2, and a head was signed at entry 4" in old.frozen
        with pytest.raises(Frozen, match="charges are lost"):
            old.run(charge("r"), lambda _: "41")


def test_a_place_for_the_anchor_can_be_given_and_one_that_is_taken_is_refused(path, tmp_path):
    anchor = tmp_path / "kept" / "anchor"
    with Ledger.create(path, anchor=anchor) as ledger:
        assert ledger._anchors.path == anchor
    assert anchor.stat().st_size > 0
    with Ledger.open(path, anchor=str(anchor)) as ledger:
        assert ledger.verify().anchor == 1
    with pytest.raises(NotAVault, match="an anchor is left there"):
        Ledger.create(new_url(), anchor=anchor)


def test_what_is_shown_of_a_ledger_has_no_password(path):
    secret = path.replace("postgres@", "postgres:hunter2@")
    with Ledger.create(secret) as ledger:
        assert "hunter2" not in repr(ledger) + str(ledger.place) + repr(ledger.place)
