"""Histogram: counts of declared keys, the factor of 2 under replace, the noise drawn, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.account import DiscreteLaplace
from discreet.core.errors import BadParameter
from discreet.mechanisms import Histogram
from tests.mechanisms.raw import STRANGE, VALUES, check_error, check_moves, check_noise, check_total, neighbours

KEYED = st.one_of(st.sampled_from(["A", "B", "C", "D"]), VALUES)


@given(st.data(), st.sampled_from(["add_remove", "replace"]), st.sampled_from([("A",), ("A", "B", "C"), (0, 1, 2)]))
def test_one_row_moves_it_by_at_most_the_sensitivity(data, relation, keys):
    mechanism = Histogram(keys=keys, epsilon=1, relation=relation)
    tables = data.draw(neighbours(KEYED, relation))
    check_moves(mechanism, *(mechanism.exact(table) for table in tables))


@given(st.lists(KEYED, max_size=12))
def test_every_table_has_one_answer_for_each_key(values):
    answer = check_total(Histogram(keys=("A", "B"), epsilon=1), values)
    assert answer.dtype == np.int64
    assert answer.shape == (2,)


def test_undeclared_values_and_nulls_are_left_out():
    mechanism = Histogram(keys=("A", "B", "text"), epsilon=1)
    assert mechanism.exact(["A", "Z", None, "A", *STRANGE]).tolist() == [2, 0, 1]
    assert mechanism.exact(np.array(["B", "Z", "B"])).tolist() == [0, 2, 0]
    assert Histogram(keys=(1, 2), epsilon=1).exact(np.array([1, 1, 3])).tolist() == [2, 0]


def test_under_replace_a_row_costs_two_cells():
    # Noise of scale 1/epsilon would cost 2 epsilon here: the slip of many a lecture.
    added = Histogram(keys=("A", "B", "C"), epsilon=1)
    replaced = Histogram(keys=("A", "B", "C"), epsilon=1, relation="replace")
    assert added.loss == DiscreteLaplace(1, 1)
    assert replaced.loss == DiscreteLaplace(2, 1, relation="replace") * 2
    assert [added.sensitivity.l1, replaced.sensitivity.l1] == [1, 2]
    assert replaced.loss.epsilon(0) == 1


def test_persons_of_several_rows_may_put_them_all_in_one_cell():
    mechanism = Histogram(keys=("A", "B"), epsilon=1, contributions=3)
    assert (mechanism.sensitivity.linf, mechanism.sensitivity.l1) == (3, 3)
    assert mechanism.loss == DiscreteLaplace(3, 3)
    assert Histogram(keys=("A", "B"), rho=0.5, contributions=3, relation="replace").loss.zcdp() <= 0.5


@pytest.mark.parametrize(
    "mechanism", [Histogram(keys=range(4), epsilon=1, relation="replace"), Histogram(keys=range(3), rho=0.2)]
)
def test_the_noise_has_the_exact_distribution(mechanism):
    check_noise(mechanism, [5] * len(mechanism.keys), count=40_000)


def test_the_error_is_that_of_the_worst_cell():
    truth = np.arange(20)
    mechanism = Histogram(keys=range(20), epsilon=0.5)
    assert check_error(mechanism, truth, lambda answer: np.abs(answer - truth).max()) > 0.05


def test_counts_beyond_64_bits_are_saturated_and_do_not_wrap():
    assert Histogram(keys=("A",), epsilon=1).release([1 << 80]).tolist() == [2**63 - 1]


@pytest.mark.parametrize("keys", ["AB", (), ("A", "A"), ("A", 1), 5, (1.5,)])
def test_bad_keys_are_refused(keys):
    with pytest.raises(BadParameter, match="keys"):
        Histogram(keys=keys, epsilon=1)


def test_counts_for_other_cells_are_refused():
    with pytest.raises(BadParameter, match="exact"):
        Histogram(keys=("A", "B"), epsilon=1).release([1, 2, 3])
