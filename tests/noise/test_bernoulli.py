"""Coins: exact bias, on all paths."""

from fractions import Fraction

import pytest

from discreet import noise
from discreet.noise import enclosure, rejection
from discreet.noise.bernoulli import _coins
from tests.noise import truth
from tests.noise.tree import law as law_of


@pytest.mark.parametrize("p", [Fraction(0), Fraction(1), Fraction(1, 3), Fraction(5, 7), Fraction(3, 8)], ids=str)
def test_a_rational_bias_is_met_to_the_last_bit(p):
    top, bottom = p.numerator, p.denominator

    def bias(bits):
        return (top << bits) // bottom, -((-top << bits) // bottom)

    found, rest = law_of(lambda source: int(_coins(source, (1,), bias, word=4, step=3)[0]), 31)
    assert rest <= Fraction(1, 2**31)
    assert found.get(1, 0) <= p <= found.get(1, 0) + rest


@pytest.mark.parametrize("x", [Fraction(1, 9), Fraction(1), Fraction(7, 2), Fraction(60)], ids=str)
def test_a_bias_of_exp_is_met_to_the_last_bit(x):
    found, rest = law_of(
        lambda source: int(
            _coins(source, (1,), lambda bits: enclosure.exp((x.numerator, x.denominator), bits), word=4, step=3)[0]
        ),
        31,
    )
    assert rest <= Fraction(3, 2**31)
    heads = found.get(1, Fraction(0))
    assert truth.number(heads) <= truth.mp.exp(-truth.number(x)) <= truth.number(heads + rest)


def test_certain_coins_are_certain():
    assert noise.bernoulli(1, 1000).all()
    assert not noise.bernoulli(0, 1000).any()
    assert noise.bernoulli_exp(0, 1000).all()
    assert not noise.bernoulli_exp(10**6, 1000).any()
    assert (noise.bernoulli(1), noise.bernoulli(0), noise.bernoulli_exp(0), noise.bernoulli_exp(10**6)) == (1, 0, 1, 0)


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(10**9 - 1, 10**12), 0.1], ids=str)
def test_a_single_coin_is_tossed_with_exactly_its_bias(monkeypatch, p):
    heard = []
    monkeypatch.setattr(rejection, "bernoulli", lambda source, ratio: heard.append(Fraction(*ratio)) or True)
    assert noise.bernoulli(p) == 1
    assert heard == [Fraction(p)]
