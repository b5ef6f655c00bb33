"""Covariance: integers that one unit moves no farther than declared, positive semidefinite, error in Frobenius norm."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import BadParameter
from discreet.mechanisms import Covariance
from discreet.testing import seeded
from tests.mechanisms.raw import VALUES, check_error, check_moves, check_noise, check_total

BOUNDS = ((-3, 4), (0, 1.5, 0.5))
ROWS = st.tuples(VALUES, VALUES)


def make(relation="add_remove", **others):
    options = {"bounds": BOUNDS, "epsilon": 1, "relation": relation} | others
    return Covariance(**({"rows": 9} if relation == "replace" else {}) | options)


def columns(rows):
    return [[row[0] for row in rows], [row[1] for row in rows]]


@given(st.lists(ROWS, max_size=5), ROWS, ROWS, st.sampled_from(["add_remove", "replace"]))
def test_one_row_moves_it_by_at_most_the_sensitivity(shared, row, other, relation):
    mechanism = make(relation)
    tables = [*shared, row], (shared if relation == "add_remove" else [*shared, other])
    check_moves(mechanism, *(mechanism.exact(columns(table)) for table in tables))


@settings(max_examples=50)
@given(st.lists(ROWS, max_size=5), st.sampled_from(["add_remove", "replace"]))
def test_every_table_has_a_positive_semidefinite_answer(rows, relation):
    answer = check_total(make(relation), columns(rows))
    assert answer.shape == (2, 2)
    assert np.linalg.eigvalsh(answer).min() >= -1e-12
    assert answer == pytest.approx(answer.T)


def test_rows_with_a_null_are_left_out():
    mechanism = make()
    assert mechanism.exact([[4, None, -3], [0, 1, float("nan")]]) == (1, 7, -3, 49, -21, 9)
    assert mechanism.exact(np.array([[4, 0], [np.nan, 1], [-3, np.nan]])) == (1, 7, -3, 49, -21, 9)


def test_all_parts_cost_epsilon_together():
    assert make().loss.epsilon(0) == pytest.approx(1)
    assert make(epsilon=None, rho=0.5).loss.zcdp() <= 0.5


@pytest.mark.parametrize("mechanism", [make(), make("replace"), make(epsilon=None, rho=0.1)])
def test_the_noise_has_the_exact_distribution(mechanism):
    check_noise(mechanism, (1, 7, -3, 49, -21, 9), count=50_000)


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("price", [{"epsilon": 4}, {"epsilon": None, "rho": 1}])
def test_the_error_holds_for_the_declared_rows(relation, price):
    mechanism = make(relation, rows=2000, **price)
    one = np.linspace(-3, 4, 2000).round()
    data = np.stack([one, (one > 0) * 1.5], axis=-1)
    truth, ranges = np.cov(data.T, ddof=0), np.array([7, 1.5])
    assert mechanism.error(0.1) < 0.1

    def distance(answer):
        return np.linalg.norm((answer - truth) / np.outer(ranges, ranges))

    check_error(mechanism, mechanism.exact(data), distance)


def test_with_many_rows_the_answer_is_near_the_truth():
    rows = np.arange(100_000)
    data = np.stack([rows % 8 - 3, (rows // 8 % 4) * 0.5], axis=-1)
    with seeded(8):
        answer = make()(data)
    assert answer == pytest.approx(np.cov(data.T, ddof=0), abs=0.01)


@pytest.mark.parametrize("bounds", [(), ((1,),), ((1, 2, 3, 4),)])
def test_columns_without_bounds_are_refused(bounds):
    with pytest.raises(BadParameter, match="bounds"):
        make(bounds=bounds)


@pytest.mark.parametrize("values", [np.zeros(3), np.zeros((3, 3)), [[1], [1], [1]], [[1, 2], [1]]])
def test_tables_of_another_shape_are_refused(values):
    with pytest.raises(BadParameter, match="values"):
        make()(values)
