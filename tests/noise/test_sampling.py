"""The contract of every sampler: types, shapes, ranges."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import noise
from discreet.noise import sampling
from discreet.testing import seeded

SAMPLERS = [noise.laplace, noise.gaussian, noise.geometric]
EVERY = [*SAMPLERS, noise.uniform, lambda n, size=None: noise.bernoulli(1 / n, size), noise.bernoulli_exp]


@pytest.mark.parametrize("sample", EVERY)
def test_one_draw_is_a_python_integer(sample):
    for value in (sample(1), sample(7)):
        assert type(value) is int


@pytest.mark.parametrize("sample", EVERY)
@pytest.mark.parametrize("size", [0, 1, 5, 2000, (), (0,), (3, 4), (2, 0, 5), (40, 50), np.int64(3)])
def test_arrays_have_the_asked_shape_and_64_bits(sample, size):
    out = sample(3, size)
    assert out.dtype == np.int64
    assert out.shape == (size if isinstance(size, tuple) else (size,))


@pytest.mark.parametrize("sample", SAMPLERS)
@pytest.mark.parametrize("size", [10, 2000])
def test_giant_scales_give_python_integers_that_never_wrap(sample, size):
    for scale in (2**70, Fraction(10**40, 3), 1e30):
        out = sample(scale, size)
        assert out.dtype == object
        assert all(type(value) is int for value in out)
        # P(|X| <= scale / 2**40) is below 2**-39 a draw
        assert min(abs(value) for value in out) > scale / 2**45
        assert type(sample(scale)) is int


@pytest.mark.parametrize("sample", SAMPLERS)
def test_scales_just_inside_64_bits_stay_there(sample):
    out = sample(2**55 - 1, 5000)
    assert out.dtype == np.int64
    assert 2**54 < np.abs(out.astype(float)).max() < 2**61


@pytest.mark.parametrize("sample", SAMPLERS)
@pytest.mark.parametrize("scale", [10**-6, 1e-300, Fraction(1, 10**9)])
def test_a_tiny_scale_gives_zero(sample, scale):
    assert not sample(scale, 5000).any()
    assert sample(scale) == 0


@pytest.mark.parametrize("sigma", [2**40, Fraction(2**41 + 1, 2)])
def test_a_large_gaussian_has_its_spread(sigma):
    out = noise.gaussian(sigma, 100_000).astype(float)
    # the variance of 100,000 normal draws has relative sd 0.0045; 1e-6 is 4.9 sd
    assert abs(out.var() / float(sigma) ** 2 - 1) < 0.022
    assert abs(out.mean()) < 4.9 * float(sigma) / math.sqrt(100_000)


@pytest.mark.parametrize("sample", [*SAMPLERS, noise.uniform])
@pytest.mark.parametrize("scale", [3, 1000])
def test_a_seed_repeats_the_noise_and_only_inside_its_block(sample, scale):
    def drawn():
        sampling.clear()
        return sample(scale, 2000).tolist(), [sample(scale) for _ in range(50)]

    with seeded(7):
        first = drawn()
    with seeded(7):
        second = drawn()
    with seeded(8):
        third = drawn()
    assert first == second != third
    assert drawn() != first


def test_a_nested_seed_gives_the_outer_stream_back():
    with seeded(1):
        outer = [noise.uniform(2**64) for _ in range(4)]
    with seeded(1):
        again = [noise.uniform(2**64)]
        with seeded(2):
            noise.uniform(2**64)
        again += [noise.uniform(2**64) for _ in range(3)]
    assert outer == again
