"""Message passing: the guess of every bit at once that comes close to the best anyone could make of the answers.

Generalized approximate message passing (Donoho, Maleki and Montanari 2009; Rangan 2011). For random groups of many
people it reaches what Bayes' rule would, which nobody can compute: it takes a bit for the bit that it is, where least
squares and linear programs take it for any number, and an interval for the interval. Two products with the matrix of
groups a round, so ten thousand people take seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.lab.attacks.reconstruction.knowledge import AttackerKnowledge
from discreet.lab.defence import Answers, Groups

Floats = NDArray[np.float64]
ROUNDS = 100
# Half of every step and more is new: undamped steps can swing forever where people are few.
_KEPT = 0.3
_SETTLED = 1e-3
# What a count may be off by, squared, however sure of all bits one is: else the last rounds divide by nothing.
_FLOOR = 0.25
# How many cells of the matrix are numbers at a time, four bytes each.
_BLOCK = 1 << 24


def blocks(groups: Groups) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Yield the groups as numbers, some rows at a time."""
    step = max(1, _BLOCK // max(1, groups.shape[1]))
    for start in range(0, len(groups), step):
        rows = slice(start, start + step)
        yield rows, groups[rows].astype(np.float32)


def message_passing(groups: Groups, answers: Answers, known: AttackerKnowledge) -> tuple[Floats, bool]:
    """Return how likely each bit is, and whether the messages settled.

    With signs s = 2 x - 1 for the bits, and q for the share of people in a group, a count of the groups A is
    |group| / 2 + q sum(s) / 2 + (A - q) s / 2: what is known, one number that all counts share and is estimated along,
    and a matrix of mean zero.
    """
    questions, people = groups.shape
    sizes = groups.sum(axis=1)
    centred = answers - sizes / 2
    share = float(sizes.sum()) / groups.size
    square = max(share * (1 - share), 1e-9) / 4  # of an entry of the matrix
    lean = math.log(known.prior / (1 - known.prior)) / 2
    signs, score = np.full(people, math.tanh(lean)), np.zeros(questions)
    variance = people * square
    shared = float(np.mean(centred))
    kept = list(blocks(groups)) if groups.size <= _BLOCK else None
    settled = False
    for turn in range(ROUNDS):
        old = 0.0 if turn == 0 else _KEPT
        variance = (1 - old) * max(_FLOOR, people * square * float(np.mean(1 - signs**2))) + old * variance
        small, total = signs.astype(np.float32), float(signs.sum())
        pulled, sharpness, noise = np.zeros(people), 0.0, None
        for rows, block in kept or blocks(groups):
            expected = (block @ small - share * total) / 2 - variance * score[rows] + shared
            if known.width is None and noise is None:
                # Learned from the first block: thousands of answers tell a variance well enough.
                noise = max(float(np.mean((centred[rows] - expected) ** 2)) - variance, _FLOOR)
            fresh, curvature = _score(centred[rows], expected, variance, known.width, noise)
            score[rows] = (1 - old) * fresh + old * score[rows]
            sharpness += float(curvature.sum())
            weights = score[rows].astype(np.float32)
            pulled += (weights @ block - share * float(weights.sum())) / 2
        sharpness = max(sharpness, 1e-9)
        shared += float(score.sum()) / sharpness / 2
        field = signs * sharpness * square + pulled
        fresh_signs = np.tanh(np.clip(field + lean, -30, 30))
        change = float(np.mean(np.abs(fresh_signs - signs)))
        signs = (1 - _KEPT) * fresh_signs + _KEPT * signs
        if change < _SETTLED:
            settled = True
            break
    return (1 + signs) / 2, settled


def _score(
    centred: Floats, expected: Floats, variance: float, width: float | None, noise: float | None
) -> tuple[Floats, Floats]:
    """Return the derivative of the log-likelihood of each answer by its expected count, and minus the second one."""
    if width is None:
        spread = variance + (noise or 0.0)
        return (centred - expected) / spread, np.full(len(centred), 1 / spread)
    moved, left = _truncated((centred - width - expected) / variance**0.5, (centred + width - expected) / variance**0.5)
    return moved / variance**0.5, (1 - left) / variance


def _truncated(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the variance of a standard normal variable that is known to lie between two numbers."""
    from scipy.special import log_ndtr

    # Both ends on the left, or around zero, where the logarithm of the distribution function is exact.
    flipped = low > 0
    low, high = np.where(flipped, -high, low), np.where(flipped, -low, high)
    below, above = log_ndtr(low), log_ndtr(high)
    mass = above + np.log1p(-np.exp(np.minimum(below - above, -1e-12)))
    at_low, at_high = (np.exp(-(end**2) / 2 - mass) / math.sqrt(2 * math.pi) for end in (low, high))
    mean = at_low - at_high
    left = np.clip(1 + low * at_low - high * at_high - mean**2, 1e-6, 1)
    return np.where(flipped, -mean, mean), left
