"""Filters: nothing gets past the budget, whoever chooses the losses and however."""

import json
import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account import (
    Approx,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianDP,
    Laplace,
    Pure,
    RandomizedResponse,
    Renyi,
    Zcdp,
)
from discreet.account.budgets.budget import Budget, BudgetExceeded
from discreet.account.budgets.conversion import best_order, renyi_budget, zcdp_budget
from discreet.account.budgets.cost import NOTHING, Cost, tidy
from discreet.account.budgets.exceeded import rounded_down, rounded_up
from discreet.account.budgets.filter import ApproxFilter, PrivacyFilter, PureFilter, RenyiFilter, ZcdpFilter
from discreet.account.budgets.union import UnionFilter
from discreet.core.errors import BadParameter, Refusal, UnknownName

TENTH = Fraction(1, 10)
FILTERS = [PureFilter(1), ZcdpFilter(0.5, 1e-6), RenyiFilter(8, 1), ApproxFilter(1, 1e-6)]


# What fits, and what does not.


@pytest.mark.parametrize("guard", [ZcdpFilter(1, 1e-6), ApproxFilter(1, 1e-6)])
def test_what_may_fail_pays_its_delta_as_often_as_it_happens(guard):
    one = Approx(Fraction(1, 100), Fraction(1, 10**8))
    thrice, mixed = guard.cost(one * 3), guard.cost((one + Pure(TENTH)) * 2)
    assert thrice == guard.cost(one) + guard.cost(one) + guard.cost(one)
    assert (thrice.delta, mixed.delta) == (Fraction(3, 10**8), Fraction(2, 10**8))
    after = guard.admit(one * 3)
    assert after.spent == thrice
    assert after.remaining.delta == guard.budget.delta - Fraction(3, 10**8)
    most = int(guard.budget.delta * 10**8)
    with pytest.raises(BudgetExceeded, match="delta"):
        guard.admit(one * (most + 1))


def test_ten_tenths_fit_and_an_eleventh_does_not():
    guard = Budget(epsilon=1).filter()
    for _ in range(10):
        guard = guard.admit(Pure(TENTH))
    assert guard.remaining == NOTHING
    assert not guard.fits(Pure(TENTH))
    with pytest.raises(BudgetExceeded):
        guard.admit(Pure(TENTH))


def test_a_refusal_says_what_was_requested_what_remains_and_what_would_fit():
    guard = PureFilter(1).admit(Pure(Fraction(7, 10)))
    with pytest.raises(BudgetExceeded) as caught:
        guard.admit(Laplace(2))
    refusal = caught.value
    assert (refusal.currency, refusal.requested, refusal.remaining) == ("epsilon", Fraction(1, 2), Fraction(3, 10))
    assert refusal.difference == Fraction(1, 5)
    assert str(refusal) == (
        "epsilon 0.5 requested: 0.3 of 1 remains, 0.2 too little (sum of epsilon; Rogers et al. 2016)."
        " Fix: ask for epsilon of at most 0.3 (Laplace noise of scale 3.33334)."
    )
    assert guard.admit(Pure(Fraction(3, 10))).remaining == NOTHING


def test_an_empty_filter_offers_nothing():
    with pytest.raises(BudgetExceeded, match="nothing of this currency is left"):
        PureFilter(1).admit(Pure(1)).admit(Pure(TENTH))


@pytest.mark.parametrize("guard", FILTERS[1:])
def test_the_noise_that_a_refusal_offers_does_fit(guard):
    used = guard.admit(Gaussian(8))
    with pytest.raises(BudgetExceeded, match="Gaussian noise of sigma") as refusal:
        used.admit(Gaussian(Fraction(1, 10)))
    sigma = Fraction(refusal.value.fits.rpartition(" ")[2].rstrip(")"))
    assert used.fits(Gaussian(sigma * (1 + Fraction(1, 10**5))))
    assert not used.fits(Gaussian(sigma * (1 - Fraction(1, 10**4))))


def test_amounts_are_shown_rounded_against_the_asker():
    third = Fraction(1, 3)
    assert (rounded_up(third), rounded_down(third)) == ("0.333334", "0.333333")
    assert (rounded_up(Fraction(1, 10**30)), rounded_down(Fraction(10))) == ("1e-30", "10")


def test_admitting_changes_no_filter_but_makes_a_new_one():
    before = PureFilter(1)
    after = before.admit(Pure(TENTH))
    assert before.spent == NOTHING
    assert after.spent == Cost(TENTH)
    assert after.remaining == Cost(Fraction(9, 10))


@pytest.mark.parametrize(
    ("loss", "epsilon"),
    [
        (Pure(TENTH), TENTH),
        (Laplace(Fraction(7, 3)), Fraction(3, 7)),
        (DiscreteLaplace(10, 3), Fraction(3, 10)),
        (RandomizedResponse(TENTH), TENTH),
        (Exponential(TENTH), TENTH),
        (Pure(TENTH) * 5 + Laplace(4), Fraction(3, 4)),
    ],
)
def test_a_pure_filter_charges_the_exact_epsilon(loss, epsilon):
    assert PureFilter(1).admit(loss).spent == Cost(epsilon)


@pytest.mark.parametrize(
    ("loss", "rho", "delta"),
    [
        (Zcdp(TENTH), TENTH, 0),
        (Zcdp(TENTH, Fraction(1, 10**7)), TENTH, Fraction(1, 10**7)),
        (Gaussian(4), Fraction(1, 32), 0),
        (GaussianDP(Fraction(1, 2)), Fraction(1, 8), 0),
        (Exponential(TENTH), Fraction(1, 800), 0),
        (Gaussian(4) * 3 + Zcdp(TENTH), Fraction(31, 160), 0),
    ],
)
def test_a_zcdp_filter_charges_rho_from_above(loss, rho, delta):
    spent = ZcdpFilter(1, 1e-6).admit(loss).spent
    assert rho <= spent.loss <= rho * (1 + Fraction(1, 10**12))
    assert spent.delta == delta


def test_a_renyi_filter_charges_its_one_order():
    spent = RenyiFilter(8, 1).admit(Gaussian(4)).spent
    assert 8 * Fraction(1, 32) <= spent.loss <= 8 * Fraction(1, 32) * (1 + Fraction(1, 10**12))


def test_a_renyi_filter_does_not_look_for_an_order_with_room():
    # At order 2 the second loss costs little, at order 8 much; a filter at 8 must refuse it.
    curve = Renyi({2: 0.01, 8: 0.9})
    assert RenyiFilter(2, 1).admit(curve).fits(curve)
    assert not RenyiFilter(8, 1).admit(curve).fits(curve)


def test_deltas_of_approximate_parts_have_a_budget_of_their_own():
    guard = ApproxFilter(5, Fraction(1, 10**6))
    part = Approx(Fraction(1, 100), Fraction(1, 10**7))
    for _ in range(5):
        guard = guard.admit(part)
    assert guard.remaining.delta == 0
    with pytest.raises(BudgetExceeded, match=r"^delta 1e-7 requested"):
        guard.admit(part)
    assert guard.fits(Pure(Fraction(1, 100)))


@pytest.mark.parametrize("guard", [PureFilter(1), RenyiFilter(8, 1)])
def test_a_loss_the_view_cannot_support_is_refused_by_name(guard):
    with pytest.raises(Refusal) as refusal:
        guard.admit(Approx(TENTH, 1e-9))
    assert not isinstance(refusal.value, BudgetExceeded)
    assert "Approx" in str(refusal.value)


def test_a_gaussian_has_no_pure_epsilon_to_charge():
    with pytest.raises(Refusal, match="Gaussian"):
        PureFilter(1).admit(Gaussian(1))


@pytest.mark.parametrize("guard", FILTERS)
def test_a_loss_under_another_relation_is_refused(guard):
    with pytest.raises(BadParameter) as refusal:
        guard.admit(Pure(TENTH, relation="replace"))
    assert refusal.value.name == "relation"


# An adversary.

amounts = (
    st.floats(1e-300, 2)
    | st.sampled_from([5e-324, 1e-300, 1e-16, 0.1, 1 / 3, 1.0, 1 - 2**-53])
    | st.fractions(Fraction(1, 10**40), 2)
)


@given(budget=amounts, wishes=st.lists(amounts | st.just("rest") | st.just("more"), max_size=60))
@settings(max_examples=200, deadline=None)
def test_an_adversary_who_sees_the_remainder_never_gets_past_a_pure_budget(budget, wishes):
    guard, total = PureFilter(budget), Fraction(0)
    for wish in wishes:
        remaining = guard.remaining.loss
        amount = {"rest": remaining, "more": remaining + Fraction(1, 10**80)}.get(wish, wish)
        if amount == 0:
            continue
        if guard.fits(Pure(amount)):
            guard = guard.admit(Pure(amount))
            total += Fraction(amount)
        else:
            with pytest.raises(BudgetExceeded) as refusal:
                guard.admit(Pure(amount))
            assert refusal.value.difference == Fraction(amount) - remaining > 0
        # The adversary's own books, kept exactly: the filter has counted no less, and both are within the budget.
        assert total <= guard.spent.loss <= Fraction(budget)


@given(budget=st.floats(1e-3, 2), wishes=st.lists(st.floats(1e-3, 40), max_size=40), alpha=st.floats(1.01, 100))
@settings(max_examples=100, deadline=None)
def test_an_adversary_never_gets_past_a_concentrated_or_renyi_budget(budget, wishes, alpha):
    concentrated, renyi = ZcdpFilter(budget), RenyiFilter(alpha, budget)
    rho, divergence = Fraction(0), Fraction(0)
    for sigma in wishes:
        each = 1 / (2 * Fraction(sigma) ** 2)
        if concentrated.fits(Gaussian(sigma)):
            concentrated, rho = concentrated.admit(Gaussian(sigma)), rho + each
        if renyi.fits(Gaussian(sigma)):
            renyi, divergence = renyi.admit(Gaussian(sigma)), divergence + Fraction(alpha) * each
        assert rho <= concentrated.spent.loss <= Fraction(budget)
        assert divergence <= renyi.spent.loss <= Fraction(budget)


def test_a_million_tiny_losses_do_not_drift():
    # As floats, 1.0 + 1e-17 is 1.0: a sum of floats would admit such losses forever.
    guard = PureFilter(1).admit(Pure(1 - Fraction(3, 10**17)))
    tiny = Pure(Fraction(1, 10**17))
    guard = guard.admit(tiny).admit(tiny * 2)
    assert guard.remaining == NOTHING
    assert not guard.fits(tiny)
    assert not guard.fits(Pure(5e-324))


def test_books_stay_small_under_awkward_fractions_and_never_fall_below_the_truth():
    spent, truth = Fraction(0), Fraction(0)
    for denominator in range(2, 1200):
        part = Fraction(1, denominator**3)
        spent, truth = tidy(spent + part), truth + part
    assert spent.denominator.bit_length() < 5000 < truth.denominator.bit_length()
    assert truth <= spent <= truth + Fraction(1, 2**2000)


# What an (epsilon, delta) budget buys.


@given(epsilon=st.floats(1e-3, 50), delta=st.floats(1e-15, 0.1))
@settings(max_examples=50, deadline=None)
def test_the_order_chosen_buys_nearly_the_most_rho_and_is_converted_from_below(epsilon, delta):
    alpha = best_order(epsilon, delta)
    bought = renyi_budget(epsilon, delta, alpha)
    most = zcdp_budget(epsilon, delta)
    assert 0.999 * most <= bought / alpha <= most * (1 + 1e-8)
    with mpmath.workprec(300):
        # Canonne, Kamath, Steinke 2020, Proposition 12, evaluated the other way about.
        a, e = mpmath.mpf(alpha.numerator) / alpha.denominator, mpmath.mpf(bought.numerator) / bought.denominator
        exponent = (a - 1) * (e - mpmath.mpf(epsilon)) + a * mpmath.log(1 - 1 / a) - mpmath.log(a - 1)
        assert mpmath.exp(exponent) <= delta
        assert mpmath.exp(exponent) >= delta * (1 - 1e-9)


@given(epsilon=st.floats(0.1, 10), rhos=st.lists(st.floats(1e-4, 0.5), max_size=30))
@settings(max_examples=50, deadline=None)
def test_what_a_filter_on_rho_would_admit_the_approximate_filter_admits(epsilon, rhos):
    approximate = ApproxFilter(epsilon, 2e-6)
    concentrated = ZcdpFilter(renyi_budget(epsilon, 1e-6, approximate.alpha) / approximate.alpha)
    for rho in rhos:
        if not concentrated.fits(Zcdp(rho)):
            continue
        concentrated, approximate = concentrated.admit(Zcdp(rho)), approximate.admit(Zcdp(rho))
    assert approximate.spent.loss <= approximate.alpha * concentrated.spent.loss


def test_the_split_of_delta_is_stated_and_can_be_chosen():
    usual = ApproxFilter(1, Fraction(1, 10**6))
    assert usual.conversion == usual.remaining.delta == Fraction(1, 2 * 10**6)
    whole = ApproxFilter(1, Fraction(1, 10**6), conversion=Fraction(1, 10**6))
    assert whole.remaining.delta == 0
    assert whole.remaining.loss / whole.alpha > usual.remaining.loss / usual.alpha


def test_larger_budgets_buy_more():
    rooms = [ApproxFilter(epsilon, 1e-6).remaining.loss / ApproxFilter(epsilon, 1e-6).alpha for epsilon in (0.1, 1, 5)]
    assert all(small < large for small, large in pairwise(rooms))


# Storage.


@pytest.mark.parametrize("guard", FILTERS)
def test_a_stored_filter_comes_back_with_all_it_has_admitted(guard):
    used = guard.admit(Pure(Fraction(1, 7))).admit(Pure(1e-300))
    again = PrivacyFilter.from_json(used.to_json())
    assert again == used
    assert type(again) is type(guard)
    assert again.remaining == used.remaining


def test_the_meaning_of_a_stored_filter_is_settled():
    text = (
        '{"discreet": 1, "filter": {"kind": "ApproxFilter", "relation": "add_remove", "spent": {"loss": "1/8",'
        ' "delta": "0"}, "epsilon": "1", "delta": "1/1000000", "conversion": "1/2000000", "alpha": "25"}}'
    )
    guard = PrivacyFilter.from_json(text)
    assert guard == ApproxFilter(
        1, Fraction(1, 10**6), conversion=Fraction(1, 2 * 10**6), alpha=25, spent=Cost(Fraction(1, 8))
    )
    expected = 1 - math.log(24 / 25) + math.log(25 / 2e6) / 24
    assert float(guard.budget.loss) == pytest.approx(expected, rel=1e-14)


def _stored(**changes):
    record = json.loads(PureFilter(1).admit(Pure(TENTH)).to_json())
    record["filter"] |= changes
    return json.dumps(record)


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"kind": "PureFliter"}, UnknownName),
        ({"kind": None}, UnknownName),
        ({"epsilon": "-1"}, BadParameter),
        ({"epsilon": 1}, BadParameter),
        ({"epsilon": "a"}, BadParameter),
        ({"epsilon": "1/0"}, BadParameter),
        ({"relation": "swap"}, BadParameter),
        ({"spent": {"loss": "2", "delta": "0"}}, BadParameter),
        ({"spent": {"loss": "-1", "delta": "0"}}, BadParameter),
        ({"spent": {"loss": "1/2"}}, BadParameter),
        ({"extra": "1"}, BadParameter),
    ],
)
def test_a_tampered_filter_is_refused(changes, refusal):
    with pytest.raises(refusal):
        PrivacyFilter.from_json(_stored(**changes))


# Budgets and bad input.


@pytest.mark.parametrize(
    ("budget", "kind"),
    [
        (Budget(epsilon=1), PureFilter),
        (Budget(epsilon=1, delta=1e-6), UnionFilter),
        (Budget(rho=0.1), ZcdpFilter),
        (Budget(rho=0.1, delta=1e-6), ZcdpFilter),
    ],
)
def test_a_budget_makes_the_filter_of_its_kind(budget, kind):
    assert type(budget.filter()) is kind
    assert budget.filter(relation="replace").relation == "replace"


def test_a_budget_means_the_decimal_it_prints():
    assert Budget(epsilon=0.3).filter().budget == Cost(Fraction(3, 10))
    assert Budget(rho=0.1).filter().budget.loss == TENTH


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"epsilon": 1, "rho": 1},
        {"delta": 1e-6},
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": math.nan},
        {"epsilon": math.inf},
        {"epsilon": True},
        {"epsilon": "1"},
        {"epsilon": 1, "delta": 0},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": -1e-6},
        {"rho": 0},
        {"rho": 1, "delta": 1},
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(given):
    with pytest.raises(BadParameter):
        Budget(**given)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: PureFilter(0), "epsilon"),
        (lambda: PureFilter(math.inf), "epsilon"),
        (lambda: PureFilter(1, relation="swap"), "relation"),
        (lambda: ZcdpFilter(-1), "rho"),
        (lambda: ZcdpFilter(1, 1), "delta"),
        (lambda: RenyiFilter(1, 1), "alpha"),
        (lambda: RenyiFilter(8, 0), "epsilon"),
        (lambda: ApproxFilter(1, 0), "delta"),
        (lambda: ApproxFilter(1, 1e-6, conversion=1e-5), "conversion"),
        (lambda: ApproxFilter(1, 1e-6, conversion=0), "conversion"),
        (lambda: ApproxFilter(1, 1e-6, alpha=1), "alpha"),
        (lambda: ApproxFilter(1, 1e-6, alpha=2), "alpha"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused_by_name(make, name):
    with pytest.raises(BadParameter) as refusal:
        make()
    assert refusal.value.name == name
