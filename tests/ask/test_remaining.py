"""Remaining: what is left is said in declared terms, never too high, and a price that is offered does fit."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.account.budgets.filter import PureFilter
from discreet.account.budgets.union import UnionFilter
from discreet.account.losses.pure import Pure
from discreet.answers.answer import NOT_HELD
from discreet.ask.remaining import counted, declared, fitting, notes_of, percent, percent_up, share_left
from discreet.core.unit import person, row
from tests.curator.questions import curator_of, opened

APPROX = dp.Budget(epsilon=5, delta=1e-6)


def capped(tmp_path, budget, cap, **window):
    """Bob's table under a cap."""
    curator = curator_of(opened(tmp_path, budget=budget))
    return curator.session(curator.grant("bob", "visits", budget=cap, **window)).table("visits")


@given(st.fractions(min_value=0, max_value=1))
def test_a_share_is_never_said_to_be_more_than_is_left(share):
    said = percent(share)
    assert said == "less than 0.1%" or Fraction(said.rstrip("%")) <= 100 * share < Fraction(
        said.rstrip("%")
    ) + Fraction(1, 10)
    assert Fraction(percent_up(share).rstrip("%")) >= 100 * share


def test_shares_are_written_as_people_write_them():
    written = [percent(Fraction(each)) for each in ("0", "1", "3/4", "2/3", "1/10000", "999999/1000000")]
    assert written == ["0%", "100%", "75%", "66.6%", "less than 0.1%", "99.9%"]
    assert [percent_up(Fraction(each)) for each in ("2/3", "3/2", "11")] == ["66.7%", "150%", "more than 1,000%"]


@given(st.fractions(min_value=Fraction(1, 50), max_value=2))
def test_so_many_more_questions_are_admitted_and_not_one_beyond(epsilon):
    limit = PureFilter(1)
    for _ in range(limit.more(Pure(epsilon))):
        limit = limit.admit(Pure(epsilon))
    assert not limit.fits(Pure(epsilon))


def test_a_limit_counted_in_another_currency_says_what_was_declared_and_explains_the_figures():
    limit = APPROX.filter()
    assert declared(limit) == "epsilon=5, delta=1e-06"
    assert counted(limit).startswith("counted in 5 sums, of which one has to hold: 5 of 5 epsilon left; ")
    assert counted(PureFilter(1)) == ""
    assert isinstance(limit, UnionFilter)
    assert share_left(limit.admit(Pure(1))) < 1


def test_after_an_answer_the_tightest_limit_is_named_with_what_it_is_enough_for(tmp_path):
    table = capped(tmp_path, dp.Budget(epsilon=3), dp.Budget(epsilon=2))
    assert table.count().release(epsilon=0.5).remaining == "75% of your cap of visits (3 more questions like this one)"
    wide = table.agg(n=dp.count()).release(epsilon=1.5)
    assert wide.remaining == "0% of your cap of visits (no more questions like this one)"


def test_what_is_left_of_epsilon_and_delta_is_a_share_and_no_renyi_figure(tmp_path):
    said = opened(tmp_path, budget=APPROX).table("visits").count().release(epsilon=1).remaining
    assert said == "80% of the budget of visits (4 more questions like this one)"
    assert "Renyi" not in said


@pytest.mark.parametrize(
    ("budget", "price"),
    [
        (APPROX, {"epsilon": 15}),
        (APPROX, {"epsilon": 15, "delta": 1e-7}),
        (APPROX, {"rho": 7}),
        (dp.Budget(rho=0.1), {"rho": 5}),
        (dp.Budget(rho=0.1), {"epsilon": 5}),
        (dp.Budget(epsilon=0.7), {"epsilon": 1e100}),
        (dp.Budget(epsilon=0.7), {"epsilon": 2, "delta": 1e-7}),
    ],
)
def test_the_price_that_a_refusal_offers_is_admitted_and_a_hundredth_more_is_not(tmp_path, budget, price):
    report = opened(tmp_path, budget=budget).table("visits").count()
    with pytest.raises(dp.BudgetExceeded) as refused:
        report.release(**price)
    ((name, amount),) = refused.value.offer.items()
    assert refused.value.fix == f"{name}={amount} would fit"
    assert "the budget of visits" in refused.value.what
    with pytest.raises(dp.BudgetExceeded):
        report.release(**price | {name: Fraction(amount) * Fraction(102, 100)})
    assert report.release(**price | {name: Fraction(amount)}).value() is not None


def test_where_nothing_is_left_no_price_is_offered(tmp_path):
    table = opened(tmp_path, budget=dp.Budget(epsilon=1)).table("visits")
    table.count().release(epsilon=1)
    with pytest.raises(dp.BudgetExceeded, match="no epsilon would fit; ask the custodian") as refused:
        table.agg(n=dp.count()).release(epsilon=0.5)
    assert refused.value.offer == {}


def test_where_delta_is_short_no_epsilon_would_fit_with_it(tmp_path):
    table = opened(tmp_path, budget=APPROX).table("visits")
    with pytest.raises(dp.BudgetExceeded, match="no epsilon would fit with this delta"):
        table.group_by("city").agg(n=dp.count()).release(epsilon=1, delta=1e-3)


def test_a_refusal_names_the_limit_that_it_speaks_of(tmp_path):
    table = capped(tmp_path, dp.Budget(epsilon=3), dp.Budget(epsilon=1))
    with pytest.raises(dp.BudgetExceeded) as refused:
        table.count().release(epsilon=1.5)
    assert refused.value.what == "your cap of visits: epsilon 1.5 requested"
    assert refused.value.why.startswith("1 of 1 epsilon remains, 0.5 too little")
    assert (refused.value.requested, refused.value.remaining) == (1.5, 1)


def test_what_fits_is_found_for_bounds_that_are_bought(tmp_path):
    session = opened(tmp_path, budget=dp.Budget(epsilon=1))
    question = session.table("visits").count().asked(epsilon=3, max_rows="auto")
    assert fitting(question, "auto", session.desk.standings(["visits"])) == "1"


@pytest.mark.parametrize(
    ("unit", "asks", "cut"),
    [
        (row(), {"n": dp.count()}, None),
        (person("id", max_rows=1), {"n": dp.count()}, "one row"),
        (person("id", max_rows=3), {"n": dp.count(), "who": dp.people()}, "3 rows"),
        (person("id", max_rows=3, bound="table"), {"cost": dp.median("cost")}, "3 rows"),
        (person("id", max_rows=3, max_groups=2), {"who": dp.people()}, "2 groups"),
        (person("id", max_rows=3), {"who": dp.people()}, None),  # as many groups as there are
    ],
)
def test_an_answer_says_that_its_intervals_do_not_hold_what_bounding_cut_off(tmp_path, unit, asks, cut):
    asked = opened(tmp_path, unit=unit).table("visits").group_by("ward").agg(**asks).asked(epsilon=1)
    found = [note for note in notes_of(asked) if note.startswith(NOT_HELD)]
    assert found == ([] if cut is None else [f"{NOT_HELD}what bounding each person to {cut} cut off"])
