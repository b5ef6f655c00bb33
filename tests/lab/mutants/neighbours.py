"""Bugs in the sensitivity: the wrong neighbours, the wrong bounds, or a public use of a secret size."""

from fractions import Fraction

import numpy as np

from discreet import noise
from discreet.account.losses.discrete_laplace import DiscreteLaplace
from discreet.account.losses.pure import Pure
from discreet.mechanisms.histogram import Histogram
from discreet.mechanisms.laplace import Laplace
from tests.lab.mutants.mutant import Mutant, Runs

KEYS = ("A", "B", "C")


def counted(values):
    return [values.count(key) for key in KEYS]


def histogram(relation):
    made = Histogram(keys=KEYS, epsilon=1, relation=relation)
    return Runs(
        lambda values, size: made.release(counted(values)) if size is None else made.releases(counted(values), size)
    )


def mean_by_exact_size(values, size):
    """The sum is noisy, and is divided by the secret number of rows."""
    return (sum(values) + noise.laplace(10, size)) / len(values)


def mean_by_noisy_size(values, size):
    return (sum(values) + noise.laplace(20, size)) / np.maximum(1, len(values) + noise.laplace(2, size))


def mean_of_released_sum(values):
    return Laplace(sensitivity=10, epsilon=1).release(sum(values)) / len(values)


def mean_of_two_releases(values):
    half = Fraction(1, 2)
    total = Laplace(sensitivity=10, epsilon=half).release(sum(values))
    return total / max(1, Laplace(epsilon=half).release(len(values)))


def clamped_to_data(values, size):
    """The bound, and with it the scale, is the largest value there is."""
    return sum(values) + noise.laplace(max(values), size)


def clamped_to_bounds(values, size):
    return sum(min(value, 10) for value in values) + noise.laplace(10, size)


def overlapping(values):
    """Adults and parents are charged as disjoint groups; a parent is counted in both."""
    adults = Laplace(epsilon=1).release(sum(age >= 18 for age, _ in values))
    parents = Laplace(epsilon=1).release(sum(children > 0 for _, children in values))
    return adults, parents


def disjoint(values):
    """Two groups that share nobody: one person is in one of them, and the dearest part is the cost."""
    return tuple(Laplace(epsilon=1).release(sum((age >= 18) is old for age, _ in values)) for old in (False, True))


def rows_of_a_person(scale):
    return Runs(lambda values, size: len(values) + noise.laplace(scale, size))


MUTANTS = [
    Mutant(
        "a histogram under replace with the noise of add_remove",
        histogram("add_remove"),
        histogram("replace"),
        ["A"] * 3,
        ["A"] * 2 + ["B"],
        Pure(1, relation="replace"),
        ("black_box", "replay"),
    ),
    Mutant(
        "the exact size as a denominator",
        Runs(mean_by_exact_size),
        Runs(mean_by_noisy_size),
        [10] * 5,
        [10] * 4,
        Pure(1),
        ("black_box",),
    ),
    Mutant(
        "the exact size as a denominator of a release",
        mean_of_released_sum,
        mean_of_two_releases,
        [10] * 5,
        [10] * 4,
        Pure(1),
        ("replay",),
        2_000,
    ),
    Mutant(
        "a clamp that depends on data",
        Runs(clamped_to_data),
        Runs(clamped_to_bounds),
        [1, 1, 10],
        [1, 1],
        DiscreteLaplace(10, sensitivity=10),
        ("black_box", "replay"),
    ),
    Mutant(
        "overlapping groups charged as parallel",
        overlapping,
        disjoint,
        [(40, 2), (30, 0)],
        [(30, 0)],
        DiscreteLaplace(1),
        ("replay",),
        2_000,
    ),
    Mutant(
        "three rows of a person protected as one",
        rows_of_a_person(1),
        rows_of_a_person(3),
        ["x"] * 5,
        ["x"] * 2,
        Pure(1),
        ("black_box", "replay"),
    ),
]
