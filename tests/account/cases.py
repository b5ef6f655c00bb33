"""Losses to test with: one of each kind, and strategies that make any."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import strategies as st

from discreet.account import (
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianDP,
    Laplace,
    Pure,
    RandomizedResponse,
    Renyi,
    Zcdp,
    parallel,
)

SINGLE = {
    "laplace": Laplace(Fraction(10)),
    "gaussian": Gaussian(2.5),
    "discrete_laplace": DiscreteLaplace(10),
    "discrete_laplace_steps": DiscreteLaplace(Fraction(31, 3), 7),
    "discrete_gaussian": DiscreteGaussian(3, 2),
    "randomized_response": RandomizedResponse(0.3),
    "exponential": Exponential(Fraction(1, 2)),
    "pure": Pure(1),
    "approx": Approx(0.2, 1e-9),
    "zcdp": Zcdp(0.02),
    "approximate_zcdp": Zcdp(Fraction(1, 50), 1e-9),
    "renyi": Renyi({2: 0.1, Fraction(17, 2): 0.4, math.inf: 3}),
    "gaussian_dp": GaussianDP(0.4),
}
COMPOUND = {
    "composed": Laplace(10) * 3 + Gaussian(2.5) * 2,
    "sampled": Gaussian(0.8).sampled(0.01) * 100,
    "sampled_sum": (Laplace(1) + RandomizedResponse(0.5)).sampled(Fraction(1, 50)),
    "drawn": Laplace(2, relation="replace").sampled(10, of=500),
    "parallel": parallel(Laplace(10), Gaussian(9)) + Pure(0.1),
}
ALL = SINGLE | COMPOUND

_rates = st.floats(0.05, 5.0)
_numbers = st.one_of(_rates, st.fractions(Fraction(1, 20), 5, max_denominator=50))
events = st.one_of(
    st.builds(Laplace, _numbers),
    st.builds(Gaussian, _numbers),
    st.builds(DiscreteLaplace, _numbers, st.integers(1, 5)),
    st.builds(DiscreteGaussian, st.floats(0.5, 5.0), st.integers(1, 5)),
    st.builds(RandomizedResponse, _numbers),
    st.builds(Exponential, _numbers),
    st.builds(Pure, _numbers),
    st.builds(Approx, _numbers, st.floats(0, 1e-7)),
    st.builds(GaussianDP, _numbers),
)
stated = st.one_of(st.builds(Zcdp, _numbers), st.builds(Renyi, st.dictionaries(st.integers(2, 64), _rates, min_size=1)))
counted = st.builds(lambda loss, k: loss * k, events, st.integers(1, 30))
losses = st.one_of(events, counted, st.builds(lambda a, b: a + b, counted, counted))
deltas = st.sampled_from([1e-3, 1e-6, 1e-9, 1e-12])
