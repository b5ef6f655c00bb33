"""Bad input: a refusal that names the value and the fix."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet import noise
from discreet.core.errors import BadParameter

SCALED = [(noise.laplace, "scale"), (noise.gaussian, "sigma"), (noise.geometric, "scale")]
NOT_NUMBERS = ["1", None, True, False, [1], 1j, Decimal(1), np.bool_(True), np.array([1.0, 2.0])]


def refused(name, value, call):
    with pytest.raises(BadParameter) as caught:
        call()
    refusal = caught.value
    assert refusal.name == name
    assert refusal.value is value
    assert refusal.fix
    assert repr(value)[:40] in str(refusal)


@pytest.mark.parametrize(("sample", "name"), SCALED)
@pytest.mark.parametrize("size", [None, 3, 1000])
def test_scales_that_are_not_positive_numbers_are_refused(sample, name, size):
    for value in [0, -1, 0.0, -0.0, -2.5, Fraction(-1, 3), float("nan"), float("inf"), float("-inf"), *NOT_NUMBERS]:
        refused(name, value, lambda value=value: sample(value, size))


@pytest.mark.parametrize("size", [None, 3])
def test_biases_outside_their_range_are_refused(size):
    for value in [-0.1, 1.1, Fraction(3, 2), float("nan"), *NOT_NUMBERS]:
        refused("p", value, lambda value=value: noise.bernoulli(value, size))
    for value in [-0.1, float("inf"), float("nan"), *NOT_NUMBERS]:
        refused("x", value, lambda value=value: noise.bernoulli_exp(value, size))


@pytest.mark.parametrize("size", [None, 3])
def test_ranges_that_are_not_positive_integers_are_refused(size):
    for value in [0, -1, 2.0, Fraction(2), *NOT_NUMBERS]:
        refused("n", value, lambda value=value: noise.uniform(value, size))


@pytest.mark.parametrize("sample", [noise.laplace, noise.gaussian, noise.geometric, noise.uniform, noise.bernoulli])
def test_bad_sizes_are_refused(sample):
    for value in [-1, 2.5, "3", True, float("nan"), [3]]:
        refused("size", value, lambda value=value: sample(1, value))
    for shape, bad in [((3, -4), -4), ((2, 1.5), 1.5)]:
        with pytest.raises(BadParameter) as caught:
            sample(1, shape)
        assert caught.value.value == bad


def test_a_size_that_no_memory_could_hold_is_refused():
    with pytest.raises(BadParameter, match="size"):
        noise.laplace(1, 10**19)
