"""ask: a question that went through text is the same question, with the same answer."""

import pytest

import discreet as dp
from discreet.core.errors import Refusal
from discreet.curator.session import Session
from tests.ask.desks import Textual
from tests.curator.questions import PRICES, curator_of, opened


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return opened(tmp_path_factory.mktemp("ask"), rows=10)


def asked(session):
    visits = session.table("visits")
    grown = visits.where(visits.age >= 18).derive(half=visits.cost / 2)
    return (
        grown.group_by("ward").agg(n=dp.count(), half=dp.mean("half"), q=dp.quantile("age", 0.25, 0.75)).weighted(n=2)
    )


@pytest.mark.parametrize("price", PRICES.values(), ids=PRICES)
def test_an_answer_through_text_is_the_answer_that_the_vault_settled(session, price):
    through = Session(Textual(session.desk))
    first = asked(through).release(**price)
    spent = curator_of(session).ledger.head
    again = asked(session).release(**price)
    assert curator_of(session).ledger.head == spent
    assert first.columns == again.columns
    assert (again.receipt["key"], again.receipt["replayed"]) == (first.receipt["key"], True)
    assert str(first).splitlines()[:5] == str(again).splitlines()[:5]


def test_a_preview_through_text_says_the_same_and_draws_the_same(session):
    through = Session(Textual(session.desk))
    one = asked(session).preview(epsilon=0.25, rows=10, max_rows=2)
    other = asked(through).preview(epsilon=0.25, rows=10, max_rows=2)
    assert str(other) == str(one)
    assert other.record() == one.record()
    assert other._curves() == one._curves()


def test_an_offer_through_text_is_taken_at_its_price(session):
    visits = Session(Textual(session.desk)).table("visits")
    offer = visits.agg(n=dp.count()).for_error(n=40)
    assert offer.preview()["n"].half_width <= 40
    assert offer.release().receipt["sequence"] > 0


def test_a_named_fresh_answer_is_paid_once_for_each_name(session):
    report = session.table("visits").agg(n=dp.count())
    first, again, other = (report.release(epsilon=3, fresh=name) for name in ("run 7", "run 7", "run 8"))
    assert first.receipt["key"] == again.receipt["key"] != other.receipt["key"]
    assert [each.receipt["replayed"] for each in (first, again, other)] == [False, True, False]
    assert first.columns == again.columns
    with pytest.raises(Refusal):  # the name stands for another question already
        report.release(epsilon=4, fresh="run 7")


def test_a_name_of_a_fresh_answer_belongs_to_its_analyst(session):
    curator = curator_of(session)
    ann = curator.session(curator.grant("ann", "visits"))
    first, other = (each.table("visits").agg(n=dp.count()).release(epsilon=6, fresh="mine") for each in (session, ann))
    assert first.receipt["key"] != other.receipt["key"]
    assert not other.receipt["replayed"]


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 201])
def test_a_name_that_no_listing_could_show_is_refused(session, name):
    if name:
        with pytest.raises(Refusal):
            session.table("visits").agg(n=dp.count()).release(epsilon=3, fresh=name)


def test_releases_and_head_are_told_to_their_analyst_alone(session):
    answer = session.table("visits").agg(n=dp.count()).release(epsilon=5)
    last = session.releases()[-1]
    assert (last.sequence, last.key) == (answer.receipt["sequence"], answer.receipt["key"])
    assert (last.settled, last.tables["visits"]) == ("answer", 1)
    assert last == type(last).from_record(last.record())
    assert session.head().sequence > answer.receipt["sequence"]
    curator = curator_of(session)
    assert curator.session(curator.grant("bob", "visits")).releases() == []
