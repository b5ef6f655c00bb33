"""The scalar samplers, path by path, against the definitions."""

from fractions import Fraction

import pytest

from discreet.noise import rejection
from tests.noise import truth
from tests.noise.tree import law as law_of


def bracket(found, rest, exact):
    for value, weight in found.items():
        assert truth.number(weight) <= exact(value) <= truth.number(weight + rest), value


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 8, 12])
def test_uniform_gives_every_value_the_same_weight(n):
    found, rest = law_of(lambda source: rejection.uniform(source, n), 16)
    assert sorted(found) == list(range(n))
    assert len(set(found.values())) == 1
    bracket(found, rest, lambda _: truth.mpf(1) / n)


@pytest.mark.parametrize("p", [(0, 1), (1, 1), (1, 3), (2, 7), (5, 8)])
def test_a_coin_has_the_asked_bias(p):
    found, rest = law_of(lambda source: rejection.bernoulli(source, p), 18)
    bracket(found, rest, lambda up: truth.mpf(p[0]) / p[1] if up else 1 - truth.mpf(p[0]) / p[1])


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5, 2)], ids=str)
def test_a_coin_of_bias_exp_has_it(x):
    found, rest = law_of(lambda source: rejection.bernoulli_exp(source, (x.numerator, x.denominator)), 18)
    assert rest < Fraction(1, 50)
    bracket(found, rest, lambda up: truth.mp.exp(-truth.number(x)) if up else 1 - truth.mp.exp(-truth.number(x)))


@pytest.mark.parametrize(
    "scale", [Fraction(1), pytest.param(Fraction(2), marks=pytest.mark.soak), Fraction(3, 2), Fraction(1, 3)], ids=str
)
@pytest.mark.parametrize("name", ["geometric", "laplace"])
def test_exponential_laws_are_right_path_by_path(name, scale):
    sample = getattr(rejection, name)
    found, rest = law_of(lambda source: sample(source, (scale.numerator, scale.denominator)), 20)
    assert rest < Fraction(1, 2)
    bracket(found, rest, getattr(truth, name)(scale))


@pytest.mark.parametrize("sigma", [Fraction(1, 2), pytest.param(Fraction(1), marks=pytest.mark.soak)], ids=str)
def test_the_gaussian_is_right_path_by_path(sigma):
    found, rest = law_of(lambda source: rejection.gaussian(source, (sigma.numerator, sigma.denominator)), 19)
    assert rest < Fraction(4, 5)
    bracket(found, rest, truth.gaussian(sigma))
