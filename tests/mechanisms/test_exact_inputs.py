"""Every mechanism takes exact values as they come from an engine, and nothing but its release opens them."""

from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

from discreet.core.errors import Refusal
from discreet.core.exact import Exact
from discreet.mechanisms.count import Count
from discreet.mechanisms.counter import Counter
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mean import Mean
from discreet.mechanisms.parts.noisy import Noisy
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.testing import seeded

MODULES = (
    "above_threshold",
    "contribution_bound",
    "count",
    "counter",
    "covariance",
    "exponential",
    "gaussian",
    "histogram",
    "key_selection",
    "laplace",
    "linear",
    "mean",
    "noisy_max",
    "permute_and_flip",
    "quantile",
    "sparse_vector",
    "sum",
    "top_k",
    "variance",
)
TRIALS = [next(iter(import_module(f"discreet.mechanisms.{name}").trials())) for name in MODULES]


@pytest.mark.parametrize("trial", TRIALS, ids=MODULES)
def test_an_exact_value_is_answered_as_a_plain_one_is(trial):
    with seeded(7):
        plain = trial.mechanism.release(trial.one)
    with seeded(7):
        assert np.array_equal(trial.mechanism.release(Exact(trial.one)), plain)


@pytest.mark.parametrize("trial", TRIALS, ids=MODULES)
@pytest.mark.parametrize("view", ["chances", "releases"])
def test_what_is_there_for_audits_does_not_open_exact_values(trial, view):
    look = getattr(trial.mechanism, view, None)
    if look is None:
        pytest.skip("it has no such view")
    with pytest.raises((TypeError, Refusal, AttributeError)):
        look(Exact(trial.one), *([2] if view == "releases" else []))


def test_measured_integers_carry_the_law_of_their_noise_and_their_price():
    count = Count(epsilon=1, groups=2, contributions=2)
    measured = count.measured(Exact([3, 5, 0]))
    assert isinstance(measured, Noisy)
    assert len(measured.values) == 3
    assert measured.laws == (("laplace", 2),)
    assert measured.loss == count.loss


def test_measured_integers_are_those_that_noisy_returns():
    mean = Mean(low=0, high=10, rho=0.1)
    groups = [(4, 2), (-6, 3)]
    with seeded(3):
        plain = mean.noisy(groups)
    with seeded(3):
        assert np.array_equal(mean.measured(Exact(groups)).values, plain)


def test_a_quantile_is_searched_in_exact_counts():
    quantile = Quantile(low=0, high=7, epsilon=1)
    values = np.array([1, 2, 5, 5])

    def counts(requests):
        return [
            {cell: int(many) for cell, many in enumerate(np.bincount((values - each.low) // each.width)) if many}
            for each in requests
        ]

    with seeded(5):
        plain = quantile.search(counts, 1)
    with seeded(5):
        assert quantile.search(lambda requests: Exact(counts(requests)), 1) == plain


def test_sessions_take_exact_values_one_by_one():
    session = SparseVector(threshold=5, epsilon=2, cutoff=1, answers_epsilon=1).session()
    assert isinstance(session.ask(Exact(10**6)), int)
    assert isinstance(Counter(horizon=4, epsilon=1).session().add(Exact(1)), int)


@pytest.mark.parametrize("mechanism", [Laplace(epsilon=Fraction(1, 1000)), Gaussian(rho=Fraction(1, 10**6))])
def test_a_table_without_axes_has_noise_as_any_other(mechanism):
    """Twenty draws of noise a thousand wide hardly ever fall on fewer than ten values (below 1e-9)."""
    with seeded(77):
        found = {int(mechanism.release(Exact(np.asarray(5)))) for _ in range(20)}
    assert len(found) >= 10
