"""Exchanging the secret with tables in the vault: another order of rows, the same answers, and the same people."""

import pandas as pd
import pytest

import discreet as dp
from discreet.core.errors import Refusal
from discreet.curator.vault_desk import VaultDesk
from discreet.ledger.refusals import Conflict, QuestionFailed

ROWS = pd.DataFrame({"id": [each // 20 for each in range(400)], "amount": [each % 20 for each in range(400)]})
TERMS = {"unit": dp.person("id", max_rows=2, bound="table"), "columns": {"amount": dp.between(0, 19)}}


@pytest.fixture
def curator(tmp_path):
    with dp.Curator(tmp_path / "vault.discreet") as found:
        found.register("visits", ROWS, budget=dp.Budget(epsilon=10**9), **TERMS)
        yield found


def exact(session, fresh="a"):
    """The sum of the rows that are kept, as good as exactly."""
    total = session.table("visits").agg(total=dp.sum("amount"))
    return round(total.release(epsilon=10**5, fresh=fresh).value())


def test_a_settled_answer_is_replayed_and_new_ones_are_of_rows_in_another_order(curator):
    with dp.connect(curator.path, curator.grant("alice", "visits")) as session:
        before, replayed = exact(session), exact(session)
        assert [*curator.ledger.folder.glob("*.kept.parquet")]
        assert curator.rotate_secret().questions == 0
        assert [*curator.ledger.folder.glob("*.kept.parquet")] == []
        assert exact(session) == replayed == before
        assert exact(session, fresh="b") != before  # of 20 people with 20 rows each, two of them each
        assert len([*curator.ledger.folder.glob("*.kept.parquet")]) == 1


def test_a_copy_of_the_same_people_gets_no_account_of_its_own_afterwards(curator):
    curator.rotate_secret()
    with pytest.raises(Conflict, match=r"same people|same rows|same data"):
        curator.register("again", ROWS.sample(frac=1, random_state=1), budget=dp.Budget(epsilon=1), **TERMS)
    with pytest.raises(Conflict):
        curator.register("part", ROWS[:300].assign(more=1), budget=dp.Budget(epsilon=1), **TERMS)
    curator.check("visits")


@pytest.mark.parametrize("order", ["this one", "another"])
def test_a_question_that_was_begun_in_one_order_is_not_drawn_for_in_another(curator, monkeypatch, order):
    """The exchange settles it as failed, and its draws are bound to the order of the rows besides."""

    def dies(*_):
        raise KeyboardInterrupt

    with dp.connect(curator.path, curator.grant("alice", "visits")) as session:
        with monkeypatch.context() as patched:
            patched.setattr(VaultDesk, "runner", dies)
            with pytest.raises(KeyboardInterrupt):
                exact(session)
        if order == "another":
            secret = curator.ledger.secret("order")
            engines = session.desk._engines
            monkeypatch.setattr(VaultDesk, "_opened", lambda _: engines)
            engines.close()
            engines.secret = secret[::-1]
            with pytest.raises(QuestionFailed):
                exact(session)
        else:
            exact(session)


def test_a_running_counter_ends_since_its_price_holds_in_one_order_of_rows(tmp_path):
    """Of a person with rows of every day one row counts: in another order it may be one of a day to come."""
    with dp.Curator(tmp_path / "vault.discreet") as curator:
        rows = {"who": [1] * 40, "day": [place % 8 for place in range(40)]}
        unit = dp.person("who", max_rows=1, bound="table")
        curator.register("days", rows, unit=unit, columns={"day": dp.between(0, 7)}, budget=dp.Budget(epsilon=9))
        session = curator.session(curator.grant("alice", "days"))
        counter = session.watch(session.table("days"), "counter", epsilon=1, by="day")
        watch = session.watch(session.table("days"), "above_threshold", epsilon=1, threshold=10**6)
        counter.look()
        watch.look()
        assert curator.rotate_secret().counters == (counter.receipt["key"],)
        with pytest.raises(Refusal, match="it has ended"):
            counter.look()
        assert watch.look().above is False
        assert curator.rotate_secret().counters == ()
        curator.verify()
