"""The exact audit: rational arithmetic decides, to the last digit."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.account.losses.approx import Approx
from discreet.account.losses.discrete_gaussian import DiscreteGaussian
from discreet.account.losses.pure import Pure
from discreet.lab import audit, examine
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace

EXACT = ["exact"]


class Listed:
    """A mechanism given by its distributions."""

    def __init__(self, *distributions):
        self.distributions = distributions

    def __call__(self, dataset):
        return None

    def chances(self, dataset):
        return {output: (chance, chance) for output, chance in self.distributions[dataset].items()}


@st.composite
def pairs(draw):
    """Two distributions on the same few outputs."""
    weights = st.lists(st.integers(1, 50), min_size=4, max_size=4)
    made = []
    for _ in range(2):
        parts = draw(weights)
        made.append({place: Fraction(part, sum(parts)) for place, part in enumerate(parts)})
    return made


@given(pairs())
def test_the_largest_ratio_of_chances_is_the_epsilon(pair):
    epsilon = max(abs(math.log(pair[0][output] / pair[1][output])) for output in pair[0])
    finding = audit(Listed(*pair), 0, 1, Pure(100), layers=EXACT)
    assert finding.lower == pytest.approx(epsilon, abs=1e-12)


@given(pairs(), st.fractions(0, 3), st.sampled_from([0.01, 0.1, 0.3]))
def test_a_claim_is_violated_just_where_some_event_breaks_it(pair, epsilon, delta):
    growth = math.exp(epsilon)
    excess = max(sum(max(0.0, float(p[o]) - growth * float(q[o])) for o in p) for p, q in (pair, pair[::-1]))
    finding = audit(Listed(*pair), 0, 1, Approx(epsilon, delta), delta=delta, layers=EXACT)
    if abs(excess - delta) > 1e-9:
        assert finding.violated == (excess > delta)


def test_an_excess_of_a_millionth_of_a_millionth_is_found():
    scale = Fraction(10**12 - 1, 10**12)
    assert audit(Laplace(scale=scale), 0, 1, Pure(1), layers=EXACT).violated
    assert not audit(Laplace(scale=1), 0, 1, Pure(1), layers=EXACT).violated


def test_an_output_that_one_neighbour_never_gives_is_found():
    sure, never = {"a": Fraction(1)}, {"a": Fraction(9, 10), "b": Fraction(1, 10)}
    finding = audit(Listed(sure, never), 0, 1, Pure(5), layers=EXACT)
    assert finding.violated
    assert finding.event == "output 'b'"


def test_such_an_output_is_forgiven_up_to_delta():
    sure, never = {"a": Fraction(1)}, {"a": Fraction(9, 10), "b": Fraction(1, 10)}
    assert not audit(Listed(sure, never), 0, 1, Approx(0.2, 0.1), delta=0.1, layers=EXACT).violated
    assert audit(Listed(sure, never), 0, 1, Approx(0.2, 0.09), delta=0.09, layers=EXACT).violated


def test_the_pointwise_form_of_approximate_privacy_is_not_enough():
    # E6: (x, r) with r one of 1/delta values; every single output is below delta, and x is published.
    listed = Listed(*({(x, r): Fraction(1, 100) for r in range(100)} for x in (0, 1)))
    finding = audit(listed, 0, 1, Approx(0, 0.01), layers=EXACT)
    assert finding.violated


def test_gaussian_noise_is_tested_along_its_whole_curve():
    finding = audit(Gaussian(rho=Fraction(1, 8)), 0, 1, layers=EXACT)
    assert not finding.violated
    assert finding.lower == pytest.approx(finding.claimed, rel=1e-6)
    assert audit(Gaussian(rho=Fraction(1, 8)), 0, 1, DiscreteGaussian(Fraction(21, 10)), layers=EXACT).violated


def test_a_distribution_too_large_to_write_down_is_left_to_the_other_layers():
    assert examine(Laplace(scale=10**9), 0, 1, layers=EXACT) == ()
