"""Means: exact ratios on the grid, unbiased sums with the theory's variance, and intervals that cover."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from discreet import local
from discreet.core.errors import BadParameter, UnknownName
from discreet.lab.audits.audit import audit
from discreet.local.poisoning import influence
from discreet.local.sketch import Sketch
from discreet.testing import seeded

METHODS = ["duchi", "piecewise", "hybrid"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, 3])
def test_no_ratio_exceeds_the_epsilon_asked_for_and_none_of_it_is_wasted(method, epsilon):
    protocol = local.mean(-1, 1, epsilon, method=method, step=Fraction(1, 6))
    laws = [protocol.likelihood(value) for value in protocol.trial_values()]
    largest = max(max(one[y] / other[y], other[y] / one[y]) for one, other in combinations(laws, 2) for y in one)
    assert largest == protocol.odds
    assert 0.999 * math.exp(epsilon) <= float(largest)
    assert protocol.loss.epsilon(0) <= float(epsilon)


@pytest.mark.parametrize("method", METHODS)
def test_every_report_decodes_to_its_value_on_average_exactly(method):
    protocol = local.mean(0, 5, 2, method=method, step=Fraction(1, 2))
    for value in protocol.trial_values():
        expected = sum(
            Fraction(protocol.estimate(protocol.aggregate([report])).value[0]) * chance
            for report, chance in protocol.likelihood(value).items()
        )
        assert float(expected) == pytest.approx(float(value), abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [-1, 0.25, 1])
def test_sums_have_the_stated_variance_and_intervals_cover(method, value):
    protocol, n, runs = local.mean(-1, 1, 1, method=method), 400, 300
    values = np.full(n, value)
    with seeded(981):
        found = [protocol.estimate(protocol.aggregate(protocol.encode(values))) for _ in range(runs)]
    scores = np.array([each.value[0] - n * value for each in found]) / math.sqrt(protocol.variance(n, value))
    # 300 nearly normal numbers: their mean within 5 standard errors, their mean square within 6 of 0.082.
    assert abs(scores.mean()) <= 5 / math.sqrt(runs)
    assert (scores**2).mean() == pytest.approx(1, abs=0.49)
    covered = np.mean([each.low[0] <= n * value <= each.high[0] for each in found])
    assert covered >= 0.95 - 4 * math.sqrt(0.05 * 0.95 / runs)
    width = np.mean([each.high[0] - each.low[0] for each in found]) / (
        2 * 1.96 * math.sqrt(protocol.variance(n, value))
    )
    assert width <= 1.1


def test_values_that_differ_are_covered_without_waste():
    # Half at either bound: their mean says nothing about their squares, which the reports have to tell.
    values = np.tile([0.0, 1.0], 300)
    for method in ("piecewise", "hybrid"):
        protocol, runs = local.mean(0, 1, 3, method=method), 200
        with seeded(982):
            found = [protocol.estimate(protocol.aggregate(protocol.encode(values))) for _ in range(runs)]
        covered = np.mean([each.low[0] <= 300 <= each.high[0] for each in found])
        assert covered >= 0.95 - 4 * math.sqrt(0.05 * 0.95 / runs)
        exact = 300 * (protocol.variance(1, 0) + protocol.variance(1, 1))
        width = np.mean([each.high[0] - each.low[0] for each in found]) / (2 * 1.96 * math.sqrt(exact))
        assert width <= 1.1


@pytest.mark.parametrize("epsilon", [0.3, 0.5, 1, 2, 5])
def test_worst_variances_are_those_of_the_theorems(epsilon):
    duchi, near, hybrid, auto = (local.mean(-1, 1, epsilon, method=m).variance(1) for m in (*METHODS, "auto"))
    half = math.exp(epsilon / 2)
    assert duchi == pytest.approx(((math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)) ** 2, rel=1e-6)
    assert near == pytest.approx(1 / (half - 1) + (half + 3) / (3 * (half - 1) ** 2), rel=1e-3)
    assert hybrid <= min(duchi, near) * (1 + 1e-9)
    assert auto <= min(duchi, near, hybrid)


def test_an_audit_finds_the_epsilon_and_never_more():
    protocol = local.mean(0, 1, 1, method="duchi", step=Fraction(1, 4))
    with seeded(983):
        finding = audit(protocol, 0, 1, samples=200_000, layers=["black_box"])
    assert 0.9 <= finding.lower <= 1


def test_bounds_and_steps_are_read_as_written():
    protocol = local.mean(0, 1, 1, step=0.1)
    assert protocol.steps == 10
    assert protocol.checked([0.26, 1, 0]).tolist() == [3, 10, 0]
    assert local.mean(-3, 7, 1).steps == 1 << 16
    with pytest.raises(BadParameter, match="value"):
        protocol.likelihood(0.25)


def test_fakes_are_bounded_and_reach_the_bound():
    for method in METHODS:
        protocol = local.mean(2, 4, 1, method=method, step=Fraction(1, 8))
        values = [protocol.estimate(protocol.aggregate([report])).value[0] for report in protocol.likelihood(3)]
        bound = influence(protocol, 1)
        assert max(values) == pytest.approx(bound.high, rel=1e-6)
        assert min(values) == pytest.approx(bound.low, rel=1e-6)


def test_points_beyond_the_last_are_malformed():
    protocol = local.mean(0, 1, 1, method="piecewise", step=Fraction(1, 4))
    beyond = protocol.outcomes.to_bytes(protocol.bytes_per_report, "little")
    sketch = protocol.aggregate([beyond, b"\0"])
    assert (sketch.reports, sketch.rejected) == (1, 1)


def test_an_unknown_method_is_refused():
    with pytest.raises(UnknownName, match="piecewise"):
        local.mean(0, 1, 1, method="piecewis")


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), 3, 8])
@pytest.mark.parametrize("n", [1, 2, 10, 40])
def test_few_reports_of_one_bit_are_bounded_by_the_law_of_their_coins(epsilon, n):
    made = local.mean(0, 10, epsilon, step=1, method="duchi")
    found = [made.estimate(Sketch(made.spec_hash, np.array([n, ones, 0, 0, 0]), n)) for ones in range(n + 1)]
    for place in (0, 1, 5, 10):
        one = float(made.likelihood(place)[b"\1"])
        chances = [math.comb(n, ones) * one**ones * (1 - one) ** (n - ones) for ones in range(n + 1)]
        held = [bool(each.low[0] <= n * place <= each.high[0]) for each in found]
        assert sum(c for c, holds in zip(chances, held, strict=True) if holds) >= 0.95


@pytest.mark.parametrize("wrong", [(0, 10**400), (-1e308, 1e308), (0, Fraction(1, 10**400))], ids=str)
def test_bounds_that_no_float_tells_apart_are_refused_before_a_value_is_looked_at(wrong):
    with pytest.raises(BadParameter, match="another unit"):
        local.mean(*wrong, 1)


@pytest.mark.parametrize("wrong", ["x", None, float("nan")])
def test_an_epsilon_that_is_no_number_is_refused_by_every_numeric_protocol(wrong):
    for made in (lambda: local.mean(0, 1, wrong), lambda: local.one_bit_mean(0, 1, wrong)):
        with pytest.raises(BadParameter, match="epsilon"):
            made()
