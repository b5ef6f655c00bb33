"""Bars: they hold as often as they say, for Laplace noise, for merged codes and for much that was measured."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import publish
from discreet.account.budgets.budget import Budget
from discreet.noise.gaussian import gaussian
from discreet.noise.laplace import laplace
from discreet.publish.domain import Domain
from discreet.publish.error_bars import bar, half_width
from discreet.publish.merged_codes import Merged
from discreet.publish.model.fit import NoisyMarginal, fit
from discreet.publish.model.junction import Junction
from discreet.testing import seeded
from tests.publish.worlds import dependent_table, made

MANY = 20_000


def _most_misses(beta, tries=MANY):
    """Return a number of misses that is exceeded with probability at most 1e-6, if each has probability beta."""
    # Bernstein's inequality: exp(-t^2 / (2 (variance + t / 3))) = 1e-6.
    level = math.log(1e6)
    return tries * beta + level / 3 + math.sqrt((level / 3) ** 2 + 2 * level * tries * beta * (1 - beta))


@pytest.mark.parametrize("beta", [0.2, 0.05, 0.01])
@pytest.mark.parametrize("cells", [1, 2, 9])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(30)])
def test_sums_of_noise_stay_within_their_half_width(beta, cells, scale):
    with seeded(1):
        for draw, deviation in ((gaussian, float(scale)), (laplace, float(scale) * math.sqrt(2))):
            sums = np.asarray(draw(scale, (MANY, cells)), np.int64).sum(axis=1)
            wide = half_width(deviation * math.sqrt(cells), beta, gaussian=draw is gaussian)
            assert (np.abs(sums) > wide).sum() <= _most_misses(beta)


@pytest.mark.parametrize("epsilon", [1, 20])
def test_bars_of_pure_epsilon_hold_for_rare_misses_too(epsilon):
    """One column of four codes, measured with Laplace noise; each of 1,200 bars may miss once in a hundred."""
    domain, columns = {"a": 4}, {"a": np.arange(400) % 4}
    missed = tries = 0
    with seeded(2):
        for _ in range(300):
            synthetic = publish.synthesize(columns, domain, budget=Budget(epsilon=epsilon), method="tables", workload=1)
            found = [synthetic.answer({"a": code}, beta=0.01) for code in range(4)]
            missed += sum(not each.low <= 100 <= each.high for each in found)
            tries += 4
    assert missed <= _most_misses(0.01, tries)


def test_the_bar_of_codes_that_were_merged_has_the_noise_of_every_one_of_them():
    """One column of 40 codes, measured code by code; all but two are rare, and are counted together afterwards."""
    domain = Domain.of({"a": 40})
    exact = np.r_[1000, 1000, np.zeros(38, np.int64)].astype(np.int64)
    missed = 0
    with seeded(3):
        for _ in range(400):
            one = NoisyMarginal((0,), exact + np.asarray(gaussian(10, 40), np.int64).astype(float), 10.0)
            merged = Merged.of(domain, [one])
            noisy = merged.noisy(one)
            model = fit(Junction.of(merged.smaller.sizes, ()), [noisy], steps=20)
            rare = merged.groups[0] == merged.groups[0].max()
            told = model.tables[0][-1] * model.total
            wide = bar(model, merged, [noisy], {0: rare}, 0.05, gaussian=True)
            missed += abs(told - exact[rare].sum()) > wide
    assert missed <= _most_misses(0.05, 400)


def test_much_that_was_measured_makes_a_bar_narrower_and_no_less_true():
    """A model that is the truth: every bar is noise alone, and all measurements of a column count."""
    generator = made(4)
    domain, exact = Domain.of({"a": 2, "b": 2}), np.array([[400, 100], [200, 300]])
    tree = Junction.of(domain.sizes, [(0, 1)])
    model = fit(tree, [NoisyMarginal((0, 1), exact.astype(float), 1e-3)], steps=400)
    picked = {0: np.array([True, False])}
    missed = 0
    for _ in range(800):
        measured = [NoisyMarginal((0, 1), exact + generator.normal(0, 20, (2, 2)), 20.0) for _ in range(8)]
        wide = bar(model, Merged.none(domain), measured, picked, 0.05, gaussian=True)
        alone = [bar(model, Merged.none(domain), [each], picked, 0.05, gaussian=True) for each in measured]
        noise = np.mean([each.values[0].sum() - 500 for each in measured])
        assert wide == pytest.approx(abs(noise) + 1.96 * 20 * math.sqrt(2 / 8) + 1, abs=0.1)
        assert wide < np.mean(alone)
        missed += abs(noise) > 1.96 * 20 * math.sqrt(2 / 8) + 1
    assert missed <= _most_misses(0.05, 800)


def test_an_answer_without_a_bar_says_what_is_missing():
    domain, columns = dependent_table(made(5))
    with seeded(5):
        merf = publish.synthesize(columns, domain, budget=Budget(rho=1), method="merf", workload=2)
        alone = publish.synthesize(columns, domain, budget=Budget(rho=1), method="independent")
    assert "no bar: random features were measured" in str(merf.answer({"first": 0}))
    assert "no bar: not measured" in str(alone.answer({"first": 0, "second": 1}))
    assert alone.answer({"first": 0}).reason == ""


def test_a_bar_takes_in_the_truth_where_rows_lack_values():
    # A third of the rows have no code in b, and no place in the pair: single columns and pairs contradict each other.
    generator = made(12)
    a, b = generator.integers(0, 3, (2, 3000))
    columns, truth = {"a": a, "b": np.where(generator.random(3000) < 1 / 3, 9, b)}, int((a == 1).sum())
    for method in ("aim", "mst", "mwem"):
        with seeded(4):
            synthetic = publish.synthesize(columns, {"a": 3, "b": 3}, budget=Budget(rho=1), method=method)
        found = synthetic.answer({"a": 1}, beta=1e-6)
        assert abs(found.value - truth) <= found.error, method


@pytest.mark.parametrize("beta", [1e-300, 1e-17, 0.999])
def test_there_is_a_half_width_for_every_probability(beta):
    assert 1 < half_width(1.0, beta, gaussian=True) <= half_width(1.0, beta, gaussian=False) < 1000


def test_the_half_width_holds_for_a_sum_of_two_where_both_quantiles_meet():
    # Two Laplace numbers of scale b: P(|X + Y| > t) = (1 + t / 2b) exp(-t / b), and a deviation of 2b.
    for beta in np.linspace(0.08, 0.11, 61):
        reach = half_width(1.0, float(beta), gaussian=False) - 1
        assert (1 + reach) * math.exp(-2 * reach) <= beta
