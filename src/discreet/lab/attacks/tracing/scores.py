"""Scores for tracing: how much a person's attributes lean the way in which averages differ from the population."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.core.errors import BadParameter
from discreet.lab.attacks.tracing.people import Matrix, Numbers

Score = Callable[[Matrix], Numbers]
Known = Numbers | Matrix  # frequencies of the population, or other people of it


def product(answers: Numbers, known: Known, members: int) -> Score:  # noqa: ARG001  (all scores are called alike)
    """Score by the inner product of both differences, each attribute in units of its variance (Dwork et al. 2015)."""
    frequencies = _frequencies(known)
    weights = (answers - frequencies) / (frequencies * (1 - frequencies))
    return lambda rows: np.asarray(rows @ weights)


def likelihood(answers: Numbers, known: Known, members: int) -> Score:
    """Score by how much more likely the averages make each attribute than the population (Sankararaman et al. 2009)."""
    frequencies, edge = _frequencies(known), 1 / (2 * members)
    shares = np.clip(answers, edge, 1 - edge)
    there, absent = np.log(shares / frequencies), np.log((1 - shares) / (1 - frequencies))
    return lambda rows: np.asarray(rows @ (there - absent) + absent.sum())


def whitened(answers: Numbers, known: Known, members: int) -> Score:
    """Score by the likelihood ratio of normal averages, as far as other people tell how attributes are correlated.

    The averages of n people who include x have their mean moved by (x - p)/n. What the others do not tell is made up
    for by a ridge, in proportion to how few they are.
    """
    if known.ndim == 1:
        why = "frequencies do not show how attributes are correlated"
        raise BadParameter("population", "frequencies", why=why, fix="give rows of other people, or score='product'")
    frequencies = _frequencies(known)
    apart = known - frequencies
    shared = apart.T @ apart / len(known)
    ridge = (0.1 + len(answers) / len(known)) * float(np.trace(shared)) / max(1, len(answers))
    inverse = np.linalg.inv(shared + ridge * np.eye(len(answers)))
    lean = inverse @ (answers - frequencies)

    def score(rows: Matrix) -> Numbers:
        moved = rows - frequencies
        return np.asarray(moved @ lean - ((moved @ inverse) * moved).sum(axis=1) / (2 * members))

    return score


SCORES: dict[str, Callable[[Numbers, Known, int], Score]] = {
    "product": product,
    "likelihood": likelihood,
    "whitened": whitened,
}


def _frequencies(known: Known) -> Numbers:
    """Return frequencies strictly between 0 and 1, whether they are given or counted."""
    if known.ndim == 2:
        return np.asarray((known.sum(axis=0) + 0.5) / (len(known) + 1))
    return np.clip(known.astype(np.float64), 1e-6, 1 - 1e-6)
