"""Contribution bound: near the best one, small for few people, exact chances, refusals."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from discreet.account import Exponential
from discreet.core.errors import BadParameter
from discreet.mechanisms import ContributionBound
from discreet.mechanisms.parts.mechanism import Enumerable, Mechanism, Repeatable
from discreet.testing import seeded
from tests.mechanisms.raw import STRANGE, check_error, check_fit

# A heavy tail: a hundred thousand people, of which 1 in r has r rows or more.
TAIL = {rows: 100_000 // rows - 100_000 // (rows + 1) for rows in range(1, 2000)}


def cost(exact, bound, mechanism):
    """Rows dropped and noise added, all answers together: what the bound is to make small."""
    dropped = sum(people * max(0, rows - bound) for rows, people in exact.items())
    return dropped + mechanism.answers * bound / float(mechanism.answer_epsilon)


# With a single answer the best bound is the second largest number of rows: too near to the top to be told privately.
@pytest.mark.parametrize(("answers", "times"), [(1, 8), (50, 2), (1000, 2)])
def test_what_is_dropped_and_what_is_added_are_nearly_as_little_as_can_be(answers, times):
    mechanism = ContributionBound(epsilon=1, most=10_000, answers=answers)
    best = min(cost(TAIL, bound, mechanism) for bound in range(1, 2000))
    with seeded(70):
        found = [mechanism.release(TAIL) for _ in range(20)]
    assert max(cost(TAIL, bound, mechanism) for bound in found) < times * best


def test_a_bound_for_nineteen_people_in_twenty_would_drop_far_more():
    mechanism = ContributionBound(epsilon=1, most=10_000, answers=50)
    with seeded(75):
        found = mechanism.release(TAIL)
    assert cost(TAIL, 20, mechanism) > 3 * cost(TAIL, found, mechanism)


def test_few_people_have_a_small_bound():
    mechanism = ContributionBound(epsilon=0.1, most=10_000)
    with seeded(71):
        found = mechanism.releases({3: 20, 9000: 1}, 500)
    assert (found == 1).mean() > 0.9


def test_a_bound_lies_between_one_and_the_most():
    mechanism = ContributionBound(epsilon=100, most=30)
    with seeded(72):
        assert mechanism.release({}) == 1
        assert mechanism.release({10**9: 1000, 0: 3, -5: 2}) == 30


@pytest.mark.parametrize("exact", [{1: 12, 3: 4, 6: 1}, {2: 30}, {}])
def test_single_and_repeated_bounds_have_the_exact_distribution(exact):
    mechanism = ContributionBound(epsilon=1, most=6, answer_epsilon=2)
    with seeded(73):
        singles = [mechanism.release(exact) for _ in range(1500)]
        many = mechanism.releases(exact, 20_000)
    check_fit(singles, mechanism.chances(exact))
    check_fit(many.tolist(), mechanism.chances(exact))


def test_the_error_is_in_people():
    mechanism = ContributionBound(epsilon=1, most=2000, answers=100)

    def away(bound):
        more = sum(people for rows, people in TAIL.items() if rows > bound)
        same = TAIL.get(int(bound), 0)
        return max(0, more - mechanism.depth, mechanism.depth - more - same)

    assert check_error(mechanism, TAIL, away) < 0.1


def test_the_depth_is_what_the_noise_will_bear_but_no_less_than_can_be_told():
    assert ContributionBound(epsilon=1, most=100, answer_epsilon=0.5, answers=500).depth == 1000
    shallow = ContributionBound(epsilon=1, most=100)
    assert 15 <= shallow.depth == int(np.ceil(2 * np.log(100 / 0.05)))


def test_the_loss_is_one_exponential_mechanism():
    assert ContributionBound(epsilon=0.1, most=100).loss == Exponential(Fraction(0.1))
    assert ContributionBound(epsilon=1, most=100, relation="replace").loss == Exponential(1, relation="replace")


def test_rows_are_counted_by_person():
    mechanism = ContributionBound(epsilon=1, most=100)
    assert mechanism.exact(["ann", "bob", "ann", None, "cy", "ann"]) == {3: 1, 1: 2}
    assert mechanism.exact(np.array([1.0, 1.0, np.nan, 2.0])) == {2: 1, 1: 1}
    assert mechanism.exact([]) == {}
    assert sum(rows * people for rows, people in mechanism.exact(STRANGE).items()) <= len(STRANGE)


def test_searching_it_in_an_engine_is_the_same():
    mechanism = ContributionBound(epsilon=1, most=6, answer_epsilon=2)
    exact = {1: 12, 3: 4, 6: 1}

    def counts(requests):
        return [
            Counter(
                {(rows - low) // width: people for rows, people in exact.items() if 0 <= rows - low < width * cells}
            )
            for _, low, width, cells in requests
        ]

    with seeded(74):
        found = mechanism.quantile.search_steps(counts, 2000)[:, 0]
    check_fit(found.tolist(), mechanism.chances(exact))


def test_it_is_a_mechanism_that_can_be_repeated_and_enumerated():
    mechanism = ContributionBound(epsilon=1, most=10)
    assert all(isinstance(mechanism, kind) for kind in (Mechanism, Repeatable, Enumerable))


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"most": 1}, "most"),
        ({"answer_epsilon": -1}, "answer_epsilon"),
        ({"answers": 0}, "answers"),
        ({"relation": "swap"}, "relation"),
    ],
)
def test_bad_parameters_are_refused_by_name(given, name):
    with pytest.raises(BadParameter) as caught:
        ContributionBound(**{"epsilon": 1, "most": 100} | given)
    assert caught.value.name == name
