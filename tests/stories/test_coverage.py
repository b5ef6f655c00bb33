"""Intervals cover the exact value at least as often as they say, over 2,000 noisy runs on fixed integers.

At 95% less four standard errors an honest interval that covers exactly 95% fails with probability 3e-5 for each of the
seeded cases; the seeds are fixed, so that a pass stays a pass.
"""

import math

import numpy as np
import pytest

import discreet as dp
from discreet.core.schema import between
from discreet.core.unit import person, row
from discreet.curator.answering import _tallied
from discreet.curator.interval import interval
from discreet.plan.keys import NO_KEYS
from discreet.testing import seeded
from tests.curator.questions import answered, engine, opened

RUNS = 2000
N = 400
X = [(i * i * 7 + 3 * i) % 41 - 20 for i in range(N)]
Z = [min(max(x + (i % 13) - 6, -20), 20) for i, x in enumerate(X)]
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
    """Yield the quantity of many runs: tallied once, noise drawn anew."""
    asked = table.agg(value=aggregate).asked(**price)
    (measure,) = asked.measures
    with engine(asked) as runner:
        tallied = _tallied(asked, [measure], runner, NO_KEYS)["value"]
    return measure.quantities(measure.noisy(tallied * runs), "run")


# Functions whose interval is simulated take a while each; fewer runs, and their own four standard errors.
SLOW = {"variance": 300, "std": 300, "covariance": 300, "correlation": 300}


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.05}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("word", SUMMED)
def test_intervals_of_noisy_sums_cover_the_truth(table, word, price):
    aggregate, truth = SUMMED[word]
    runs = SLOW.get(word, RUNS)
    with seeded(21):
        found = [interval(quantity) for quantity in runs_of(table, aggregate, price, runs)]
    covered = np.mean([low - 1e-9 <= truth <= high + 1e-9 for low, high in found])
    assert covered >= 0.95 - 4 * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize("word", ["median", "min", "max"])
def test_intervals_of_ranks_cover_the_truth(tmp_path, word):
    groups = 400
    data = {
        "id": range(groups * 100),
        "g": [g for g in range(groups) for _ in range(100)],
        "x": [X[i] for _ in range(groups) for i in range(100)],
    }
    sample = sorted(X[:100])
    truths = {"median": (sample[49], sample[50]), "min": (sample[0],) * 2, "max": (sample[-1],) * 2}[word]
    columns = {"x": between(-30, 30), "g": between(0, groups - 1)}
    visits = opened(tmp_path, data, unit=person("id", max_rows=1), columns=columns).table("visits")
    with seeded(22):
        (answer,) = answered(visits.group_by("g").agg(value=getattr(dp, word)("x")).asked(epsilon=6))
    cells = answer.columns[0].quantities
    covered = np.mean([cell.low <= truths[1] and truths[0] <= cell.high for cell in cells])
    assert covered >= 0.95 - 4 * math.sqrt(0.05 * 0.95 / groups)
    assert all(cell.low <= cell.value <= cell.high for cell in cells)


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.1}], ids=["epsilon", "rho"])
def test_intervals_of_bins_and_of_a_cdf_cover_the_truth(table, price):
    edges = [-20, -10, 0, 10, 20]
    bins = np.histogram(X, edges)[0]
    sums = [sum(x <= cut for x in X) for cut in edges[1:-1]] + [N]
    with seeded(23):
        histograms = answered(table.agg(value=dp.histogram("x", edges=edges)).asked(**price), 100)
        curves = answered(table.agg(value=dp.cdf("x", edges[1:-1])).asked(**price), 100)
    for answers, truths in ((histograms, bins), (curves, sums)):
        hits = [
            low - 1e-9 <= true <= high + 1e-9
            for answer in answers
            for (low, high), true in zip(map(interval, answer.columns[0].quantities), truths, strict=True)
        ]
        # Cells of one run share noise, so that runs are what is counted.
        assert np.mean(hits) >= 0.95 - 4 * math.sqrt(0.05 * 0.95 / len(answers))


def test_intervals_of_differences_and_shares_cover_the_truth(table):
    groups = table.group_by("g", keys={"g": [0, 1]})
    with seeded(24):
        answers = answered(groups.agg(n=dp.count(), s=dp.sum("x")).asked(epsilon=2), 400)
    derived = {
        "difference": (lambda answer: answer["n"] - answer["s"], N - sum(X)),
        "ratio": (lambda answer: answer["s"] / answer["n"], sum(X) / N),
        "scaled": (lambda answer: answer["n"] * 3 + 1, 3 * N + 1),
    }
    for compute, truth in derived.values():
        cells = [compute(answer).columns[0].cells[0] for answer in answers]
        covered = np.mean([cell.low - 1e-9 <= truth <= cell.high + 1e-9 for cell in cells])
        assert covered >= 0.95 - 4 * math.sqrt(0.05 * 0.95 / len(cells))


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
        found = [measure.answers([[1, 100, 300, 0]], "run") for _ in range(5000)]
    errors = [float(quantity.estimate) - true for pair in found for quantity, true in zip(pair, (100, 300), strict=True)]
    assert report.preview(epsilon=0.05)["value"].half_width == pytest.approx(quantile95(errors), rel=0.05)


@pytest.mark.parametrize("word", ["mean", "variance"])
def test_the_supposed_worst_case_of_a_sized_statistic_bounds_what_happens(table, word):
    aggregate, truth = SUMMED[word]
    predicted = table.agg(value=aggregate).preview(epsilon=1, rows=N)["value"].half_width
    with seeded(27):
        found = [interval(quantity) for quantity in runs_of(table, aggregate, {"epsilon": 1}, 100)]
    widths = [(high - low) / 2 for low, high in found]
    assert np.median(widths) <= predicted * 1.1
