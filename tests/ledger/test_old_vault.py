"""An old vault opens, answers and verifies in this release's format; a newer one is refused."""

import sqlite3

import pytest

import discreet as dp
from discreet.answers.answer import Answer
from discreet.core.errors import Refusal
from discreet.ledger import Ledger, NotAVault, Unavailable
from discreet.ledger.postgres import schema as postgres_schema
from discreet.ledger.sqlite import schema
from discreet.ledger.store import Limit
from tests.ledger.old_vault import GOLDEN, USED, old_vault
from tests.ledger.stores import connected

EVERY_STORE = True


@pytest.fixture
def place(store, tmp_path, path):  # `path` sets the folders of this machine
    return old_vault(store, tmp_path)


def version_of(store, place):
    if store == "sqlite":
        connection = sqlite3.connect(place)
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.close()
        return found
    connection, name = connected(place)
    with connection:
        return connection.execute(f"SELECT format FROM {name}.latch").fetchone()[0]


def test_an_old_vault_replays_answers_charges_and_verifies(store, place):
    assert version_of(store, place) == 2
    with dp.Curator(place) as curator:
        assert next(curator.ledger.entries()).body == GOLDEN["rows"]["entries"][0][2]
        session = curator.session(GOLDEN["token"])
        counts = session.table("visits").group_by("ward").agg(n=dp.count())
        again = counts.release(epsilon=0.25)
        assert (again.receipt["replayed"], again.columns) == (True, Answer.from_json(GOLDEN["answer"]).columns)
        new = session.table("visits").agg(n=dp.count()).release(epsilon=0.25)
        assert not new.receipt["replayed"]
        assert curator.verify().vault == GOLDEN["vault"]
    assert version_of(store, place) == (schema if store == "sqlite" else postgres_schema).VERSION == 4


def test_what_an_old_vault_has_spent_stays_spent(place):
    stored = {tuple(row[:3]): row[4] for row in GOLDEN["rows"]["limits"]}
    with Ledger.open(place) as ledger:
        with ledger._read() as look:
            assert {(each.account, each.analyst, each.period): each.state for each in look.all(Limit)} == stored
        assert len(ledger.unsettled()) == 1


def test_an_old_vault_that_cannot_be_written_is_refused_with_the_fix(tmp_path, path, monkeypatch):
    place = old_vault("sqlite", tmp_path)
    connect = sqlite3.connect
    monkeypatch.setattr(
        "discreet.ledger.sqlite.store.sqlite3.connect",
        lambda name, **more: connect(name.replace("mode=rw", "mode=ro"), **more),
    )
    with pytest.raises(Unavailable, match="can be read but not written"):
        Ledger.open(place)


def test_a_vault_of_long_use_answers_refuses_and_goes_on_as_before(store, tmp_path, path):
    place = old_vault(store, tmp_path, USED)
    with dp.Curator(place) as curator:
        before = curator.ledger.spent("visits")
        session = curator.session(USED["token"])
        visits = session.table("visits")
        report = visits.group_by("ward").agg(n=dp.count(), cost=dp.mean("cost"))
        again = report.release(epsilon=0.5)
        assert (again.receipt["replayed"], again.columns) == (True, Answer.from_json(USED["answer"]).columns)
        assert visits.agg(n=dp.count()).release(epsilon=0.25, delta=1e-7).receipt["replayed"]
        assert visits.synthesize("independent", epsilon=0.5, columns=["ward"]).to_json() == USED["synthetic"]
        assert curator.ledger.spent("visits") == before
        assert [grant.revoked for grant in curator.ledger.grants() if grant.analyst == "bob"] == [True]
        with pytest.raises(Refusal, match="your cap of visits"):
            visits.agg(n=dp.count()).release(epsilon=50)
        watch = session.watch(visits, "above_threshold", threshold=1000, epsilon=0.125)
        assert watch.look().number == 1
        curator.rotate_secret()
        assert report.release(epsilon=0.5).receipt["replayed"]
        assert curator.verify().vault == USED["vault"]


def test_a_vault_of_a_newer_format_is_refused_and_left_as_it_is(store, place):
    Ledger.open(place).close()
    newer = schema.VERSION + 1
    if store == "sqlite":
        connection = sqlite3.connect(place)
        connection.execute(f"PRAGMA user_version = {newer}")
        connection.close()
    else:
        connection, name = connected(place)
        with connection:
            connection.execute(f"UPDATE {name}.latch SET format = {newer}")
    with pytest.raises(NotAVault, match=rf"its format is {newer}, and this release reads format {schema.VERSION}"):
        Ledger.open(place)
    assert version_of(store, place) == newer
