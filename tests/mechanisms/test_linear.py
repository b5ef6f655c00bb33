"""Linear queries: exact answers, sensitivities of columns and of their differences, the noise drawn, refusals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.account import DiscreteLaplace
from discreet.core.errors import BadParameter
from discreet.mechanisms import Linear
from tests.mechanisms.raw import check_error, check_moves, check_noise

MATRICES = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(
        st.lists(st.sampled_from([0, 1, -1, 2, 0.1, Fraction(1, 3)]), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    ).filter(lambda rows: any(entry for row in rows for entry in row))
)


@given(MATRICES, st.data(), st.sampled_from(["add_remove", "replace"]))
def test_one_row_moves_the_answers_by_at_most_the_sensitivity(matrix, data, relation):
    mechanism = Linear(matrix=matrix, epsilon=1, relation=relation)
    cells = st.integers(0, len(matrix[0]))  # the last one is none of the cells
    counts = np.zeros(len(matrix[0]) + 1, dtype=int)
    one, other = counts.copy(), counts.copy()
    one[data.draw(cells)] += 1
    if relation == "replace":
        other[data.draw(cells)] += 1
    check_moves(mechanism, mechanism.exact(one[:-1]), mechanism.exact(other[:-1]))


@given(MATRICES)
def test_the_sensitivity_is_attained(matrix):
    columns = np.array([[Fraction(str(entry)) for entry in row] for row in matrix], dtype=object).T
    mechanism = Linear(matrix=matrix, epsilon=1)
    assert mechanism.sensitivity.l1 * mechanism.unit == max(sum(map(abs, column)) for column in columns)
    replaced = Linear(matrix=matrix, epsilon=1, relation="replace")
    both = [*columns, columns[0] * 0]
    assert replaced.sensitivity.l1 * mechanism.unit == max(sum(map(abs, a - b)) for a in both for b in both)


def test_answers_are_exact_multiples_of_the_unit():
    mechanism = Linear(matrix=((0.1, 0.5), (1, 0)), epsilon=1)
    assert mechanism.unit == Fraction(1, 10)
    assert mechanism.exact([3, 4]) == (23, 30)
    assert mechanism.exact([10**30, 0]) == (10**30, 10**31)
    tenths = mechanism.releases((23, 30), 100) * 10
    assert tenths == pytest.approx(np.rint(tenths))


def test_independent_answers_cost_what_each_of_them_does():
    assert Linear(matrix=((1, 0), (0, 1)), epsilon=1).loss == DiscreteLaplace(1, 1)
    assert Linear(matrix=((1, 0), (0, 1)), epsilon=1, relation="replace").loss.epsilon(0) == 1
    assert Linear(matrix=((1, 2), (3, 4)), rho=0.5).loss.zcdp() <= 0.5


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.2}])
def test_the_noise_has_the_exact_distribution(price):
    check_noise(Linear(matrix=((1, 0.5), (1, 1)), **price), (4, 4), count=40_000)


def test_the_error_is_that_of_the_worst_answer():
    mechanism = Linear(matrix=((0.1, 0.5), (1, 0), (1, 1)), epsilon=0.5)
    truth = np.array([2.3, 3.0, 7.0])
    assert check_error(mechanism, mechanism.exact([3, 4]), lambda answer: np.abs(answer - truth).max()) > 0.02


def test_many_columns_are_bounded_by_the_triangle_inequality():
    matrix = np.ones((2, 1100), dtype=int)
    assert Linear(matrix=matrix, epsilon=1, relation="replace").sensitivity.l1 == 4


@pytest.mark.parametrize("matrix", [(), ((),), ((0, 0),), ((1, 2), (3,)), 5, ((float("nan"),),), (("a",),), ((True,),)])
def test_bad_matrices_are_refused(matrix):
    with pytest.raises(BadParameter, match="matrix"):
        Linear(matrix=matrix, epsilon=1)


def test_counts_for_other_cells_are_refused():
    with pytest.raises(BadParameter, match="exact"):
        Linear(matrix=((1, 1),), epsilon=1)([1, 2, 3])
