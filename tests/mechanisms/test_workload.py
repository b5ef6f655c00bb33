"""Workloads: exact answers by the definition, sensitivities attained, and predicted errors that come true."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import BadParameter
from discreet.mechanisms import Gaussian, Laplace, workload
from discreet.testing import seeded
from tests.mechanisms.raw import COLUMNS

BITS = st.lists(st.tuples(*[st.integers(0, 1)] * 3), max_size=6)
CLASSES = {
    "points": workload.points(64),
    "thresholds": workload.thresholds(64),
    "means": workload.means(64),
    "conjunctions": workload.conjunctions(6, 2),
    "all conjunctions": workload.conjunctions(4),
    "linear": workload.linear(np.tri(40) * 0.5),
}


def columns(rows):
    return [[row[place] for row in rows] for place in range(3)]


@given(COLUMNS, st.integers(1, 6))
def test_points_and_thresholds_count_cells(values, cells):
    counts = workload.points(cells).answers(values)
    whole = [value for value in values if isinstance(value, int | float) and value in range(cells)]
    assert counts.sum() >= len(whole)
    assert workload.thresholds(cells).answers(values).tolist() == np.cumsum(counts).tolist()


@given(BITS)
def test_means_count_attributes(rows):
    assert workload.means(3).answers(columns(rows)).tolist() == [sum(row[place] for row in rows) for place in range(3)]


@given(BITS, st.sampled_from([None, 0, 1, 2, 3]))
def test_conjunctions_count_rows_that_satisfy_all_literals(rows, literals):
    asked = workload.conjunctions(3, literals)
    expected = [sum(all(row[place] == sign for place, sign in term) for row in rows) for term in asked.terms()]
    assert asked.answers(columns(rows)).tolist() == expected
    assert asked.queries == len(expected)


@pytest.mark.parametrize("columns", [1, 2, 5, 8])
def test_there_are_three_to_the_columns_conjunctions(columns):
    assert workload.conjunctions(columns).queries == 3**columns
    assert sum(workload.conjunctions(columns, t).queries for t in range(columns + 1)) == 3**columns


@pytest.mark.parametrize("literals", [None, 1, 2, 3])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_the_sensitivity_of_conjunctions_is_attained(literals, relation):
    asked = workload.conjunctions(3, literals)
    rows = [np.array(asked.answers(columns([row]))) for row in product((0, 1), repeat=3)]
    others = [rows[0] * 0] if relation == "add_remove" else rows
    moved = [np.abs(one - other) for one in rows for other in others]
    stated = asked.sensitivity(relation)
    assert stated.l1 == max(each.sum() for each in moved)
    assert stated.l2_squared == max((each**2).sum() for each in moved)
    assert (stated.l0, stated.linf) == (stated.l1, 1)


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("asked", [workload.points(4), workload.thresholds(4), workload.linear([[1, 0.5], [2, -1]])])
def test_the_sensitivity_over_cells_is_attained(asked, relation):
    rows = [np.array(asked.answers([cell]), dtype=int) for cell in (None, 0, 1, 2, 3)]
    others = [rows[0]] if relation == "add_remove" else rows
    moved = [np.abs(one - other) for one in rows for other in others]
    stated = asked.sensitivity(relation)
    assert stated.l1 == max(each.sum() for each in moved)
    assert stated.l2_squared == max((each**2).sum() for each in moved)


def test_the_sensitivity_of_means_is_the_same_under_both_relations():
    assert workload.means(5).sensitivity("add_remove") == workload.means(5).sensitivity("replace")


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_predicted_errors_come_true_within_three_percent(name, relation):
    # 1000 runs of at least 40 queries: the root mean square of 40,000 Laplace numbers has a relative deviation of
    # 0.56%, the mean of 1000 largest errors one of about 0.6%; 3% is off with a probability below 1e-6.
    asked = CLASSES[name]
    for prediction in asked.predict(epsilon=1, delta=1e-6, relation=relation):
        with seeded(20):
            errors = prediction.mechanism.releases(np.zeros(asked.queries, dtype=int), 1000)
        assert np.sqrt((errors**2).mean()) == pytest.approx(prediction.rmse, rel=0.03)
        assert np.abs(errors).max(axis=1).mean() == pytest.approx(prediction.largest, rel=0.03)


def test_predictions_of_wide_noise_meet_those_of_narrow_noise():
    wide, narrow = (workload.points(100).predict(epsilon=epsilon, delta=1e-6) for epsilon in (1e-5, 1e-2))
    for one, other in zip(wide, narrow, strict=True):
        assert one.largest / one.rmse == pytest.approx(other.largest / other.rmse, rel=1e-2)


def test_noise_wider_than_floats_tell_apart_is_predicted_too():
    for prediction in workload.points(4).predict(epsilon=1e-17, delta=1e-6):
        width = prediction.mechanism
        assert prediction.rmse == pytest.approx(
            float(width.scale) * np.sqrt(2) if isinstance(width, Laplace) else float(width.sigma), rel=1e-3
        )
        assert prediction.largest > prediction.rmse


def test_mechanisms_keep_the_budget_they_were_given():
    pure, normal = workload.means(30).mechanisms(epsilon=1, delta=1e-6)
    assert isinstance(pure, Laplace)
    assert isinstance(normal, Gaussian)
    assert pure.loss.epsilon(0) == pytest.approx(1)
    assert normal.loss.epsilon(1e-6) <= 1 + 1e-9
    assert len(workload.means(30).mechanisms(epsilon=1)) == 1


@pytest.mark.parametrize(
    ("ask", "name"),
    [
        (lambda: workload.points(0), "cells"),
        (lambda: workload.means(2.5), "columns"),
        (lambda: workload.conjunctions(3, 4), "literals"),
        (lambda: workload.conjunctions(3, -1), "literals"),
        (lambda: workload.linear([]), "matrix"),
        (lambda: workload.points(3).predict(epsilon=1, relation="swap"), "relation"),
    ],
)
def test_bad_workloads_are_refused_by_name(ask, name):
    with pytest.raises(BadParameter) as caught:
        ask()
    assert caught.value.name == name
