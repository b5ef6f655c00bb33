"""Top-k: sequences counted by gap against all of them listed, exact chances, loss, refusals."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account import Exponential
from discreet.core.errors import BadParameter
from discreet.mechanisms import TopK
from discreet.testing import seeded
from tests.mechanisms.raw import STRANGE, check_error, check_fit

COUNTS = st.lists(st.integers(0, 6), min_size=1, max_size=5)


def gap(counts, chosen):
    """By how much a sequence of places falls short, by the definition."""
    largest = sorted(counts, reverse=True)
    return max(largest[rank] - counts[place] for rank, place in enumerate(chosen))


@given(COUNTS, st.data(), st.sampled_from([Fraction(1, 2), 3]))
def test_chances_are_those_of_the_exponential_mechanism_over_all_sequences(counts, data, epsilon):
    k = data.draw(st.integers(1, len(counts)))
    mechanism = TopK(k=k, keys=range(len(counts)), epsilon=epsilon)
    weights = {each: math.exp(-float(epsilon) * gap(counts, each) / 2) for each in permutations(range(len(counts)), k)}
    total = sum(weights.values())
    chances = mechanism.chances(counts)
    assert set(chances) == set(weights)
    for each, weight in weights.items():
        assert float(chances[each][0]) == pytest.approx(weight / total)


@given(COUNTS, st.data())
def test_one_row_moves_every_gap_by_at_most_the_sensitivity(counts, data):
    size = len(counts)
    k = data.draw(st.integers(1, size))
    cells = st.integers(0, size - 1)
    more, moved = list(counts), list(counts)
    more[data.draw(cells)] += 1
    moved[data.draw(cells)] += 1
    moved[data.draw(cells)] -= 1
    for other, relation in ((more, "add_remove"), (moved, "replace")):
        most = TopK(k=k, keys=range(size), epsilon=1, relation=relation).sensitivity
        assert all(abs(gap(counts, each) - gap(other, each)) <= most for each in permutations(range(size), k))


@settings(max_examples=25)
@given(COUNTS, st.data())
def test_no_answer_is_likelier_by_more_than_e_to_the_epsilon(counts, data):
    mechanism = TopK(k=data.draw(st.integers(1, len(counts))), keys=range(len(counts)), epsilon=1)
    more = list(counts)
    more[data.draw(st.integers(0, len(counts) - 1))] += 1
    p, q = mechanism.chances(counts), mechanism.chances(more)
    assert all(abs(math.log(p[each][0] / q[each][0])) <= 1 + 1e-12 for each in p)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_answers_have_the_exact_distribution(one_by_one):
    mechanism = TopK(k=2, keys=("A", "B", "C", "D"), epsilon=2)
    counts = [5, 3, 3, 0]
    with seeded(18):
        many = [mechanism.release(counts) for _ in range(5000)] if one_by_one else mechanism.releases(counts, 50_000)
    check_fit([tuple(map(str, answer)) for answer in many], mechanism.chances(counts))


def test_the_loss_does_not_grow_with_k():
    assert TopK(k=3, keys=tuple("ABCD"), epsilon=1).loss == Exponential(1)
    assert TopK(k=1, keys=("A",), epsilon=1, relation="replace").loss == Exponential(1, relation="replace")


def test_the_error_bounds_the_largest_gap():
    counts = list(range(0, 200, 4))
    mechanism = TopK(k=5, keys=range(50), epsilon=1)
    assert check_error(mechanism, counts, lambda answer: gap(counts, answer), count=1000) < 0.1


def test_many_keys_are_handled_without_listing_sequences():
    counts = np.arange(2000) * 100
    with seeded(19):
        answer = TopK(k=10, keys=range(2000), epsilon=1).release(counts)
    assert answer == tuple(range(1999, 1989, -1))


def test_raw_values_are_counted_like_a_histogram():
    mechanism = TopK(k=1, keys=("A", "text"), epsilon=100)
    assert mechanism.exact(["A", "A", "Z", *STRANGE]).tolist() == [2, 1]
    assert mechanism(["A"] * 50) == ("A",)


@pytest.mark.parametrize(
    ("given", "name"), [({"k": 0}, "k"), ({"k": 3}, "k"), ({"epsilon": 0}, "epsilon"), ({"keys": ("A", "A")}, "keys")]
)
def test_bad_parameters_are_refused_by_name(given, name):
    with pytest.raises(BadParameter) as caught:
        TopK(**{"k": 1, "keys": ("A", "B"), "epsilon": 1} | given)
    assert caught.value.name == name
