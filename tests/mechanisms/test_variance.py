"""Variance: integers that one unit moves no farther than declared, error in records, never negative."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import BadParameter
from discreet.mechanisms import Variance
from tests.mechanisms.raw import COLUMNS, check_error, check_moves, check_noise, check_total, neighbours


def make(relation="add_remove", **others):
    options = {"low": -3, "high": 4, "step": 0.5, "epsilon": 1, "relation": relation} | others
    return Variance(**({"rows": 9} if relation == "replace" else {}) | options)


@given(st.data(), st.sampled_from(["add_remove", "replace"]))
def test_one_row_moves_it_by_at_most_the_sensitivity(data, relation):
    mechanism = make(relation)
    tables = data.draw(neighbours(relation=relation))
    check_moves(mechanism, *(mechanism.exact(table) for table in tables))


@given(COLUMNS, st.sampled_from(["add_remove", "replace"]))
def test_every_table_has_an_answer_that_could_be_a_variance(values, relation):
    assert 0 <= check_total(make(relation), values) <= 49 / 4


def test_the_statistic_holds_sums_of_centred_steps_and_squares():
    assert make().exact([-3, 4, 0.5, None]) == (3, 0, 14**2 + 14**2)


def test_squares_do_not_wrap():
    mechanism = Variance(low=0, high=2**40, epsilon=1)
    assert mechanism.exact(np.array([0, 2**40])) == (2, 0, 2 * 2**80)


def test_both_parts_cost_epsilon_together():
    assert make().loss.epsilon(0) == pytest.approx(1)
    assert make(epsilon=None, rho=0.5).loss.zcdp() <= 0.5
    assert [noise.loss.epsilon(0) for noise, _ in make("replace").noises] == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("mechanism", [make(), make("replace"), make(epsilon=None, rho=0.1)])
def test_the_noise_has_the_exact_distribution(mechanism):
    check_noise(mechanism, (9, 7, 400), count=50_000)


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("price", [{"epsilon": 2}, {"epsilon": None, "rho": 0.5}])
def test_the_error_holds_for_the_declared_rows(relation, price):
    mechanism = make(relation, rows=400, **price)
    values = np.linspace(-3, 2, 400).round(0)
    assert mechanism.error(0.1) < 3
    check_error(mechanism, mechanism.exact(values), lambda answer: abs(answer - values.var()))


def test_without_a_size_half_the_square_of_the_range_is_certain():
    assert make().error() == 49 / 2


def test_a_missing_size_under_replace_is_refused():
    with pytest.raises(BadParameter, match="rows"):
        Variance(low=0, high=1, epsilon=1, relation="replace")
