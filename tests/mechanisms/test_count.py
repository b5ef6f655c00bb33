"""Count: what one unit moves, the noise drawn, the error promised, refusals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.account import DiscreteGaussian, DiscreteLaplace
from discreet.core.errors import BadParameter
from discreet.mechanisms import Count
from discreet.mechanisms.parts.mechanism import Enumerable, Mechanism, Repeatable
from discreet.testing import seeded
from tests.mechanisms.raw import COLUMNS, STRANGE, check_error, check_fit, check_moves, check_total, neighbours


def test_it_is_a_mechanism_that_can_be_repeated_and_enumerated():
    mechanism = Count(epsilon=1)
    assert all(isinstance(mechanism, kind) for kind in (Mechanism, Repeatable, Enumerable))


def test_nulls_are_not_counted_and_all_else_is():
    assert Count(epsilon=1).exact([1, None, float("nan"), "a", [2], np.datetime64("NaT"), 0]) == 4
    assert Count(epsilon=1).exact(np.array([1.0, np.nan, np.inf])) == 2
    assert Count(epsilon=1).exact(np.ma.masked_array([1, 2, 3], mask=[True, False, False])) == 2
    assert Count(epsilon=1).exact([]) == 0


@given(neighbours(), st.sampled_from(["add_remove", "replace"]))
def test_one_row_moves_it_by_at_most_one(tables, relation):
    mechanism = Count(epsilon=1, relation=relation)
    check_moves(mechanism, *(mechanism.exact(table) for table in tables))


@given(COLUMNS)
def test_every_table_has_an_answer(values):
    assert isinstance(check_total(Count(epsilon=1), values), int)


@given(st.integers(1, 20), st.fractions(Fraction(1, 10), 10), st.sampled_from(["add_remove", "replace"]))
def test_the_loss_is_that_of_the_noise_drawn(contributions, epsilon, relation):
    mechanism = Count(epsilon=epsilon, contributions=contributions, relation=relation)
    assert mechanism.loss == DiscreteLaplace(contributions / epsilon, contributions, relation=relation)
    assert mechanism.loss.epsilon(0) == pytest.approx(float(epsilon))


def test_gaussian_noise_costs_at_most_rho():
    loss = Count(rho=0.1).loss
    assert isinstance(loss, DiscreteGaussian)
    assert 0.0999 < loss.zcdp() <= 0.1


@pytest.mark.parametrize("mechanism", [Count(epsilon=0.5), Count(rho=0.2, contributions=2)])
def test_answers_have_the_exact_distribution(mechanism):
    with seeded(3):
        answers = mechanism.releases(17, 100_000)
    check_fit(answers.tolist(), mechanism.chances(17))


@pytest.mark.parametrize("mechanism", [Count(epsilon=0.5), Count(rho=0.2)])
def test_the_error_holds_and_is_not_idle(mechanism):
    missed = check_error(mechanism, 100, lambda answer: abs(answer - 100))
    assert missed > 0.02


def test_strange_values_are_counted_as_any_other():
    assert Count(epsilon=1).exact(STRANGE) == len(STRANGE) - 4


def test_a_count_beyond_64_bits_does_not_wrap():
    assert Count(epsilon=1).release(1 << 70) > 1 << 69


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({}, "epsilon"),
        ({"epsilon": 1, "rho": 1}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"rho": -1}, "rho"),
        ({"epsilon": 1, "contributions": 0}, "contributions"),
        ({"epsilon": 1, "relation": "swap"}, "relation"),
    ],
)
def test_bad_parameters_are_refused_by_name(given, name):
    with pytest.raises(BadParameter) as caught:
        Count(**given)
    assert caught.value.name == name
    assert "Fix:" in str(caught.value)


@pytest.mark.parametrize("beta", [0, 1, -1, "0.05"])
def test_an_error_needs_a_probability(beta):
    with pytest.raises(BadParameter, match="beta"):
        Count(epsilon=1).error(beta)


@pytest.mark.parametrize("values", ["text", 5, np.zeros((2, 2))])
def test_what_is_no_column_is_refused(values):
    with pytest.raises(BadParameter, match="values"):
        Count(epsilon=1)(values)
