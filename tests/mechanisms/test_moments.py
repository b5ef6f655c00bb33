"""Moments: one measurement of count, sum, mean and variance: what moves it, what it costs, what it says."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.account import DiscreteLaplace
from discreet.core.errors import BadParameter
from discreet.mechanisms import Moments
from discreet.testing import seeded
from tests.mechanisms.raw import COLUMNS, STRANGE, check_error, check_moves, check_noise, check_total, neighbours

SHAPES = [(order, nulls) for order in (0, 1, 2) for nulls in (False, True)]


def make(order=2, nulls=True, **others):
    return Moments(**({"low": -3, "high": 4, "step": 0.5, "epsilon": 1, "order": order, "nulls": nulls} | others))


@given(st.data(), st.sampled_from(SHAPES), st.sampled_from(["add_remove", "replace"]))
def test_one_row_moves_it_by_at_most_the_sensitivity(data, shape, relation):
    mechanism = make(*shape, relation=relation)
    tables = data.draw(neighbours(relation=relation))
    check_moves(mechanism, *(mechanism.exact(table) for table in tables))


def costs(mechanism, one, other):
    """What exact neighbours cost: |moves| over scales for Laplace noise, squares over 2 sigma^2 for Gaussian."""
    ((noise, _),) = mechanism.noises
    moves = [a - b for a, b in zip(mechanism.inner(one), mechanism.inner(other), strict=True)]
    if noise.law == "laplace":
        return sum(map(abs, moves)) / noise.scale
    return Fraction(sum(move * move for move in moves)) / (2 * noise.scale**2)


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"epsilon": None, "rho": Fraction(1, 2)}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_over_all_tiny_tables_no_neighbour_costs_more_and_one_costs_all_of_it(shape, relation, price):
    """All people of up to two rows of all values and nulls, added to other rows or put in another's place."""
    values = [0, 1, 2, 3, None]
    people = [list(rows) for many in range(3) for rows in itertools.combinations_with_replacement(values, many)]
    mechanism = make(*shape, low=0, high=3, step=1, contributions=2, relation=relation, **price)
    most = Fraction(0)
    for others in ([], [1, None]):
        for one, other in itertools.product(people, people if relation == "replace" else [[]]):
            tables = [mechanism.exact([*others, *rows]) for rows in (one, other)]
            most = max(most, costs(mechanism, *tables))
    paid = mechanism.epsilon if mechanism.epsilon is not None else mechanism.rho
    assert paid * Fraction(49, 50) < most <= paid


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_rows_in_several_groups_are_paid_for_as_if_they_were_in_one(relation):
    mechanism = make(low=0, high=3, step=1, contributions=4, groups=2, relation=relation)
    ((noise, _),) = mechanism.noises
    assert noise.sensitivity.l1 == 4 * 9 * (1 if relation == "add_remove" else 2)
    assert mechanism.loss.epsilon(0) == pytest.approx(1)


@given(COLUMNS, st.sampled_from(SHAPES), st.sampled_from(["add_remove", "replace"]))
def test_every_table_has_an_answer(values, shape, relation):
    answer = check_total(make(*shape, relation=relation), values)
    assert len(answer) == (1, 3, 4)[shape[0]] + shape[1]
    if shape[0]:
        assert -3 <= answer[2 + shape[1]] <= 4
    if shape[0] == 2:
        assert 0 <= answer[-1] <= 49 / 4


def test_the_terms_of_a_value_add_up_to_the_same_wherever_it_lies():
    for value in (-3, 0.5, 4):
        *terms, nulls = make().inner(make().exact([value]))
        assert (sum(terms), nulls) == (14**2, 0)
        assert min(terms) >= 0
    assert make().inner(make().exact([None])) == [0, 0, 0, 14**2]
    assert make(1).inner(make(1).exact([4, None])) == [14, 0, 14]
    assert make(0).inner(make(0).exact([4, None, None])) == [1, 2]


def test_strange_values_change_nothing_but_their_own_contribution():
    alone = np.sum([make().exact([value]) for value in STRANGE], axis=0)
    assert make().exact(STRANGE) == tuple(alone.tolist())


def test_squares_do_not_wrap():
    wide = Moments(low=0, high=2**40, epsilon=1)
    assert wide.exact(np.array([0, 2**40])) == (2, 2, 2**40, 2**80)
    assert wide.inner(wide.exact(np.array([0, 2**40]))) == [2**80, 0, 2**80]


def test_the_whole_budget_pays_for_all_of_it_at_once():
    assert make().loss == DiscreteLaplace(14**2, 14**2)
    assert make(epsilon=None, rho=0.5).loss.zcdp() <= 0.5
    assert make(relation="replace").loss == DiscreteLaplace(2 * 14**2, 2 * 14**2, relation="replace")


@pytest.mark.parametrize(
    "mechanism", [make(1), make(0, relation="replace"), make(low=0, high=3, step=1, rho=0.1, epsilon=None)]
)
def test_the_noise_has_the_exact_distribution(mechanism):
    check_noise(mechanism, mechanism.exact([1, 2, None, 3]), count=20_000)


def test_without_noise_it_says_what_the_values_say():
    values = [-3, 0.5, 4, 4, None, 1]
    known = [value for value in values if value is not None]
    truth = [len(values), len(known), sum(known), np.mean(known), np.var(known)]
    with seeded(3):
        for order, cut in ((2, 5), (1, 4), (0, 2)):
            assert make(order, epsilon=10**7)(values) == pytest.approx(truth[:cut])
        assert make(2, False, epsilon=10**7)(values) == pytest.approx(truth[1:])


def test_the_error_is_that_of_the_number_of_rows():
    mechanism = make()
    check_error(mechanism, mechanism.exact([1, None, 2]), lambda answer: abs(answer[0] - 3))


def test_other_orders_are_refused():
    with pytest.raises(BadParameter, match="the highest power"):
        make(order=3)
