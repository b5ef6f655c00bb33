"""Kernels of publishing: exact marginals as tables, as groups, as scores and as features; each stays exact.

A method holds tokens alone. What it needs of them is computed here, and goes on to noise or to a choice; each kernel
says how far one row moves what it returns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.core.doors import kernel
from discreet.publish.code_table import Counts

Table = NDArray[np.float64]

# Scores are whole numbers of this fraction of a row, so expected counts below one still tell marginals apart.
FINE = 64

# A model is taken to have no more rows than this when a table is compared with it. The noise of a minute epsilon would
# take integers beyond their range, where one row turns the largest score into the smallest.
MOST_ROWS = 1 << 34

# Weights of scores are whole numbers of this fraction.
WEIGHT = 1 << 20

TURN = 1 << 12  # phases in a turn
GRID = 1 << 10  # steps in a radius

_ANGLES = [2 * math.pi * phase / TURN for phase in range(TURN)]
COSINES: Counts = np.array([round(GRID * math.cos(angle)) for angle in _ANGLES], np.int64)
SINES: Counts = np.array([round(GRID * math.sin(angle)) for angle in _ANGLES], np.int64)


@kernel
def filled(cells: Mapping[int, int], shape: tuple[int, ...]) -> Counts:
    """Return the table of a marginal, given its cells that are not empty; one row moves one cell, by one."""
    found = np.zeros(math.prod(shape), np.int64)
    found[np.fromiter(cells, np.int64, len(cells))] = np.fromiter(cells.values(), np.int64, len(cells))
    return found.reshape(shape)


@kernel
def grouped(exact: Counts, groups: Sequence[NDArray[np.int64]]) -> Counts:
    """Return a marginal of groups of codes, axis by axis; one row moves one cell, by one."""
    for axis, group in enumerate(groups):
        if len(group) == int(group.max()) + 1:
            continue
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(int(group.max()) + 1))
        exact = np.add.reduceat(exact.take(order, axis=axis), starts, axis=axis)
    return exact


@kernel
def total(exact: Counts) -> Counts:
    """Return how many rows a marginal has; one row moves it by one."""
    return np.asarray(exact.sum())


@kernel
def number(exact: int) -> Counts:
    """Return a count as a table without axes."""
    return np.asarray(exact, np.int64)


@kernel
def gap(exact: int, guess: int) -> int:
    """Return how far a guess is off; one row moves it by one."""
    return abs(exact - guess)


@kernel
def distance(exact: Counts, expected: Table) -> int:
    """Return the sum of absolute differences in whole units of 1/FINE rows, exactly: one row moves it by FINE."""
    return int(distances(exact.reshape(1, -1), expected.reshape(1, -1))[0])


@kernel
def weighed(scores: Sequence[int], weights: Sequence[int]) -> list[int]:
    """Return scores times weights of at most WEIGHT, in WEIGHT-ths: what moves by a whole d at most stays so."""
    return [score * weight // WEIGHT for score, weight in zip(scores, weights, strict=True)]


@kernel
def wrong(exact: Sequence[Counts], expected: Table, allowed: int, weights: Sequence[int]) -> Counts:
    """Return by how much more than `allowed` each marginal is off, times its weight.

    One row moves each by FINE times the weight.
    """
    counted = np.stack([each.ravel() for each in exact])
    found: Counts = (distances(counted, expected) - allowed) * np.array(weights)
    return found


@kernel
def listed(scores: Sequence[Counts]) -> Counts:
    """Return several lists of scores as one."""
    return np.concatenate(scores)


@kernel
def database_scores(exact: Counts, candidates: Counts, questions: Counts, rows: int) -> Counts:
    """Return minus the largest error of each database of m rows, in m-ths of a row: one row moves it by m at most."""
    truth = int(candidates[0].sum()) * (questions @ exact.ravel())
    worst = np.zeros(len(candidates), np.int64)
    for question, answer in zip(questions, truth, strict=True):
        np.maximum(worst, np.abs(rows * (candidates @ question) - answer), out=worst)
    return -worst


@kernel
def feature_sums(exact: Sequence[Counts], phases: Sequence[Sequence[Counts]]) -> tuple[Counts, Counts]:
    """Return the sums of features, one for each marginal but the last, and the rows of the last: one class of them.

    One row moves the cosine and the sine of each feature by a point of the circle, and the count by one.
    """
    *marginals, single = exact
    sums = np.array([_sums(each, angles) for each, angles in zip(marginals, phases, strict=True)])
    return sums[None], np.array([single.sum()])


@kernel
def weighted_features(exact: tuple[Counts, Counts], weight: int) -> Counts:
    """Return sums of features and then counts, times a weight, as one vector."""
    sums, counts = exact
    return np.concatenate([sums.ravel(), weight * counts])


def distances(exact: Counts, expected: Table) -> Counts:
    """Return the distance of every row of a table of marginals from what was expected of it.

    Guarantee: one row of the table moves each by at most FINE, whatever was expected.
    """
    clipped = np.clip(np.nan_to_num(expected), 0.0, MOST_ROWS)
    clipped *= np.minimum(1.0, MOST_ROWS / np.maximum(clipped.sum(axis=1, keepdims=True), 1.0))
    whole = np.rint(clipped * FINE).astype(np.int64)
    found: Counts = np.abs(exact * FINE - whole).sum(axis=1)
    return found


def _sums(exact: Counts, phases: Sequence[Counts]) -> tuple[int, int]:
    """Return the sums of the cosines and of the sines of one feature over all rows, from a marginal of them."""
    turned = np.zeros((), np.int64)
    for each in phases:
        turned = turned[..., None] + each
    turned %= TURN
    return int((exact * COSINES[turned]).sum()), int((exact * SINES[turned]).sum())
