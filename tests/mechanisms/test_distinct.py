"""Distinct: how many different values, what one unit moves, the noise drawn, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.account import DiscreteLaplace
from discreet.core.errors import BadParameter
from discreet.mechanisms import Distinct
from discreet.testing import seeded
from tests.mechanisms.raw import COLUMNS, VALUES, check_error, check_fit, check_moves, check_total, neighbours


@given(st.data(), st.sampled_from(["add_remove", "replace"]), st.sampled_from([None, (0, 1, 2)]))
def test_one_row_moves_it_by_at_most_one(data, relation, keys):
    mechanism = Distinct(epsilon=1, relation=relation, keys=keys)
    tables = data.draw(neighbours(VALUES, relation))
    check_moves(mechanism, *(mechanism.exact(table) for table in tables))


@given(st.lists(st.integers(0, 9)), st.sets(st.integers(0, 9), max_size=3), st.sets(st.integers(0, 9), max_size=3))
def test_a_person_replaced_moves_it_by_at_most_the_contributions(shared, one, other):
    mechanism = Distinct(epsilon=1, contributions=3, relation="replace")
    check_moves(mechanism, mechanism.exact([*shared, *one]), mechanism.exact([*shared, *other]))


@given(COLUMNS)
def test_every_table_has_an_answer(values):
    assert isinstance(check_total(Distinct(epsilon=1), values), int)


def test_nulls_are_no_value_and_equal_values_are_one():
    mechanism = Distinct(epsilon=1)
    assert mechanism.exact([1, 1.0, True, 2, None, float("nan"), "1", [3]]) == 3
    assert mechanism.exact(np.array(["a", "b", "a"])) == 2
    assert mechanism.exact(np.array([0.5, np.nan, 0.5])) == 1
    assert Distinct(epsilon=1, keys=("a", "z")).exact(["a", "a", "b"]) == 1


def test_no_more_than_the_declared_keys_can_change():
    assert Distinct(epsilon=1, contributions=5, keys=("a", "b")).loss == DiscreteLaplace(2, 2)


def test_answers_have_the_exact_distribution():
    mechanism = Distinct(epsilon=1, contributions=2)
    with seeded(9):
        answers = mechanism.releases(40, 100_000)
    check_fit(answers.tolist(), mechanism.chances(40))


def test_the_error_holds():
    assert check_error(Distinct(epsilon=0.3), 40, lambda answer: abs(answer - 40)) > 0.05


def test_bad_keys_are_refused():
    with pytest.raises(BadParameter, match="keys"):
        Distinct(epsilon=1, keys=())
