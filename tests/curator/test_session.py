"""Session: the tables of one grant, and what is left to spend."""

import pandas as pd
import pytest

import discreet as dp
from discreet.core.errors import UnknownName
from discreet.core.schema import between
from discreet.core.unit import row
from discreet.curator.connect import connect
from discreet.ledger.refusals import AccessRefused
from tests.curator.questions import curator_of, opened


@pytest.fixture
def session(tmp_path):
    found = opened(tmp_path, budget=dp.Budget(epsilon=2))
    frame = pd.DataFrame({"x": [1]})
    curator_of(found).register("other", frame, unit=row(), columns={"x": between(0, 1)}, budget=dp.Budget(epsilon=1))
    return found


def test_a_session_has_the_tables_of_its_grant(session):
    assert (session.tables(), session.analyst) == (["visits"], "alice")
    assert repr(session) == "Session('alice', tables=['visits'])"


def test_a_table_outside_the_grant_is_as_unknown_as_one_that_does_not_exist(session):
    texts = []
    for name in ("other", "othor"):
        with pytest.raises(UnknownName) as refused:
            session.table(name)
        texts.append(str(refused.value).replace(name, "NAME"))
    assert texts[0] == texts[1]
    assert "other" not in texts[0]


def test_a_custodian_sees_every_table(session):
    curator = curator_of(session)
    custodian = curator.session(curator.grant("root", role="custodian"))
    assert custodian.tables() == ["other", "visits"]
    assert custodian.table("other").count().release(epsilon=1).receipt["sequence"] > 0


def test_what_remains_is_of_the_grant_and_of_the_table(session):
    curator = curator_of(session)
    bob = curator.session(curator.grant("bob", "visits", budget=dp.Budget(epsilon=1)))
    bob.table("visits").count().release(epsilon=0.5)
    left = {each.scope: each.filter.remaining.loss for each in bob.remaining()}
    assert left == {"grant": 0.5, "account": 1.5}
    assert [each.scope for each in session.remaining()] == ["account"]


def test_a_cap_refuses_what_the_table_would_still_pay(session):
    curator = curator_of(session)
    bob = curator.session(curator.grant("bob", "visits", budget=dp.Budget(epsilon=1)))
    with pytest.raises(dp.BudgetExceeded) as refused:
        bob.table("visits").count().release(epsilon=1.5)
    assert (refused.value.requested, refused.value.remaining, refused.value.difference) == (1.5, 1, 0.5)
    assert session.table("visits").count().release(epsilon=1.5).value() is not None


def test_a_session_closes_its_vault(session, tmp_path):
    token = curator_of(session).grant("carol", "visits")
    with connect(curator_of(session).path, token) as opened_again:
        assert opened_again.tables() == ["visits"]
    with pytest.raises(dp.Refusal):
        opened_again.table("visits").count().release(epsilon=1)


def test_a_wrong_token_opens_nothing(session):
    with pytest.raises(AccessRefused):
        connect(curator_of(session).path, "nobody_secret")


def test_what_remains_is_said_in_a_line_for_each_limit(tmp_path):
    with dp.Curator(tmp_path / "vault.discreet") as curator:
        curator.register(
            "t", {"x": [1, 2]}, unit=dp.row(), columns={"x": dp.between(0, 9)}, budget=dp.Budget(epsilon=4)
        )
        session = curator.session(curator.grant("eve", "t", budget=dp.Budget(epsilon=2)))
        session.table("t").count().release(epsilon=1)
        left = session.remaining()
    assert str(left) == ("the budget of t: 75% left (3 of 4 epsilon)\nyour cap of t: 50% left (1 of 2 epsilon)")
    assert len(left) == 2
    assert left[1].scope == "grant"


def test_a_table_is_read_once_for_every_state_of_the_vault(session, monkeypatch):
    curator, read = curator_of(session), []
    read_of = type(curator).table
    monkeypatch.setattr(type(curator), "table", lambda self, name: read.append(name) or read_of(self, name))
    visits = session.table("visits")
    for _ in range(5):
        assert visits.columns.keys() == session.table("visits").columns.keys()
    assert read == ["visits"]
    visits.count().release(epsilon=0.1)
    assert visits.columns
    assert len(read) <= 4  # the debit, and its answer, are states of their own


def test_what_a_custodian_declares_anew_or_revokes_is_seen_at_the_next_touch(tmp_path):
    with dp.Curator(tmp_path / "vault.discreet") as curator:
        curator.register(
            "t", {"x": [1, 2]}, unit=dp.row(), columns={"x": dp.between(0, 9)}, budget=dp.Budget(epsilon=4)
        )
        session = curator.session(curator.grant("eve", "t"))
        table = session.table("t")
        assert table.columns["x"].bounds == (0, 9)
        curator.declare("t", unit=dp.row(), columns={"x": dp.between(0, 5)})
        assert table.columns["x"].bounds == (0, 5)
        curator.revoke("eve")
        with pytest.raises(AccessRefused, match="revoked"):
            _ = table.columns


def test_an_answer_is_kept_for_the_state_of_the_vault_in_which_it_was_replayed(session):
    desk, answer = session.desk, object()
    desk.admit()
    before = desk.known
    curator_of(session).grant("bob", "visits")  # another state of the vault
    desk.admit()
    desk.keep("the question", {}, answer, before)
    assert desk.replay("the question") is None
    desk.keep("the question", {}, answer, desk.known)
    assert desk.replay("the question") is answer
