"""Bugs in handling single values: what is not a number, too large, or in a column of the wrong width."""

import math
import operator
from functools import reduce

import numpy as np

from discreet import noise
from discreet.account.losses.pure import Pure
from discreet.mechanisms.sum import Sum
from tests.lab.mutants.mutant import Mutant, Runs


def bounded(low, high):
    """Our own sum of bounded values."""
    made = Sum(low=low, high=high, epsilon=1)

    def draw(values, size):
        exact = made.exact(values)
        return made.release(exact) if size is None else made.releases(exact, size)

    return Runs(draw)


def nan_passes(values, size):
    return sum(min(max(value, 0.0), 1.0) if value == value else value for value in values) + noise.laplace(1, size)


def infinity_passes(values, size):
    return sum(value if math.isinf(value) else min(value, 1.0) for value in values) + noise.laplace(1, size)


def wrapped(values, size):
    """A column of small integers, whose sum is one as well."""
    with np.errstate(over="ignore"):
        return int(np.add.reduce(np.clip(values, 0, 100).astype(np.int8), dtype=np.int8)) + noise.laplace(100, size)


def float_sum(values, size):
    """Near 2**53 every addition of 1 is lost, but for the one that comes first.

    Added one by one: the built-in sum compensates for lost digits from Python 3.12 on.
    """
    total = reduce(operator.add, map(float, values), 0.0)
    return int(total - 2**53) + noise.laplace(1, size)


def raises(values):
    return sum(int(value) for value in values) + noise.laplace(1)


def looked_up(values, size):
    """A failed look-up is a null for everyone, and a message for the one who is not listed."""
    text = "ok" if all(value in (0, 1) for value in values) else "a value was not understood"
    answers = sum(value == 1 for value in values) + noise.laplace(1, size)
    return (answers, text) if size is None else [(answer, text) for answer in answers.tolist()]


MUTANTS = [
    Mutant("NaN passes", Runs(nan_passes), bounded(0, 1), [1.0, 1.0], [1.0, math.nan], Pure(1), ("black_box",)),
    Mutant("infinity passes", Runs(infinity_passes), bounded(0, 1), [1.0], [1.0, math.inf], Pure(1), ("black_box",)),
    Mutant(
        "an integer that wraps", Runs(wrapped), bounded(0, 100), [100], [100, 100], Pure(1), ("black_box", "replay")
    ),
    Mutant(
        "a float sum that loses ones",
        Runs(float_sum),
        bounded(0, 1),
        [*[1] * 40, 2**53],
        [2**53, *[1] * 40],
        Pure(1),
        ("black_box", "replay"),
    ),
    Mutant("one record raises", raises, bounded(0, 1), ["1", "1"], ["1", "x"], Pure(1), ("black_box", "replay"), 5_000),
    Mutant(
        "a message that depends on one record",
        Runs(looked_up),
        bounded(0, 1),
        [0, 1],
        [0, 2],
        Pure(1),
        ("black_box",),
        20_000,
    ),
]
