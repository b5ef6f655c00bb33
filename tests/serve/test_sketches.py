"""Stores: the same promises from SQLite and from PostgreSQL."""

import sqlite3
import threading
from contextlib import closing

import pytest

from discreet import local
from discreet.core.errors import MissingExtra, Refusal
from discreet.local.collection import Collection, new_key, read, sign
from discreet.serve.postgres_sketches import PostgresSketches
from discreet.serve.sketches import BatchOutcome, OtherCollection, Rejections, StoreUnavailable, key_hash
from discreet.serve.sqlite_sketches import SqliteSketches
from tests.postgres import shared
from tests.serve.collections import COLLECTION, PROTOCOL, postgres, reports, sqlite

pytestmark = pytest.mark.xdist_group("collector")
KEY = bytes(range(16))


@pytest.fixture(params=["sqlite", "postgres"])
def opens(request, tmp_path):
    """A way to open one and the same store, again and again."""
    opened = []
    url = shared().database() if request.param == "postgres" else None

    def open_again():
        opened.append(sqlite(tmp_path) if url is None else postgres(url))
        return opened[-1]

    yield open_again
    for store in opened:
        store.disconnect()


def sketch(count):
    return PROTOCOL.aggregate(reports(count))


def test_what_was_added_is_there_after_opening_again(opens):
    made = sketch(20)
    store = opens()
    assert store.add(1, KEY, made) is BatchOutcome.ADDED
    store.reject("malformed", 3)
    store.disconnect()
    again = opens()
    assert again.sketch(1) == made
    assert again.sketch(0).reports == 0
    assert again.rejected() == {"malformed": 3}
    assert again.add(1, KEY, made) is BatchOutcome.REPLAYED
    assert again.sketch(1) == made


def test_rejections_of_several_runs_add_up(opens):
    for _ in range(2):
        store = opens()
        store.reject("closed", 2)
        store.reject("malformed")
        store.disconnect()
    assert opens().rejected() == {"closed": 4, "malformed": 2}


def test_two_stores_over_one_place_count_together(opens):
    first, second = opens(), opens()
    made = [sketch(5), sketch(7)]
    assert first.add(0, b"a" * 16, made[0]) is BatchOutcome.ADDED
    assert second.add(0, b"b" * 16, made[1]) is BatchOutcome.ADDED
    assert second.add(0, b"a" * 16, made[0]) is BatchOutcome.REPLAYED
    assert first.sketch(0) == second.sketch(0) == made[0] + made[1]


def test_threads_that_add_at_once_lose_nothing_and_repeat_nothing(opens):
    stores, outcomes = [opens(), opens()], []
    made = sketch(3)

    def work(store):
        outcomes.extend(store.add(0, number.to_bytes(16, "big"), made) for number in range(20))

    threads = [threading.Thread(target=work, args=(stores[number % 2],)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(BatchOutcome.ADDED) == 20
    assert outcomes.count(BatchOutcome.REPLAYED) == 60
    assert stores[0].sketch(0).reports == 60


def test_a_closed_epoch_takes_no_more(opens):
    store = opens()
    store.close(1)
    assert store.add(1, KEY, sketch(5)) is BatchOutcome.CLOSED
    assert store.add(0, KEY, sketch(5)) is BatchOutcome.ADDED
    assert store.closed() == {1}


def test_closing_the_last_epoch_forgets_all_keys(opens):
    store = opens()
    store.add(0, KEY, sketch(5))
    store.close()
    assert store.closed() == {0, 1, 2}
    assert store.add(0, b"n" * 16, sketch(5)) is BatchOutcome.CLOSED
    assert opens().sketch(0).reports == 5


def test_the_file_has_neither_keys_nor_reports_nor_senders(tmp_path):
    store, made = sqlite(tmp_path), reports(500)
    store.add(0, KEY, PROTOCOL.aggregate(made))
    store.disconnect()
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert KEY not in content
    assert bytes(made)[:64] not in content
    with sqlite3.connect(tmp_path / "collector.sqlite") as connection:
        tables = {
            name: [column[1] for column in connection.execute(f"PRAGMA table_info({name})")]
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
    connection.close()
    assert tables == {
        "about": ["name", "value"],
        "sketch": ["epoch", "reports", "rejected", "counts"],
        "closed": ["epoch"],
        "seen": ["hash"],
        "rejected": ["reason", "count"],
    }


def test_after_closing_no_hash_and_no_secret_is_left_in_the_file(tmp_path):
    store = sqlite(tmp_path)
    store.add(0, KEY, sketch(5))
    store.close()
    store.disconnect()
    with sqlite3.connect(tmp_path / "collector.sqlite") as connection:
        assert connection.execute("SELECT count(*) FROM seen").fetchone() == (0,)
        assert connection.execute("SELECT name FROM about").fetchall() == [("spec",)]
    connection.close()


def test_only_the_owner_may_read_the_file(tmp_path):
    sqlite(tmp_path).disconnect()
    assert (tmp_path / "collector.sqlite").stat().st_mode & 0o777 == 0o600


def other():
    return read(sign(Collection("another", local.unary(k=9, epsilon=1)), new_key()))


def test_a_file_of_another_collection_is_refused(tmp_path):
    sqlite(tmp_path).disconnect()
    with pytest.raises(OtherCollection, match="another collection"):
        SqliteSketches(tmp_path / "collector.sqlite", other())


def test_collections_share_a_database_without_meeting():
    url = shared().database()
    one, two = PostgresSketches(url, COLLECTION), PostgresSketches(url, other())
    one.add(0, KEY, sketch(5))
    assert two.sketch(0).reports == 0
    assert two.add(0, KEY, two.sketch(0)) is BatchOutcome.ADDED
    one.disconnect()
    two.disconnect()


def test_a_file_that_is_not_there_or_there_already_is_refused(tmp_path):
    with pytest.raises(Refusal, match="no such file"):
        SqliteSketches(tmp_path / "none.sqlite", COLLECTION)
    sqlite(tmp_path).disconnect()
    with pytest.raises(Refusal, match="already exists"):
        SqliteSketches.create(tmp_path / "collector.sqlite", COLLECTION)


def test_a_file_that_is_locked_is_unavailable_and_nothing_is_lost(tmp_path):
    sqlite(tmp_path).disconnect()
    store = SqliteSketches(tmp_path / "collector.sqlite", COLLECTION, patience=0.05)
    blocker = sqlite3.connect(tmp_path / "collector.sqlite", isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    store.reject("malformed", 2)
    with pytest.raises(StoreUnavailable, match="try again"):
        store.add(0, KEY, sketch(5))
    blocker.execute("ROLLBACK")
    blocker.close()
    assert store.add(0, KEY, sketch(5)) is BatchOutcome.ADDED
    assert store.rejected() == {"malformed": 2}
    store.disconnect()


def test_a_database_that_does_not_answer_is_unavailable():
    with pytest.raises(StoreUnavailable, match="database"):
        PostgresSketches("postgresql://nobody@127.0.0.1:1/none?connect_timeout=1", COLLECTION)


def test_a_driver_that_is_not_installed_is_refused_with_the_pip_line(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"pip install 'discreet\[postgres\]'"):
        PostgresSketches("postgresql://x", COLLECTION)


def test_rejections_that_were_not_written_wait_for_the_next_time():
    waiting = Rejections()
    waiting.add("closed", 2)
    assert waiting.rows() == [("closed", 2)]
    waiting.over(written=False)
    waiting.add("closed", 1)
    assert waiting.rows() == [("closed", 3)]
    waiting.over(written=True)
    assert not waiting


@pytest.mark.soak
def test_a_database_that_crashes_loses_no_batch_that_was_acknowledged():
    from tests.postgres import Server

    server = Server()
    store, counted = PostgresSketches(server.database(), COLLECTION), 0
    for number in range(30):
        if number % 10 == 5:
            server.crash()
            with pytest.raises(StoreUnavailable):
                store.add(0, number.to_bytes(16, "big"), sketch(3))
            server.restart()
        assert store.add(0, number.to_bytes(16, "big"), sketch(3)) is BatchOutcome.ADDED
        counted += 3
    assert store.sketch(0).reports == counted
    store.disconnect()
    server.close()


def test_what_is_forgotten_is_in_no_file_even_while_the_store_is_open(tmp_path):
    store = sqlite(tmp_path)
    secret, keys = store._secret, [bytes([at]) * 16 for at in range(40)]
    for key in keys:
        store.add(0, key, sketch(1))
    store.close()
    hashes = [key_hash(secret, key) for key in keys]
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    store.disconnect()
    assert not any(each in data for each in (secret, *hashes))


class Full:
    """A connection to a disk that is full when it comes to it."""

    def __init__(self, connection):
        self.connection = connection

    def execute(self, statement, *values):
        if statement == "COMMIT":
            raise sqlite3.OperationalError
        return self.connection.execute(statement, *values)

    def __getattr__(self, name):
        return getattr(self.connection, name)


def test_a_closing_that_failed_goes_on_to_know_repeated_batches(tmp_path):
    store = sqlite(tmp_path)
    store.add(0, KEY, sketch(3))
    whole, store._connection = store._connection, Full(store._connection)
    with pytest.raises(StoreUnavailable):
        store.close()
    store._connection = whole
    assert store.add(0, KEY, sketch(3)) == BatchOutcome.REPLAYED
    store.disconnect()


@pytest.mark.parametrize("damage", [lambda _: b"", lambda _: b"no database at all" * 300, lambda data: data[:4096]])
def test_a_damaged_file_is_refused_in_words(tmp_path, damage):
    sqlite(tmp_path).disconnect()
    (file,) = tmp_path.glob("*.sqlite")
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(Refusal, match="damaged"):
        SqliteSketches(file, COLLECTION).sketch(0)


def test_counts_of_another_length_are_refused(tmp_path):
    store = sqlite(tmp_path)
    store.add(0, b"k" * 16, PROTOCOL.aggregate(reports(9)))
    store.disconnect()
    (file,) = tmp_path.glob("*.sqlite")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE sketch SET counts = x'0011'")
    with pytest.raises(Refusal, match="damaged"):
        SqliteSketches(file, COLLECTION).sketch(0)


def test_the_hash_of_a_senders_key_depends_on_the_secret_of_the_store():
    one, other = (key_hash(bytes([secret]) * 32, b"a sender's key") for secret in (1, 2))
    assert one != other
    assert one == key_hash(bytes([1]) * 32, b"a sender's key")
