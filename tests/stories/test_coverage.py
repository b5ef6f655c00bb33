"""Intervals cover the exact value at least as often as they say, over 2,000 noisy runs on fixed integers.

At 95% less 4.75 standard errors an honest interval that covers exactly 95% fails with probability 1e-6 for each of the
seeded cases. Moments of second order invert a test in milliseconds: they have fewer runs here, and their long form in
tests/answers/test_corners.py.
"""

import math

import numpy as np
import pytest

import discreet as dp
from discreet.answers.interval import interval
from discreet.ask.programme import Programme
from discreet.core.doors import opened as opened_exact
from discreet.core.exact import Exact
from discreet.core.schema import between
from discreet.core.unit import person, row
from discreet.testing import seeded
from tests.curator.questions import answered, engine, opened

RUNS = 2000
FEW = {"variance": 100, "std": 60, "covariance": 60, "correlation": 30}


def least(runs):
    """The least coverage that an honest interval falls short of once in a million times."""
    return 0.95 - 4.75 * math.sqrt(0.05 * 0.95 / runs)


LEAST = least(RUNS)
N = 400
X = [(i * i * 7 + 3 * i) % 41 - 20 for i in range(N)]
Z = [min(max(x + (i % 13) - 6, -20), 20) for i, x in enumerate(X)]
SAMPLE = sorted(X[:100])
SUMMED = {
    "count": (dp.count(), N),
    "people": (dp.people(), N),
    "sum": (dp.sum("x"), sum(X)),
    "mean": (dp.mean("x"), np.mean(X)),
    "variance": (dp.variance("x"), np.var(X)),
    "std": (dp.std("x"), np.std(X)),
    "covariance": (dp.covariance("x", "z"), np.cov(X, Z, bias=True)[0, 1]),
    "correlation": (dp.correlation("x", "z"), np.corrcoef(X, Z)[0, 1]),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    data = {"id": range(N), "x": X, "z": Z, "g": [0] * N}
    columns = {"x": between(-20, 20), "z": between(-20, 20), "g": between(0, 199)}
    return opened(tmp_path_factory.mktemp("coverage"), data, unit=row(), columns=columns).table("visits")


def runs_of(table, aggregate, price, runs=RUNS):
    """Yield the quantity of many runs: tallied once, noise drawn again."""
    asked = table.agg(value=aggregate).asked(**price)
    (measure,) = asked.measures
    with engine(asked) as runner:
        (step,) = Programme(asked).steps
        with step.request(Programme(asked).start).found(runner) as tallied:
            (quantities,) = measure.noisy(Exact(opened_exact(tallied) * runs), runs, "run")
    return quantities


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.05}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("word", SUMMED)
def test_intervals_of_noisy_sums_cover_the_truth(table, word, price):
    aggregate, truth = SUMMED[word]
    with seeded(21):
        found = [interval(quantity) for quantity in runs_of(table, aggregate, price, FEW.get(word, RUNS))]
    assert covered(found, truth) >= least(len(found))


@pytest.fixture(scope="module")
def alike(tmp_path_factory):
    """So many groups as there are runs, all of the same hundred rows, so that one answer is all runs."""
    data = {
        "id": range(RUNS * len(SAMPLE)),
        "g": [g for g in range(RUNS) for _ in SAMPLE],
        "x": SAMPLE * RUNS,
    }
    columns = {"x": between(-30, 30), "g": between(0, RUNS - 1)}
    unit = person("id", max_rows=1)
    return opened(tmp_path_factory.mktemp("alike"), data, unit=unit, columns=columns).table("visits").group_by("g")


@pytest.mark.parametrize("word", ["median", "min", "max"])
def test_intervals_of_ranks_cover_the_truth(alike, word):
    truths = {"median": SAMPLE[49:51], "min": SAMPLE[:1], "max": SAMPLE[-1:]}[word]
    with seeded(22):
        (answer,) = answered(alike.agg(value=getattr(dp, word)("x")).asked(epsilon=6))
    cells = answer.columns[0].quantities
    # Whatever lies between the two values in the middle is a median.
    hits = [cell.low <= truths[-1] and truths[0] <= cell.high for cell in cells]
    assert np.mean(hits) >= LEAST
    assert all(cell.low <= cell.value <= cell.high for cell in cells)


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.1}], ids=["epsilon", "rho"])
@pytest.mark.parametrize(
    ("aggregate", "counts", "truths"),
    [
        (dp.histogram("x", edges=[-20, -10, 0, 20]), [0, 30, 5, 65, 0], [30, 5, 65]),
        (dp.cdf("x", [-10, 0]), [30, 5, 65], [30, 35, 100]),
    ],
    ids=["histogram", "cdf"],
)
def test_intervals_of_bins_and_of_a_cdf_cover_the_truth(table, aggregate, counts, truths, price):
    (measure,) = table.agg(value=aggregate).asked(**price).measures
    with seeded(23):
        (quantities,) = measure.noisy(Exact([(each,) for each in counts * RUNS]), RUNS, "run")
        found = [interval(quantity) for quantity in quantities]
    for place, truth in enumerate(truths):
        assert covered(found[place :: len(truths)], truth) >= LEAST


DERIVED = {
    "difference": (lambda answer: answer["n"] - answer["s"], len(SAMPLE) - sum(SAMPLE)),
    "ratio": (lambda answer: answer["s"] / answer["n"], sum(SAMPLE) / len(SAMPLE)),
    "scaled": (lambda answer: answer["n"] * 3 + 1, 3 * len(SAMPLE) + 1),
    "clipped": (lambda answer: answer["n"].clip(0, 101), len(SAMPLE)),
}


@pytest.mark.parametrize("word", DERIVED)
def test_intervals_of_what_is_computed_from_answers_cover_the_truth(alike, word):
    compute, truth = DERIVED[word]
    with seeded(24):
        (answer,) = answered(alike.agg(n=dp.count(), s=dp.sum("x")).asked(epsilon=2))
    cells = compute(answer).columns[0].cells
    assert covered([(cell.low, cell.high) for cell in cells], truth) >= LEAST


def covered(found, truth):
    """The share of intervals that the truth lies in."""
    return np.mean([low - 1e-9 <= truth <= high + 1e-9 for low, high in found])


def quantile95(errors):
    return float(np.quantile(np.abs(errors), 0.95))


@pytest.mark.parametrize("price", [{"epsilon": 0.05}, {"rho": 0.0005}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("word", ["count", "sum"])
def test_predicted_half_widths_are_those_that_happen(table, word, price):
    aggregate, truth = SUMMED[word]
    predicted = table.agg(value=aggregate).preview(**price)["value"].half_width
    with seeded(25):
        values = [float(quantity.estimate) for quantity in runs_of(table, aggregate, price, 100_000)]
    assert predicted == pytest.approx(quantile95(np.array(values) - truth), rel=0.03)


def test_predicted_half_widths_of_a_histogram_are_those_that_happen(table):
    report = table.agg(value=dp.histogram("x", edges=[-20, 0, 20]))
    asked = report.asked(epsilon=0.05)
    (measure,) = asked.measures
    with seeded(26):
        (found,) = measure.noisy(Exact([(each,) for each in [1, 100, 300, 0] * 50_000]), 50_000, "run")
    errors = [float(quantity.estimate) - (100, 300)[place % 2] for place, quantity in enumerate(found)]
    assert report.preview(epsilon=0.05)["value"].half_width == pytest.approx(quantile95(errors), rel=0.03)


# Nearly all values at one bound, the worst case, and just so far from it that no interval is cut there: the tallies of
# 10,000 rows between bounds 40 steps apart, of which a hundredth, or a two-hundredth, lie at the other bound.
NEAR = {"mean": (40 * 100, 10_000), "variance": (40 * 50, 10_000, 2 * 40 * 40 * 10_000)}


@pytest.mark.parametrize("word", NEAR)
def test_the_half_width_of_a_sized_statistic_is_that_of_its_worst_case(table, word):
    (measure,) = table.agg(value=SUMMED[word][0]).asked(epsilon=1).measures
    predicted = measure.half_width(rows=10_000)
    with seeded(27):
        (near,) = measure.noisy(Exact([NEAR[word]] * 60), 60, "near")
    lengths = [high - low for low, high in map(interval, near)]
    assert predicted == pytest.approx(np.median(lengths) / 2, rel=0.03)


@pytest.mark.parametrize("word", ["mean", "variance", "std", "covariance"])
def test_what_happens_is_no_wider_than_the_worst_that_was_supposed(table, word):
    aggregate, _ = SUMMED[word]
    predicted = table.agg(value=aggregate).preview(epsilon=1, rows=N)["value"].half_width
    with seeded(28):
        found = [interval(quantity) for quantity in runs_of(table, aggregate, {"epsilon": 1}, 30)]
    assert np.median([(high - low) / 2 for low, high in found]) <= predicted
