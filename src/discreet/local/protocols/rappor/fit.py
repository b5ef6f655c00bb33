"""Fits that know a count is not negative: the lasso, which selects, and least squares within a total."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_STEPS = 1000
_TOLERANCE = 1e-5
_WEIGHT = 1e3
_POWERS = 60


def lasso(design: Floats, target: Floats, penalty: float) -> Floats:
    """Minimise |target - design x|^2 / 2 + penalty sum_i |design_i| x_i over x >= 0 (accelerated proximal gradient).

    Penalties in units of a column's length make the fit the same in any units.
    """
    lengths = np.sqrt((design**2).sum(0))
    scale = np.where(lengths > 0, lengths, 1.0)
    unit = design / scale
    moment = unit.T @ target
    step = 1.0 / max(_largest(unit), 1e-300)
    here = ahead = np.zeros(design.shape[1])
    momentum = 1.0
    for _ in range(_STEPS):
        slope = unit.T @ (unit @ ahead) - moment
        found = np.maximum(ahead - step * (slope + penalty), 0.0)
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        move = found - here
        if float(slope @ move) > 0:  # the momentum overshoots: begin it again (O'Donoghue and Candes 2015)
            following = 1.0
        ahead = found + (momentum - 1) / following * move
        here, momentum = found, following
        if float(np.abs(move).max(initial=0.0)) <= _TOLERANCE * max(1.0, float(here.max(initial=0.0))):
            break
    return np.where(lengths > 0, here / scale, 0.0)


def within(design: Floats, target: Floats, total: float) -> Floats:
    """Minimise |target - design x| over x >= 0 whose sum is at most the total (Lawson and Hanson 1974)."""
    from scipy.optimize import nnls

    count = design.shape[1]
    if not count:
        return np.zeros(0)
    found = nnls(design, target, maxiter=50 * count)[0]
    if found.sum() > total:
        weight = _WEIGHT * np.sqrt((design**2).sum() / count)
        found = nnls(
            np.vstack([design, np.full(count, weight)]), np.append(target, weight * total), maxiter=50 * count
        )[0]
    return np.asarray(found, dtype=np.float64)


def shortened(design: Floats, target: Floats) -> tuple[Floats, Floats]:
    """Return a square design and a target with the same least-squares fits as a long one, else both as they are."""
    if design.shape[0] <= design.shape[1]:
        return design, target
    try:
        lower = np.linalg.cholesky(design.T @ design)
    except np.linalg.LinAlgError:
        return design, target
    return np.asarray(lower.T), np.asarray(np.linalg.solve(lower, design.T @ target))


def _largest(unit: Floats) -> float:
    """Return a bound of the largest eigenvalue of unit'unit: a few powers, then a margin."""
    vector = unit.sum(1) + 1.0
    for _ in range(_POWERS):
        vector = unit @ (unit.T @ (vector / max(float(np.linalg.norm(vector)), 1e-300)))
    return 1.1 * float(np.linalg.norm(vector))
