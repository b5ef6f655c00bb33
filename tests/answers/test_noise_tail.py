"""Tails of weighted sums of noise: never below the true chance, and hardly above it."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.answers.noise_tail import beyond, reaches
from discreet.answers.spread import half_width

WEIGHTS = [[1.0], [1.0, 1.0], [1.0, -0.5, 0.25], [0.5, 0.5, 0.5, 0.5], [3.0, 2.0, -1.0, 1.0, 0.5, 0.0, 4.0]]


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("weights", WEIGHTS, ids=len)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_a_half_width_is_that_of_the_lattice_from_above(law, weights, level):
    scale = 60
    terms = tuple(sorted((Fraction(abs(each)).limit_denominator(100), law, Fraction(scale), 1) for each in weights))
    counted = {each: terms.count(each) for each in terms if each[0]}
    exact = float(half_width(tuple((*each[:3], count) for each, count in counted.items()), level))
    scales = np.full(len(weights), float(scale))
    (found,) = reaches(law, np.array([weights]), scales, level)
    assert exact * (1 - 1e-3) <= found <= exact * 1.06
    (chance,) = beyond(law, np.array([weights]), scales, np.array([found]))
    assert (1 - level) * 0.99 < chance <= 1 - level


def test_without_noise_only_no_distance_is_possible():
    nothing = np.zeros((2, 3))
    assert beyond("laplace", nothing, np.ones(3), np.array([0.0, 1.0])).tolist() == [1.0, 0.0]


def test_each_row_of_weights_has_a_distance_of_its_own():
    weights = np.array([[1.0, 0.0], [2.0, 0.0]])
    found = beyond("laplace", weights, np.array([100.0, 100.0]), np.array([300.0, 300.0]))
    assert found == pytest.approx([math.exp(-2.99), math.exp(-1.49)], rel=1e-6)
