"""RAPPOR's decoding: unbiased, covering for every candidate, and strict about what it calls detected."""

import numpy as np
import pytest

from discreet import local, noise
from discreet.core.errors import BadParameter, UnknownName
from discreet.local.protocols.rappor.decode import detect
from discreet.local.protocols.rappor.fit import lasso, within
from discreet.testing import seeded

VALUES = 40


def shares(kind, count=VALUES):
    at = np.arange(1, count + 1)
    weights = {"uniform": np.ones(count), "zipf": 1 / at, "exponential": np.exp(-5 * at / count)}[kind]
    return weights / weights.sum()


def drawn(kind, n, count=VALUES):
    """Return so many values, drawn by exact integers in a seeded block."""
    edges = np.floor(np.cumsum(shares(kind, count)) * 2.0**53)
    return np.minimum(np.searchsorted(edges, noise.uniform(1 << 53, n), side="right"), count - 1)


def run(protocol, kind, n, count=VALUES, before=""):
    values = drawn(kind, n, count)
    words = np.array([f"{before}v{at}" for at in range(count)], dtype=object)
    sketch = protocol.aggregate(protocol.encode(words[values].tolist()))
    return sketch, np.bincount(values, minlength=count)


def least_covered(covered):
    """Return the bar: 95% less four standard errors, the runs being the sample."""
    return 0.95 - 4 * max(np.std(covered, ddof=1), 0.02) / len(covered) ** 0.5


# noise -> (f, p, q); extra candidates; every so many values no candidate
CASES = {
    "strict, all known": ((0.45, 0.39, 0.61), 0, 0),
    "strict, a tenth unknown": ((0.45, 0.39, 0.61), 10, 10),
    "loose, a tenth unknown": ((0, 0.225, 0.775), 10, 10),
    "loose, many candidates": ((0.25, 0.2, 0.8), 250, 10),
    "permanent only": ((0.5, 0, 1), 5, 0),
}


@pytest.mark.parametrize("kind", ["uniform", "zipf"])
@pytest.mark.parametrize("case", CASES)
def test_intervals_of_all_candidates_cover(case, kind):
    chances, extra, missing = CASES[case]
    protocol = local.rappor(8, 2, 64, *chances)
    known = [value for value in range(VALUES) if not (missing and value % missing == 9)]
    covered = []
    with seeded(941):
        for at in range(12):
            # Other names have other hashes: what is unknown is noise over the choice of hashes.
            names = [f"{at} v{value}" for value in known] + [f"{at} extra {number}" for number in range(extra)]
            sketch, truth = run(protocol, kind, 30_000, before=f"{at} ")
            found = protocol.estimate(sketch, candidates=names)
            true = np.concatenate([truth[known], np.zeros(extra)])
            covered.append(((found.low <= true) & (true <= found.high)).mean())
    assert np.mean(covered) >= least_covered(covered)


def test_values_are_unbiased_with_the_stated_variance():
    protocol = local.rappor(8, 2, 32, 0.25, 0.25, 0.75, candidates=[f"v{at}" for at in range(30)])
    n, runs = 20_000, 40
    truth = np.bincount(np.arange(n) % 30, minlength=30)
    with seeded(942):
        found = [protocol.estimate(protocol.aggregate(protocol.encode(np.arange(n) % 30))) for _ in range(runs)]
    errors = np.array([each.value - truth for each in found])
    scores = errors / np.sqrt(protocol.variance(n))
    # 30 candidates within 6 standard errors of zero, their deviations differing a little by design: below 1e-6
    assert np.abs(scores.mean(axis=0)).max() <= 6 * 1.3 / np.sqrt(runs)
    # 1,200 squares, nearly independent: their mean has a standard error of 0.041; five of them
    assert (scores**2).mean() == pytest.approx(1, abs=0.21)
    widths = np.mean([(each.high - each.low).mean() for each in found])
    assert widths <= 1.1 * 2 * 1.96 * np.sqrt(protocol.variance(n))


def test_absent_candidates_are_hardly_ever_detected():
    protocol = local.rappor(8, 2, 64, 0.25, 0.25, 0.75)
    names = [f"v{at}" for at in range(VALUES)] + [f"absent {at}" for at in range(60)]
    runs, false, true = 15, 0, 0
    with seeded(943):
        for _ in range(runs):
            sketch, _ = run(protocol, "zipf", 40_000)
            found = protocol.estimate(sketch, candidates=names)
            false += bool(found.detected[VALUES:].any())
            true += int(found.detected[:4].sum())
    # Bonferroni at 0.05 over 15 runs: 8 or more runs with a false detection have probability below 1e-6
    assert false < 8
    assert true == 4 * runs


def test_p_values_of_absent_candidates_are_even():
    protocol = local.rappor(8, 2, 64, 0.25, 0.25, 0.75)
    with seeded(944):
        sketch, _ = run(protocol, "zipf", 50_000)
    names = [f"v{at}" for at in range(VALUES)] + [f"absent {at}" for at in range(180)]
    absent = np.sort(protocol.estimate(sketch, candidates=names).p_value[VALUES:])
    steps = np.arange(1, 181) / 180
    # Kolmogorov's test: the distance exceeds sqrt(ln(2e6) / (2 * 180)) with probability 1e-6, were they independent
    assert np.abs(absent - steps).max() < np.sqrt(np.log(2e6) / 360)


def test_detection_by_share_of_false_ones_finds_no_less_than_bonferroni():
    p_value = np.array([0.001, 0.5, 0.012, 0.021, 0.04, 0.9])
    assert detect(p_value, 0.05, "bonferroni").tolist() == [True, False, False, False, False, False]
    assert detect(p_value, 0.05, "fdr").tolist() == [True, False, True, True, False, False]
    assert not detect(np.full(5, 0.5), 0.05, "fdr").any()


def test_simultaneous_intervals_hold_together():
    protocol = local.rappor(8, 2, 64, 0.25, 0.25, 0.75)
    names = [f"v{at}" for at in range(VALUES)]
    together = 0
    with seeded(945):
        for _ in range(10):
            sketch, truth = run(protocol, "exponential", 30_000)
            wide = protocol.estimate(sketch, candidates=names, simultaneous=True)
            together += bool(((wide.low <= truth) & (truth <= wide.high)).all())
            alone = protocol.estimate(sketch, candidates=names)
            assert ((wide.high - wide.low) > 1.3 * (alone.high - alone.low)).all()
    # 7 or more of 10 runs outside, at 0.05 each, have probability below 1e-6
    assert together > 3


def test_the_fit_is_a_distribution_and_near_the_truth():
    protocol = local.rappor(8, 2, 64, 0.25, 0.2, 0.8)
    names = [f"v{at}" for at in range(VALUES)]
    with seeded(946):
        sketch, truth = run(protocol, "zipf", 100_000)
    found = protocol.estimate(sketch, candidates=names)
    assert (found.fitted >= 0).all()
    assert found.fitted.sum() <= 100_000 * (1 + 1e-5)
    assert found.total_variation(truth) < 0.08
    assert found.found[0] == "v0"
    assert found.top(3).names[0] == "v0"
    assert found.top(3).detected.all()
    assert found.unknown < 4_000


def test_unknown_strings_are_seen_as_noise():
    protocol = local.rappor(8, 2, 64, 0, 0.2, 0.8)
    with seeded(947):
        sketch, _ = run(protocol, "zipf", 100_000)
    everything = protocol.estimate(sketch, candidates=[f"v{at}" for at in range(VALUES)])
    half = protocol.estimate(sketch, candidates=[f"v{at}" for at in range(1, VALUES)])
    assert everything.noise < 1.3
    assert half.noise > 3
    assert half.unknown > 15_000


def test_candidates_that_cannot_be_told_apart_have_the_whole_range_as_interval_or_share_one():
    protocol = local.rappor(3, 1, 2, 0.25, 0.2, 0.8)
    words = [f"w{at}" for at in range(60)]
    places = protocol.places(words)[:, :, 0]
    same = [word for word, row in zip(words, places.tolist(), strict=True) if row == places[0].tolist()]
    assert len(same) > 1
    sketch = protocol.aggregate(protocol.encode([words[0]] * 2000 + words * 20))
    found = protocol.estimate(sketch, candidates=words)
    assert np.isfinite(found.value).all()
    assert np.isfinite(found.low).all()
    assert (found.low <= found.high).all()


def test_cohorts_without_reports_are_left_out():
    """Clients' keys are their own, so that nothing is seeded: intervals and detections fail once in ten million."""
    protocol = local.rappor(8, 2, 64, 0.25, 0.2, 0.8, candidates=["a", "b", "c"])
    reports = [protocol.client(cohort=at % 20).report("a" if at % 3 else "b") for at in range(1500)]
    found = protocol.estimate(protocol.aggregate(reports), beta=1e-7)
    assert found.low[0] <= 1000 <= found.high[0]
    assert found.low[1] <= 500 <= found.high[1]
    assert not found.detected[2]


def test_ten_thousand_candidates_are_decoded_a_block_at_a_time():
    protocol = local.rappor(8, 2, 32, 0.25, 0.2, 0.8)
    names = [f"v{at}" for at in range(5)] + [f"extra {at}" for at in range(9_995)]
    with seeded(948):
        sketch, truth = run(protocol, "zipf", 60_000, count=5)
    found = protocol.estimate(sketch, candidates=names)
    assert set(found.found) >= {"v0", "v1", "v2", "v3", "v4"}
    assert found.detected.sum() <= 7
    assert found.low[0] <= truth[0] <= found.high[0]


def test_questions_without_sense_are_refused():
    protocol = local.rappor()
    sketch = protocol.aggregate(protocol.encode(["a"]))
    with pytest.raises(BadParameter, match="without candidate strings"):
        protocol.estimate(sketch)
    with pytest.raises(UnknownName, match="correction"):
        protocol.estimate(sketch, candidates=["a"], correction="none")
    with pytest.raises(BadParameter, match="beta"):
        protocol.estimate(sketch, beta=0, candidates=["a"])


@pytest.mark.parametrize("post", ["simplex", "norm_sub", "base_cut"])
def test_post_processing_keeps_what_was_found(post):
    protocol = local.rappor(candidates=["a", "b", "c"])
    sketch = protocol.aggregate(protocol.encode([0] * 3000 + [1] * 1000))
    raw, made = protocol.estimate(sketch), protocol.estimate(sketch, post=post)
    assert made.post == post
    assert (made.value >= 0).all()
    assert np.array_equal(made.p_value, raw.p_value)


# Fits ---------------------------------------------------------------------------------------------------------------


def matrix(rows, columns):
    with seeded(949):
        return noise.gaussian(1000, (rows, columns)) / 1000.0


def test_the_lasso_satisfies_its_optimality_conditions():
    design = matrix(60, 90)
    target = design[:, :3] @ np.array([3.0, 2.0, 1.0]) + matrix(60, 91)[:, 90] * 0.1
    found = lasso(design, target, 1.0)
    lengths = np.sqrt((design**2).sum(0))
    slope = design.T @ (target - design @ found) / lengths
    assert (found >= 0).all()
    assert slope[found > 0] == pytest.approx(1.0, abs=0.02)
    assert (slope[found == 0] <= 1.02).all()


def test_least_squares_within_a_total_keeps_it():
    design = matrix(80, 10)
    truth = np.array([0.5, 0.3, 0.2] + [0.0] * 7)
    assert within(design, design @ truth, 1.0) == pytest.approx(truth, abs=1e-6)
    squeezed = within(design, design @ (3 * truth), 1.0)
    assert squeezed.sum() == pytest.approx(1.0, abs=1e-4)
    assert (squeezed >= 0).all()
    assert within(design[:, :0], design[:, 0], 1.0).shape == (0,)
