"""Person gradients: nobody moves the sum further than is said, for any weights, rows and targets; worst cases do."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.core.doors import opened
from discreet.core.errors import BadParameter
from discreet.core.exact import Exact
from discreet.plan.batches import Batch
from discreet.plan.person_gradients import STEPS, Residuals, clipped_residuals, design_rows, gradient_sum, people_count
from discreet.plan.row_design import RowDesign

DESIGNS = [
    RowDesign.of({"a": dp.one_of(0, 1, 2), "b": dp.between(0, 3)}, 4),
    RowDesign.of({"a": dp.between(-3, 3), "b": dp.between(0, 3)}, None),
    RowDesign.of({"a": dp.flag(), "b": dp.between(0, 30)}, None),
]
OBJECTIVES = [("logistic", 2), ("softmax", 3), ("hinge", 2), ("hinge", 4), ("squared", 11)]


def batch(people):
    """A batch of people, each with a list of rows of codes, the last of which is the target."""
    codes = np.array([row for rows in people for row in rows], np.int64).reshape(-1, 3)
    person = np.repeat(np.arange(len(people)), [len(rows) for rows in people])
    return Batch(codes, person, np.zeros(len(people), np.uint64), np.ones(len(codes), np.int64))


def total(people, residuals, weights, design):
    rows = Exact(batch(people)).map(design_rows, design)
    return np.array(opened(rows.map(gradient_sum, residuals, weights, design)), float)


def length(moved, norm):
    return np.abs(moved).sum() if norm == "l1" else math.sqrt(np.square(moved).sum())


def most(design, norm):
    return STEPS * (design.length_l1 if norm == "l1" else math.sqrt(design.length_squared))


person_rows = st.lists(st.tuples(st.integers(-1, 6), st.integers(-1, 31), st.integers(-1, 11)), min_size=1, max_size=5)


@given(st.lists(person_rows, max_size=4), person_rows, st.data())
def test_nobody_moves_the_sum_further_than_is_said(others, person, data):
    design = data.draw(st.sampled_from(DESIGNS))
    objective, values = data.draw(st.sampled_from(OBJECTIVES))
    norm = data.draw(st.sampled_from(["l1", "l2"]))
    residuals = Residuals(objective, values, data.draw(st.sampled_from([0.3, 0.5, 2.0])), norm)
    numbers = st.floats(-100, 100) | st.sampled_from([math.inf, -math.inf, math.nan, 1e300])
    flat = data.draw(
        st.lists(numbers, min_size=design.width * residuals.outputs, max_size=design.width * residuals.outputs)
    )
    weights = np.array(flat).reshape(design.width, residuals.outputs)
    moved = total([*others, person], residuals, weights, design) - total(others, residuals, weights, design)
    assert length(moved, norm) <= most(design, norm) * (1 + 1e-12)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("objective", OBJECTIVES[:2])
def test_the_bound_is_nearly_reached_so_that_no_noise_is_wasted(objective, norm):
    residuals = Residuals(*objective, clip=0.25, norm=norm)
    for design in DESIGNS[:2]:
        rows = itertools.product(range(3), range(4), range(2))
        weights = np.zeros((design.width, residuals.outputs))
        reached = max(length(total([[row]], residuals, weights, design), norm) for row in rows)
        assert reached > 0.99 * most(design, norm)


def test_a_person_with_many_rows_moves_it_no_further_than_one_with_one():
    residuals, design = Residuals("logistic", 2, 0.5, "l2"), DESIGNS[0]
    weights = np.zeros((design.width, 1))
    one, many = (total([[(0, 0, 1)] * rows], residuals, weights, design) for rows in (1, 50))
    assert length(many, "l2") <= most(design, "l2")
    assert np.abs(many - one).max() <= 50  # what rounding towards zero has taken of each row


@given(st.lists(st.floats(-3 * STEPS, 3 * STEPS), min_size=1, max_size=12), st.sampled_from(["l1", "l2"]))
def test_rounding_towards_zero_never_makes_a_residual_longer(flat, norm):
    wrong = np.array(flat)[:, None]
    found = clipped_residuals(wrong, np.arange(len(flat)), len(flat), norm)
    assert (np.abs(found) <= np.minimum(np.abs(wrong), STEPS)).all()
    assert (found == np.trunc(found)).all()


def test_rounding_to_the_nearest_would_make_long_vectors_longer_than_the_bound():
    wrong = np.full((1, 1000), STEPS / math.sqrt(1000) - 1e-9)
    assert math.sqrt(np.square(clipped_residuals(wrong, np.zeros(1, int), 1, "l2")).sum()) <= STEPS
    assert math.sqrt(np.square(np.round(wrong)).sum()) > STEPS


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_row_without_a_target_that_was_declared_counts_for_nothing(objective):
    residuals, design = Residuals(*objective, clip=0.5, norm="l2"), DESIGNS[0]
    weights = np.ones((design.width, residuals.outputs))
    for target in (-1, objective[1], objective[1] + 5):
        assert not total([[(0, 0, target)]], residuals, weights, design).any()


def test_sums_of_batches_are_those_of_all_people_together():
    residuals, design = Residuals("logistic", 2, 0.5, "l2"), DESIGNS[0]
    weights = np.linspace(-1, 1, design.width)[:, None]
    people = [[(place % 3, place % 4, place % 2)] * (1 + place % 3) for place in range(20)]
    parts = total(people[:7], residuals, weights, design) + total(people[7:], residuals, weights, design)
    assert (total(people, residuals, weights, design) == parts).all()
    assert opened(Exact(batch(people)).map(design_rows, design).map(people_count)) == (20,)


def test_nobody_at_all_gives_zeros_of_the_same_length():
    residuals, design = Residuals("softmax", 3, 0.5, "l2"), DESIGNS[1]
    assert total([], residuals, np.zeros((design.width, 3)), design).tolist() == [0.0] * design.width * 3


def test_rows_show_nothing_of_themselves():
    rows = Exact(batch([[(0, 0, 1)]])).map(design_rows, DESIGNS[0])
    assert repr(opened(rows)) == "DesignRows(hidden)"


def test_a_target_of_one_value_is_refused():
    with pytest.raises(BadParameter, match="nothing to learn"):
        Residuals("logistic", 1, 0.5, "l2")
