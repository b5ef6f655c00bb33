"""Numbers that are bought first: what they cost, what is told of them, and that a question is asked again for free."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.account.budgets.price import Price
from discreet.ask.steps.bought import divided
from discreet.ledger.refusals import LimitExceeded
from tests.curator.questions import opened

TEXT = "SELECT ward, COUNT(*) AS n FROM visits WHERE age > (SELECT AVG(age) FROM visits WHERE urgent) GROUP BY ward"


@pytest.fixture
def session(tmp_path):
    return opened(tmp_path)


def test_the_parts_cost_no_more_than_the_price():
    for price in (Price.of(epsilon=1), Price.of(rho=Fraction(1, 2)), Price.of(epsilon=1, delta=1e-6)):
        for many in (1, 2, 3):
            rest, each = divided(price, many)
            assert (rest.epsilon or rest.rho) + many * (each.epsilon or each.rho) == (price.epsilon or price.rho)
            assert rest.delta + many * each.delta == price.delta


def test_the_answer_is_about_the_noisy_number_and_says_so(session):
    exactly = session.sql(TEXT, epsilon=10**6)
    # Of urgent visits: 41, 43, 90, 110 (200 is clamped, and not urgent), 30: the rows below are above their mean.
    assert exactly.cell("A", column="n").value == pytest.approx(1, abs=0.01)
    (note,) = [note for note in exactly.notes if "bought first" in note]
    assert "(SELECT AVG(age) FROM visits WHERE urgent)" in note
    assert "epsilon 250000" in note
    assert note in exactly.not_held
    assert exactly.asked == {"epsilon": "1000000"}
    assert exactly.loss.epsilon(0) == pytest.approx(10**6)


def test_two_questions_are_paid_and_asked_again_both_are_replays(session):
    first = session.sql(TEXT, epsilon=1)
    assert len(session.releases()) == 2
    again = session.sql(TEXT, epsilon=1)
    assert again.receipt["replayed"]
    assert [*again] == [*first]
    assert len(session.releases()) == 2
    assert session.preview_sql(TEXT, epsilon=1).price == "epsilon 1"


def test_the_number_alone_is_the_same_question_as_by_itself(session):
    session.sql(TEXT, epsilon=1)
    alone = session.sql("SELECT AVG(age) FROM visits WHERE urgent", epsilon=0.25)
    assert alone.receipt["replayed"]


def test_a_preview_shows_the_number_and_the_rest_of_the_price(session):
    found = session.preview_sql(TEXT, epsilon=1)
    assert [line.column for line in found.lines] == ["(SELECT AVG(age) FROM visits WHERE urgent)", "n"]
    assert [line.cost for line in found.lines] == ["epsilon 0.25", "epsilon 0.75"]
    assert "bought first" in found.notes[0]
    assert len(session.releases()) == 0


@pytest.mark.parametrize(
    "text",
    [
        "SELECT city, COUNT(*) AS n FROM visits WHERE age > (SELECT AVG(age) FROM visits) GROUP BY city",
        # Where the number is as large as it may be, what is computed with it is too wide to be added up.
        "SELECT SUM(age * (SELECT SUM(cost) FROM visits) + cost * 0.000000000000000000000001) AS s FROM visits",
    ],
)
def test_nothing_is_bought_for_a_question_that_cannot_be_asked(session, text):
    before = session.head()
    with pytest.raises(dp.Refusal):
        session.sql(text, epsilon=1)
    assert session.head() == before


@pytest.mark.parametrize("fresh", [False, True])
def test_a_budget_that_covers_the_number_alone_pays_for_nothing(tmp_path, fresh):
    session = opened(tmp_path, budget=dp.Budget(epsilon=0.5))
    with pytest.raises(LimitExceeded, match="epsilon 1 requested"):
        session.sql(TEXT, epsilon=1, fresh=fresh)
    assert not session.releases()


def test_what_the_number_cost_before_is_not_asked_for_again(tmp_path):
    session = opened(tmp_path, budget=dp.Budget(epsilon=1))
    session.sql("SELECT AVG(age) FROM visits WHERE urgent", epsilon=0.25)
    assert session.sql(TEXT, epsilon=1).rows
    assert len(session.releases()) == 2


def test_under_a_name_of_the_analysts_both_parts_are_paid_once(session):
    first = session.sql(TEXT, epsilon=1, fresh="run 7")
    assert len(session.releases()) == 2
    assert [*session.sql(TEXT, epsilon=1, fresh="run 7")] == [*first]
    assert len(session.releases()) == 2
    session.sql(TEXT, epsilon=1, fresh="run 8")
    assert len(session.releases()) == 4


@pytest.mark.parametrize("name", ["", " ", "x" * 195, "x" * 201, "a\nb"])
def test_a_name_that_is_refused_pays_for_no_part(session, name):
    cut = session.table("visits").count()
    for ask in (lambda: session.sql(TEXT, epsilon=1, fresh=name), lambda: cut.release(epsilon=1, fresh=name, cut=True)):
        with pytest.raises(dp.Refusal, match="name of a charge"):
            ask()
    assert not session.releases()


def test_what_bounding_cut_is_paid_beside_an_answer_with_a_name(session):
    report = session.table("visits").count()
    first = report.release(epsilon=1, fresh="run 9", cut=True)
    again = report.release(epsilon=1, fresh="run 9", cut=True)
    assert ([*again], [*again.cut]) == ([*first], [*first.cut])
    assert len(session.releases()) == 2
