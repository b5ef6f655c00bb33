"""Mean: integers that one unit moves no farther than declared, error in records, bounds that always hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.account import DiscreteLaplace
from discreet.core.errors import BadParameter
from discreet.mechanisms import Mean
from discreet.testing import seeded
from tests.mechanisms.raw import COLUMNS, STRANGE, check_error, check_moves, check_noise, check_total, neighbours


def make(relation="add_remove", **others):
    options = {"low": -3, "high": 4, "step": 0.5, "epsilon": 1, "relation": relation} | others
    return Mean(**({"rows": 9} if relation == "replace" else {}) | options)


@given(neighbours())
def test_one_row_more_moves_both_sums_by_the_width_in_all(tables):
    mechanism = make()
    check_moves(mechanism, *(mechanism.exact(table) for table in tables))


@given(neighbours(relation="replace"))
def test_one_row_replaced_moves_the_centred_sum_by_twice_the_width(tables):
    mechanism = make("replace")
    check_moves(mechanism, *(mechanism.exact(table) for table in tables))


@given(COLUMNS, st.sampled_from(["add_remove", "replace"]))
def test_every_table_has_an_answer_between_the_bounds(values, relation):
    assert -3 <= check_total(make(relation), values) <= 4


def test_the_statistic_is_centred_and_nulls_are_left_out():
    assert make().exact([-3, 4, 0.5, None]) == (-14 + 14 + 0, 3)


def test_strange_values_change_nothing_but_their_own_contribution():
    mechanism = make()
    alone = np.sum([mechanism.exact([value]) for value in STRANGE], axis=0)
    assert mechanism.exact(STRANGE) == tuple(alone.tolist())


def test_the_whole_budget_pays_for_sum_and_count_at_once():
    assert make().loss == DiscreteLaplace(14, 14)
    assert make("replace").loss == DiscreteLaplace(28, 28, relation="replace")
    assert make(epsilon=None, rho=0.5).loss.zcdp() <= 0.5


@pytest.mark.parametrize("mechanism", [make(), make("replace"), make(epsilon=None, rho=0.1)])
def test_the_noise_has_the_exact_distribution(mechanism):
    check_noise(mechanism, (7, 9), count=50_000)


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"epsilon": None, "rho": 0.1}])
def test_the_error_holds_for_the_declared_rows(relation, price):
    mechanism = make(relation, rows=200, **price)
    values = np.linspace(-3, 2, 200)
    exact = mechanism.exact(values)
    truth = 0.5 + exact[0] / 2 / exact[1] * 0.5
    assert mechanism.error(0.1) < 1
    check_error(mechanism, exact, lambda answer: abs(answer - truth))


def test_without_a_size_only_the_bounds_are_certain():
    assert make().error() == 7
    assert make(rows=1).error() == 7


def test_an_empty_table_is_answered_within_the_bounds():
    with seeded(4):
        answers = make().releases((0, 0), 1000)
    assert ((answers >= -3) & (answers <= 4)).all()


def test_nested_noise_is_less_than_that_of_a_split_budget():
    # With half of epsilon each for sum and count, the sum alone would deviate by 2 sqrt 2 w / epsilon / 2: 1.41 w.
    mechanism = make(rows=10**6)
    with seeded(6):
        answers = mechanism.releases((0, 10**6), 20_000)
    assert float(answers.std()) * 10**6 < 1.05 * 7


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"relation": "replace"}, "rows"),
        ({"relation": "replace", "rows": 5, "contributions": 2}, "contributions"),
        ({"rows": 0}, "rows"),
        ({"rows": 2.5}, "rows"),
    ],
)
def test_sizes_that_are_not_public_are_refused(given, name):
    with pytest.raises(BadParameter) as caught:
        Mean(low=0, high=1, epsilon=1, **given)
    assert caught.value.name == name
