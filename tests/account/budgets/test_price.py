"""Price: epsilon, rho, or epsilon with delta, read as people write them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.account.budgets.budget import Budget
from discreet.account.budgets.price import Price, root_below
from discreet.account.losses.zcdp import Zcdp
from discreet.core.errors import BadParameter
from tests.curator.questions import opened


def test_a_price_is_exactly_what_was_written():
    assert Price.of(epsilon=0.1).epsilon == Fraction(1, 10)
    assert Price.of(rho=0.3, delta=1e-9) == Price(None, Fraction(1, 10**9), Fraction(3, 10))


@pytest.mark.parametrize("given", [{}, {"epsilon": 1, "rho": 1}, {"delta": 1e-6}])
def test_a_price_is_in_one_currency(given):
    with pytest.raises(BadParameter, match="in epsilon or in rho"):
        Price.of(**given)


@pytest.mark.parametrize(
    "amount", [0, -1, float("nan"), float("inf"), "1", True, None, 1e-101, Fraction(1, 10**400), 1.1e100, 10**350]
)
@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_a_price_is_a_positive_number(currency, amount):
    with pytest.raises(BadParameter) as refused:
        Price.of(**{currency: amount})
    assert refused.value.fix


@pytest.mark.parametrize(
    ("amount", "shown"), [(Fraction(-1), "-1"), (Fraction(-1, 2), "-0.5"), (Fraction(10**200), "1e+200")]
)
def test_a_refused_price_is_shown_as_people_write_numbers(amount, shown):
    with pytest.raises(BadParameter) as refused:
        Price.of(epsilon=amount)
    assert refused.value.what == f"epsilon={shown}"
    with pytest.raises(BadParameter, match=r"epsilon, rho=\(1, 0\.001\)"):
        Price.of(epsilon=Fraction(1), rho=Fraction(1, 1000))


def test_the_dearest_price_is_previewed_and_refused_without_a_failure(tmp_path):
    table = opened(tmp_path, budget=Budget(epsilon=1)).table("visits")
    assert "too little left" in str(table.count().preview(epsilon=10**100))


@pytest.mark.parametrize("delta", [-1e-9, 1, 2, float("nan")])
def test_a_delta_is_a_small_probability(delta):
    with pytest.raises(BadParameter, match="delta"):
        Price.of(epsilon=1, delta=delta)


@given(st.fractions(min_value=0, max_value=10**6))
def test_a_root_is_rounded_down_and_close(square):
    root = root_below(square)
    assert root * root <= square < (root + Fraction(1, 1 << 40)) ** 2


@given(st.floats(0.01, 20), st.sampled_from([1e-12, 1e-9, 1e-6, 1e-3]))
def test_the_rho_of_epsilon_and_delta_costs_no_more_than_they_allow(epsilon, delta):
    rho = Price.of(epsilon=epsilon, delta=delta).concentrated().rho
    # The other way round is computed on a grid of orders, which is a little looser.
    assert Zcdp(rho).delta(epsilon) <= delta * (1 + 1e-3)


def test_choosing_with_rho_buys_by_bounded_range():
    assert float(Price.of(rho=0.5).selecting) == pytest.approx(2)
    assert Price.of(epsilon=0.5).selecting == Fraction(1, 2)


@given(st.fractions(min_value=Fraction(1, 99), max_value=9), st.sampled_from(["epsilon", "rho"]))
def test_a_record_reads_back(amount, currency):
    price = Price.of(**{currency: amount}, delta=1e-6)
    assert Price.from_record(price.record()) == price


def test_a_price_is_written_for_people():
    assert [str(Price.of(epsilon=0.5)), str(Price.of(rho=0.25, delta=1e-9))] == ["epsilon 0.5", "rho 0.25, delta 1e-09"]
