"""Quantiles from counts: bounds that hold, the distribution of release whatever the cells, few passes, few requests."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import BadParameter
from discreet.mechanisms import Quantile
from discreet.mechanisms.parts.refinement import Envelope, KnownCounts, RefinementRequest, Task, Threshold, passes_for
from discreet.noise.bits import current
from discreet.testing import FALSE_ALARM, fit, same, seeded
from tests.mechanisms.raw import check_fit

STEPS = st.integers(0, 30)


class Engine:
    """Answers requests by counting, and keeps what was asked, pass by pass."""

    def __init__(self, *groups):
        self.groups, self.passes = [np.array(group, dtype=np.int64) for group in groups], []

    def __call__(self, requests):
        assert requests
        self.passes.append(requests)
        return [self.count(request) for request in requests]

    def count(self, request):
        assert request.width >= 1
        assert request.cells >= 1
        cells = (self.groups[request.group] - request.low) // request.width
        found, counts = np.unique(cells[(cells >= 0) & (cells < request.cells)], return_counts=True)
        return dict(zip(found.tolist(), counts.tolist(), strict=True))


def repeated(mechanism, data, count, cells):
    """Many independent answers: as many groups of the same data."""
    engine = Engine(data)
    return mechanism.search(
        lambda requests: engine([request._replace(group=0) for request in requests]), count, cells
    ), engine


def deficit(data, point, task):
    """How far the target lies outside the ranks of a point, below zero inside, with public records at a bound."""
    padded = [*data, *[task.high if task.offset > 0 else task.low] * abs(task.offset)]
    below, up_to = sum(x < point for x in padded), sum(x <= point for x in padded)
    target = task.q * len(data) + max(task.offset, 0)
    return max(below - target, target - up_to) * task.q.denominator


@given(
    st.lists(STEPS, max_size=20),
    st.sampled_from([0, Fraction(1, 3), Fraction(1, 2), 1]),
    st.integers(-25, 25),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=5),
    st.integers(1, 40),
)
def test_every_deficit_lies_between_the_bounds_of_its_cell(data, q, offset, more, cells):
    task = Task(0, 0, 30, 0, Fraction(q), Fraction(1), offset)
    engine, known = Engine(data), KnownCounts.start(task)
    for request in task.cover(cells):
        known = known.with_counts(task, request, engine.count(request))
    for start, width in more:
        low = int(known.borders[start % (len(known.borders) - 1)])
        request = RefinementRequest(0, low, min(width, 30 - low) + 1, 1)
        known = known.with_counts(task, request, engine.count(request))
    bounds = Envelope.of(task, known)
    assert bounds.least.min() <= 0
    for cell, (start, end) in enumerate(zip(known.borders[:-1], known.borders[1:], strict=True)):
        for point in range(start, end):
            assert bounds.least[cell] <= deficit(data, point, task) <= bounds.most[cell]
        if end - start == 1:
            assert bounds.least[cell] == deficit(data, start, task)


@pytest.mark.parametrize("cells", [2, pytest.param(4, marks=pytest.mark.slow), 1024])
@pytest.mark.parametrize(("q", "offset"), [(0.5, 0), (0.25, 0), (0, 0), (0.5, 2), (1, -3), (0.75, -9), (0.75, 9)])
def test_searching_draws_from_the_exact_distribution(cells, q, offset):
    # With few cells most draws are settled by further passes.
    mechanism = Quantile(q=q, low=0, high=20, epsilon=2, offset=offset)
    data = [3, 3, 4, 9, 9, 9, 9, 15, 20]
    with seeded(40 + cells):
        answers, _ = repeated(mechanism, data, 1200, cells)
    check_fit(answers.tolist(), mechanism.chances(data))


@pytest.mark.parametrize("data", [[], [7], [0] * 50, [20] * 3 + [0] * 3, list(range(21)) * 4], ids=len)
@pytest.mark.parametrize("epsilon", [0.1, 5])
def test_searching_is_exact_for_empty_tied_and_spread_data(data, epsilon):
    mechanism = Quantile(low=0, high=20, epsilon=epsilon)
    with seeded(41):
        answers, _ = repeated(mechanism, data, 1200, 4)
    check_fit(answers.tolist(), mechanism.chances(data))


@pytest.mark.parametrize(("cells", "relation"), [(2, "add_remove"), (3, "replace"), (1024, "add_remove")])
def test_nested_quantiles_are_searched_as_they_are_released(cells, relation):
    mechanism = Quantile(q=(0.1, 0.5, 0.9), low=0, high=4, epsilon=4, relation=relation)
    data = [0, 1, 1, 2, 2, 2, 4, 4]
    with seeded(42):
        searched, _ = repeated(mechanism, data, 1500, cells)
        released = mechanism.releases(data, 20_000)
    code = 5 ** np.arange(3)
    counts = [np.bincount((each @ code).astype(int), minlength=5**3) for each in (searched, released)]
    # A right program fails this once in a million runs.
    assert same(*counts) > FALSE_ALARM
    assert (np.diff(searched) >= 0).all()


def test_separate_quantiles_are_searched_as_they_are_released():
    mechanism = Quantile(q=(0.2, 0.7), low=0, high=5, epsilon=4, method="separate")
    data = [0, 1, 1, 2, 2, 2, 4, 5]
    with seeded(43):
        searched, _ = repeated(mechanism, data, 1500, 2)
        released = mechanism.releases(data, 20_000)
    counts = [np.bincount((each @ np.array([1, 6])).astype(int), minlength=36) for each in (searched, released)]
    assert same(*counts) > FALSE_ALARM  # once in a million


@settings(max_examples=30)
@given(st.lists(st.lists(STEPS, max_size=15), min_size=1, max_size=4), st.integers(2, 9), st.booleans())
def test_groups_are_searched_at_once_and_apart(groups, cells, several):
    q = (0.2, 0.5, 0.8) if several else 0.5
    mechanism, engine = Quantile(q=q, low=0, high=30, epsilon=1000), Engine(*groups)
    steps = mechanism.search_steps(engine, len(groups), cells)
    assert steps.shape == (len(groups), len(mechanism.quantiles))
    for group, found in zip(groups, steps.tolist(), strict=True):
        if group and not several:
            # At so large an epsilon the answer is a point of deficit 0.
            assert deficit(group, found[0], Task(0, 0, 30, 0, Fraction(1, 2), Fraction(1))) <= 0


def test_wide_grids_of_many_records_take_few_passes_and_one_request_a_group_each():
    rows, groups = 20_000, 40
    values = [np.arange(rows) * 7919 % 50_001 + group % 3 for group in range(groups)]
    for epsilon in (1, Fraction(1, 100)):
        engine = Engine(*values)
        with seeded(44):
            answers = Quantile(low=0, high=50_003, epsilon=epsilon).search(engine, groups)
        assert [len(each) for each in engine.passes[:2]] == [groups, groups]
        assert len(engine.passes) <= 4
        assert sum(len(each) for each in engine.passes[2:]) <= groups // 4
        assert np.abs(answers - 25_000).max() < 40 / epsilon


def test_the_number_of_planned_passes_depends_on_the_grid_alone():
    assert [passes_for(points, 1024) for points in (2, 1024, 1025, 1024**2, 1024**2 + 1)] == [1, 1, 2, 2, 3]
    for data in ([], [5] * 1000, list(range(1000))):
        engine = Engine(data)
        Quantile(low=0, high=2**25, epsilon=1).search(engine, 1)
        assert len(engine.passes) >= 3
        assert [len(each) for each in engine.passes[:3]] == [1, 1, 1]


def test_a_grid_of_few_points_takes_one_pass():
    engine = Engine([3, 4, 5], [])
    Quantile(low=0, high=100, epsilon=1).search(engine, 2)
    assert engine.passes == [[RefinementRequest(0, 0, 1, 101), RefinementRequest(1, 0, 1, 101)]]


def test_ranks_beyond_64_bits_are_searched_too():
    q = Fraction(123_456_789_012_345_677, 10**18)
    mechanism = Quantile(q=q, low=0, high=20, epsilon=2)
    data = [2] * 100 + [11] * 1000
    with seeded(45):
        answers, _ = repeated(mechanism, data, 2000, 4)
    check_fit(answers.tolist(), mechanism.chances(data))


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(2)])
def test_a_threshold_lies_below_an_exponential_as_often_as_it_should(x):
    with seeded(46):
        below = sum(Threshold(current()).below_exp(x) for _ in range(5000))
    chance = float(np.exp(-float(x)))
    assert fit([below, 5000 - below], [chance, 1 - chance]) > FALSE_ALARM  # once in a million


def test_a_threshold_is_one_number_that_keeps_its_place():
    with seeded(47):
        for _ in range(200):
            threshold = Threshold(current())
            places = [threshold.below_exp(Fraction(x, 10)) for x in (30, 20, 10, 5, 1, 0)]
            assert places == sorted(places)


def test_replaced_units_may_change_groups_and_are_refused():
    alone = Quantile(low=0, high=5, epsilon=1, relation="replace")
    with pytest.raises(BadParameter, match="relation"):
        alone.search(Engine([1], [2]), 2)
    assert 0 <= alone.search(Engine([1]), 1)[0] <= 5


@pytest.mark.parametrize(("given", "name"), [((-1,), "groups"), ((1, 1), "cells")])
def test_searches_that_make_no_sense_are_refused(given, name):
    with pytest.raises(BadParameter) as caught:
        Quantile(low=0, high=5, epsilon=1).search(Engine([1]), *given)
    assert caught.value.name == name


def test_no_groups_take_no_pass():
    engine = Engine()
    assert Quantile(low=0, high=5, epsilon=1).search(engine, 0).shape == (0,)
    assert Quantile(q=(0.1, 0.9), low=0, high=5, epsilon=1).search(engine, 0).shape == (0, 2)
    assert engine.passes == []
