"""Bugs in tables of groups, and in asking more than once."""

import numpy as np

from discreet import noise
from discreet.account.losses.approx import Approx
from discreet.account.losses.discrete_laplace import DiscreteLaplace
from discreet.account.losses.pure import Pure
from discreet.mechanisms.histogram import Histogram
from discreet.mechanisms.laplace import Laplace
from tests.lab.mutants.mutant import Mutant, Runs

KEYS = ("A", "B", "C")


def declared(counts):
    """Every declared key, in its own order, with noise of its own."""
    return dict(zip(KEYS, Histogram(keys=KEYS, epsilon=1).release([counts.get(key, 0) for key in KEYS]), strict=True))


def shown_if_present(counts):
    return {key: Laplace(epsilon=1).release(count) for key, count in sorted(counts.items())}


def ordered_by_truth(counts):
    order = sorted(KEYS, key=lambda key: -counts.get(key, 0))
    return {key: Laplace(epsilon=1).release(counts.get(key, 0)) for key in order}


def shared_noise(counts, size):
    """One draw for all groups: their differences are exact."""
    drawn = noise.laplace(1, () if size is None else (size,))
    return np.stack([counts.get(key, 0) + drawn for key in KEYS], axis=-1)


def own_noise(counts, size):
    return np.array([counts.get(key, 0) for key in KEYS]) + noise.laplace(1, (() if size is None else (size,)) + (3,))


def selected(threshold):
    """A key that was not declared appears if its noisy count reaches the threshold; a count of 0 never does."""

    def draw(count, size):
        noisy = count + noise.laplace(1, () if size is None else (size,))
        return np.where((noisy >= threshold) & (count > 0), noisy, -1)

    return Runs(draw)


def asked(times):
    """The same question, answered again each time it is asked."""

    def draw(counts):
        return tuple(Laplace(epsilon=1).release(counts) for _ in range(times))

    return draw


def exact_total(counts, size):
    """The total of all groups is published beside the noisy groups, under add_remove."""
    table = own_noise(counts, size)
    total = np.full((*table.shape[:-1], 1), sum(counts.values()))
    return np.concatenate([table, total], axis=-1)


WITH, WITHOUT = {"A": 3, "B": 1}, {"A": 3}
# P(noise >= t - 1) = q^(t-1) / (1 + q) with q = 1/e, for delta 1e-5: t - 1 = 11.2 or more; for 1000 times as much, 4.3.
DELTA = 1e-5

MUTANTS = [
    Mutant(
        "a group is shown if it is there",
        shown_if_present,
        declared,
        WITH,
        WITHOUT,
        Pure(1),
        ("black_box", "replay"),
        2_000,
    ),
    Mutant(
        "groups in the order of their true counts",
        ordered_by_truth,
        declared,
        {"A": 3, "B": 3},
        {"A": 3, "B": 4},
        Pure(1),
        ("black_box", "replay"),
        2_000,
    ),
    Mutant("noise shared between groups", Runs(shared_noise), Runs(own_noise), WITH, WITHOUT, Pure(1), ("black_box",)),
    Mutant("an exact total beside them", Runs(exact_total), Runs(own_noise), WITH, WITHOUT, Pure(1), ("black_box",)),
    Mutant(
        "a threshold for a thousand times delta",
        selected(6),
        selected(13),
        1,
        0,
        Approx(1, DELTA),
        ("black_box",),
        500_000,
    ),
    Mutant(
        "four answers for the price of one",
        asked(4),
        asked(1),
        0,
        1,
        DiscreteLaplace(1),
        ("replay",),
        2_000,
    ),
]
