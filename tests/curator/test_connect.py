"""connect: an analyst's session checks the tail of a vault; the whole is verified when its custodian opens it."""

from datetime import UTC, datetime, timedelta

import pytest

import discreet as dp
from discreet.ledger import Ledger, Tampered
from discreet.ledger.recovery.restore import restore
from tests.ledger.helpers import surgery

COLUMNS = {"age": dp.between(0, 110)}


@pytest.fixture
def vault(tmp_path):
    """A vault that was made, and so last verified, the day before yesterday; and a token."""
    path = tmp_path / "vault.discreet"
    Ledger.create(path, clock=lambda: datetime.now(UTC) - timedelta(days=2)).close()
    with dp.Curator(path, verify_when_due=False) as curator:
        rows = {"p": [1, 2], "age": [30, 40]}
        unit = dp.person("p", max_rows=1)
        curator.register("people", rows, unit=unit, columns=COLUMNS, budget=dp.Budget(epsilon=1))
        token = curator.grant("ann", "people")
        for _ in range(70):  # so that what was declared is no part of the tail
            curator.ledger.refused("ann", "SELECT", "a test")
    return path, token


def test_a_custodian_verifies_the_whole_when_that_is_due_and_an_analyst_does_not(vault):
    path, token = vault
    with surgery(path) as connection:
        connection.execute("UPDATE entries SET body = replace(body, 'ann', 'eve') WHERE kind = 'grant'")
    dp.connect(path, token).close()
    with pytest.raises(Tampered, match="its hash is not that of what it says"):
        dp.Curator(path)


def test_what_was_verified_today_is_not_verified_again(vault, monkeypatch):
    path, _ = vault
    dp.Curator(path).close()
    monkeypatch.setattr("discreet.ledger.vault.verify.verify", lambda *_, **__: pytest.fail("verified again"))
    dp.Curator(path).close()


def test_a_correction_of_the_clock_is_the_custodians(vault):
    path, _ = vault
    with Ledger.open(path, clock=lambda: datetime(2099, 1, 1, tzinfo=UTC)) as ledger:
        ledger.refused("ann", "SELECT", "a test")
    with dp.Curator(path) as curator:
        before, after = curator.correct_clock()
        assert before.year == 2099
        assert after.year < 2099
        assert curator.correct_clock() is None


def test_an_analyst_shows_their_receipts_and_an_older_copy_is_frozen_for_everybody(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    place = tmp_path / "vault.discreet"
    with dp.Curator(place) as curator:
        curator.register(
            "visits",
            {"ward": ["A", "B"]},
            unit=dp.row(),
            columns={"ward": dp.one_of("A", "B")},
            budget=dp.Budget(epsilon=1),
        )
        token = curator.grant("alice", "visits")
        curator.backup(tmp_path / "night")
    with dp.connect(place, token) as session:
        answer = session.table("visits").agg(n=dp.count()).release(epsilon=0.5)
        assert session.show(answer) is None
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another machine"))
    copy = tmp_path / "copy.discreet"
    restore(tmp_path / "night", copy)
    with dp.connect(copy, token, receipts=[answer]) as session:
        question = session.table("visits").agg(n=dp.count())
        assert question.preview(epsilon=0.5)
        with pytest.raises(dp.Refusal, match="frozen"):
            question.release(epsilon=0.5)
    with dp.Curator(copy) as curator:
        assert "charges are lost" in curator.frozen
