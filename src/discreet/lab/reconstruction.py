"""Reconstruction: guess a secret bit of every person from answers about many random groups of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.account.checks import Number, whole
from discreet.core.errors import BadParameter
from discreet.mechanisms.laplace import Laplace
from discreet.noise.bernoulli import bernoulli

Counts = NDArray[np.int64]
# From the exact counts of all groups to what is answered: the statistician's defence.
Answers = Callable[[Counts], ArrayLike]


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """What an attacker made of the answers: a guess for every person, and how many of them are right."""

    guesses: tuple[int, ...]
    right: int

    @property
    def share(self) -> float:
        """The share of people whose bit was guessed; half of them would be by throwing a coin."""
        return self.right / len(self.guesses)


def reconstruction(secret: ArrayLike, answers: Answers, queries: int = 800) -> Reconstruction:
    """Ask how many people of each random group have the bit, and solve for all bits at once by least squares.

    `secret` is a copy made for the attack, one bit a person; `answers` turns exact counts into what is published. The
    attacker knows who is in which group, half of the people in each, and nothing else. Dinur and Nissim (2003) showed
    that answers which are off by less than about the root of the number of people give nearly everybody away.
    """
    bits = _bits(secret)
    groups = bernoulli(1 / 2, (whole("queries", queries), len(bits)))
    published = np.asarray(answers(groups @ bits), dtype=np.float64)
    if published.shape != (queries,):
        fix = "return one answer for each count"
        raise BadParameter("answers", published.shape, why=f"{queries} answers are expected", fix=fix)
    # By the normal equations, whose matrix is small and well conditioned: a tenth of the time of the whole one's.
    matrix = groups.astype(np.float64)
    found, *_ = np.linalg.lstsq(matrix.T @ matrix, matrix.T @ published, rcond=None)
    guesses = (found > 0.5).astype(np.int64)
    return Reconstruction(tuple(guesses.tolist()), int((guesses == bits).sum()))


def exact(counts: Counts) -> Counts:
    """Publish the counts as they are."""
    return counts


def rounded(base: int) -> Answers:
    """Publish counts rounded to a multiple of `base`, as many tables are: halves go up."""
    step = whole("base", base)
    return lambda counts: (2 * counts + step) // (2 * step) * step


def private(epsilon: Number, queries: int = 800) -> Laplace:
    """Return the mechanism that answers all counts for `epsilon` in all: its `release` is a defence.

    Whoever joins, leaves or has another bit moves every count by at most one, so that together they move by `queries`.
    """
    return Laplace(sensitivity=whole("queries", queries), epsilon=epsilon)


def ceiling(epsilon: float) -> float:
    """Return the share that no attacker can expect to exceed, where each bit is a fair coin of its own.

    Given everybody else's bits, both values of one make every outcome likely within a factor of exp(epsilon), and the
    better guess is right with probability at most exp(epsilon) / (1 + exp(epsilon)).
    """
    return 1 / (1 + math.exp(-epsilon))


def _bits(secret: ArrayLike) -> Counts:
    bits = np.asarray(secret)
    if bits.ndim != 1 or not len(bits) or not np.isin(bits, (0, 1)).all():
        raise BadParameter("secret", secret, why="it is not a list of bits", fix="give 0 or 1 for every person")
    return bits.astype(np.int64)
