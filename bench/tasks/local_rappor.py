"""Tasks of RAPPOR for Discreet: its own simulation beside its published analysis, and the time of its parts."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from discreet import local, noise
from discreet.local.protocols.rappor.bloom import design

# A worker loads this file alone, from its path: what lies beside it is loaded likewise.
_SPEC = importlib.util.spec_from_file_location("analysis", Path(__file__).with_name("local_rappor_analysis.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
analysis = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(analysis)

DISTRIBUTIONS = ("uniform", "exponential", "normal", "zipf1", "zipf1.5")
BITS, HASHES, COHORTS, VALUES = 8, 2, 128, 100
# Of the published simulation: bits, hashes and cohorts; p, q and f; extra candidates per value; whether each tenth
# value is no candidate.
SIZES, STRICT, LOOSE = (BITS, HASHES, COHORTS), (0.39, 0.61, 0.45), (0.225, 0.775, 0.0)
CONFIGURATIONS = {
    "typical": (SIZES, STRICT, 0.2, True),
    "sharp": (SIZES, STRICT, 0.0, False),
    "loose": (SIZES, LOOSE, 0.2, True),
    "over_x2": (SIZES, STRICT, 2.0, True),
    "over_x10": (SIZES, STRICT, 10.0, True),
    # Its filters and noise for demonstrations and for Chrome, which no constant of ours was chosen by.
    "demo": ((16, 2, 64), (0.1, 0.9, 0.2), 0.1, True),
    "chrome": ((16, 2, 32), (0.25, 0.75, 0.5), 1.0, True),
}


class Score(NamedTuple):
    """What one side made of a run: found, total variation, covered of all candidates, and scores of each candidate.

    A candidate of a lower `level` is the surer one; `present` says which were there to be found.
    """

    found: np.ndarray
    distance: float
    covered: float
    level: np.ndarray
    present: np.ndarray


def shares(distribution: str) -> np.ndarray:
    """The published simulation's distributions over 100 values."""
    x = np.arange(1, VALUES + 1)
    weights = {
        "uniform": np.ones(VALUES),
        "exponential": np.exp(-5 * x / VALUES),
        "normal": np.exp(-0.5 * ((x - VALUES / 2) / (VALUES / 6)) ** 2),
        "zipf1": 1 / x,
        "zipf1.5": x**-1.5,
    }[distribution]
    return weights / weights.sum()


def simulated(configuration: str, distribution: str, n: int, run: int) -> tuple[Score, Score]:
    """One run: our score, and the published analysis'."""
    (bits, hashes, cohorts), (p, q, f), extra, missing = CONFIGURATIONS[configuration]
    protocol = local.rappor(bits, hashes, cohorts, f, p, q)
    words = [f"v{run}.{at}" for at in range(1, VALUES + 1 + int(VALUES * extra))]
    edges = np.floor(np.cumsum(shares(distribution)) * 2.0**53)
    values = np.minimum(np.searchsorted(edges, noise.uniform(1 << 53, n), side="right"), VALUES - 1)
    truth = np.zeros(len(words))
    truth[:VALUES] = np.bincount(values, minlength=VALUES)
    sketch = protocol.aggregate(protocol.encode(np.array(words[:VALUES], dtype=object)[values].tolist()))
    kept = np.array([not (missing and at < VALUES and (at + 1) % 10 == 9) for at in range(len(words))])
    candidates = [word for word, each in zip(words, kept, strict=True) if each]
    ours = protocol.estimate(sketch, candidates=candidates, correction="fdr")
    tallies = protocol.tallies(sketch)
    matrix = design(protocol.places(candidates), bits)
    share, deviation, reported = analysis.decode(tallies.totals, tallies.ones, matrix, tallies.zero, tallies.one)
    share = np.floor(share * n) / n
    here, absent = truth[kept], truth[~kept].sum()
    low, high = (share - 1.96 * deviation) * n, (share + 1.96 * deviation) * n
    sides = ((ours.detected, ours.fitted, ours.low, ours.high), (reported, share * n, low, high))
    mine, theirs = (
        Score(
            found,
            float((np.abs(fit - here).sum() + absent) / 2 / n),
            float(np.mean((least <= here) & (here <= most))),
            ours.p_value,
            here > 0,
        )
        for found, fit, least, most in sides
    )
    return mine, theirs


def detection(ours: list[Score], theirs: list[Score], level: float | None = None) -> tuple[int, int, float]:
    """Candidates found by us and by them at equal false alarms, and their rate of false alarms.

    Our tests are read at the strictest level that lets as many absent candidates pass as theirs did; without any
    absent candidates, at a level that is given.
    """
    value, present = (np.concatenate([getattr(score, name) for score in ours]) for name in ("level", "present"))
    found = np.concatenate([score.found for score in theirs])
    absent = np.sort(value[~present])
    false = int(np.count_nonzero(found & ~present))
    if len(absent):
        level = float(absent[false - 1]) if false else np.nextafter(absent[0], 0)
    assert level is not None
    rate = false / max(1, len(absent))
    return int(np.count_nonzero(value[present] <= level)), int(np.count_nonzero(found & present)), rate


def recovered(configuration: str, n: int, runs: int) -> Callable[[], object]:
    """Detection at equal false alarms and total variation as good as the analysis' or better; intervals that cover."""
    return partial(_recovered, configuration, n, runs)


def _recovered(configuration: str, n: int, runs: int) -> None:
    line, missed = figures(configuration, n, runs)
    print(line, file=sys.stderr)
    assert not missed, f"{line}; missed: {', '.join(missed)}"


def figures(configuration: str, n: int, runs: int) -> tuple[str, list[str]]:
    """The figures of a configuration over all distributions in one line, and which of the bars they miss."""
    level = None
    if configuration == "sharp":  # it has no absent candidates: the alarms are those of the same noise with some
        level = detection(*_pooled("typical", n, 1), None)[2]
    ours, theirs = _pooled(configuration, n, runs)
    mine, their, rate = detection(ours, theirs, level)
    covered = np.array([score.covered for score in ours])
    least = 0.95 - 4 * float(covered.std(ddof=1)) / len(covered) ** 0.5
    pairs = np.array([[score.distance for score in side] for side in (ours, theirs)])
    rows = pairs.reshape(2, -1, runs).mean(axis=2).T
    # Of all distributions together the distance is smaller; of each alone it is not larger but for noise.
    gaps = (pairs[0] - pairs[1]).reshape(-1, runs)
    allowed = 3 * gaps.std(axis=1, ddof=1) / runs**0.5 if runs > 1 else np.full(len(gaps), np.inf)
    missed = ["detection"] if mine < their else []
    missed += ["distance"] if gaps.mean() > 0 else []
    missed += [f"distance, {name}" for at, name in enumerate(DISTRIBUTIONS) if gaps[at].mean() > allowed[at]]
    missed += ["coverage"] if covered.mean() < least else []
    distances = ", ".join(f"{name} {a:.3f}/{b:.3f}" for name, (a, b) in zip(DISTRIBUTIONS, rows, strict=True))
    false = rate if level is None else level
    return (
        f"{configuration}: found {mine}/{their} at a false-alarm rate of {false:.3f}, distance {distances}, "
        f"covered {covered.mean():.4f}/{np.mean([s.covered for s in theirs]):.4f} (at least {least:.4f})"
    ), missed


def _pooled(configuration: str, n: int, runs: int) -> tuple[list[Score], list[Score]]:
    results = [simulated(configuration, name, n, run) for name in DISTRIBUTIONS for run in range(runs)]
    return [ours for ours, _ in results], [theirs for _, theirs in results]


def encoded(bits: int, n: int) -> Callable[[], object]:
    """Reports of declared candidates, packed."""
    protocol = local.rappor(bits, HASHES, COHORTS, 0.5, 0.25, 0.75, candidates=[f"v{at}" for at in range(VALUES)])
    protocol.encode([0])
    return partial(protocol.encode, np.arange(n) % VALUES)


def decoded(candidates: int, n: int) -> Callable[[], object]:
    """All candidates' counts from a sketch."""
    protocol = local.rappor(BITS, HASHES, COHORTS, 0.45, 0.39, 0.61, candidates=[f"v{at}" for at in range(candidates)])
    sketch = protocol.aggregate(protocol.encode(np.arange(n) % VALUES))
    return partial(protocol.estimate, sketch)


if __name__ == "__main__":
    for each in sys.argv[2:] or CONFIGURATIONS:
        print(*figures(each, 1_000_000, int(sys.argv[1])), flush=True)
