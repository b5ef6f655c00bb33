"""The steps of RAPPOR's published analysis (its R library), written again in Python: the peer of our decoding.

R and its packages are no part of a bench, so that the steps are taken here one by one: bits by cohort, unbiased;
five fits, all but the first to bits with noise added once more; a non-negative lasso (the end of glmnet's path) where
candidates are many; least squares under its inequalities (no share negative, all at most 1, no bit overshot by three
deviations); a candidate is reported if its mean over the fits is two of their deviations above zero.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from discreet import noise

FITS, DEVIATIONS, MOST, FLOOR = 5, 2.0, 500, 0.01
UNIT = 1 << 20  # whole-number noise of this deviation is as good as normal


def decode(totals, ones, design, zero, one):
    """Return estimated shares (zero where nothing is reported), their deviations, and what is reported."""
    share = (ones / totals[:, None] - zero) / (one - zero)
    rate = zero + (one - zero) * np.clip(share, 0, 1)
    spread = np.sqrt(rate * (1 - rate) / totals[:, None]) / (one - zero)
    matrix = design.reshape(-1, design.shape[2])
    fits = [_fit(matrix, share.reshape(-1), spread.reshape(-1))]
    for _ in range(FITS - 1):
        again = share + spread * noise.gaussian(UNIT, share.shape) / UNIT
        fits.append(_fit(matrix, again.reshape(-1), spread.reshape(-1) * 2**0.5))
    mean, deviation = np.mean(fits, axis=0), np.std(fits, axis=0, ddof=1)
    reported = mean > 1e-6 + DEVIATIONS * deviation
    return np.where(reported, mean, 0.0), deviation, reported


def _fit(matrix, target, spread):
    count = matrix.shape[1]
    support = np.arange(count)
    if count > 0.8 * len(target):
        support = np.flatnonzero(_lasso(matrix, target) > 0)
    out = np.zeros(count)
    if len(support):
        out[support] = _constrained(matrix[:, support], target, spread)
    return out


def _lasso(matrix, target):
    """The last fit of a path of a hundred penalties, with an intercept, of at most so many candidates."""
    rows, count = matrix.shape
    centred, aim = matrix - matrix.mean(0), target - target.mean()
    moment = centred.T @ aim / rows
    step = rows / np.linalg.norm(centred, 2) ** 2
    highest = moment.max()
    here = np.zeros(count)
    for penalty in highest * np.geomspace(1, 0.01 if rows < count else 0.0001, 100):
        found, ahead, momentum = here, here, 1.0
        for _ in range(300):
            slope = centred.T @ (centred @ ahead) / rows - moment
            new = np.maximum(ahead - step * (slope + penalty), 0)
            following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = new + (momentum - 1) / following * (new - found)
            done = np.abs(new - found).max() < 1e-7
            found, momentum = new, following
            if done:
                break
        if np.count_nonzero(found) > min(MOST, 0.8 * rows):
            break
        here = found
    return here


def _constrained(matrix, target, spread):
    """Least squares under inequalities, as the least distance to a polyhedron (Lawson and Hanson 1974, chapter 23)."""
    count = matrix.shape[1]
    most = np.clip(target + 3 * spread, FLOOR, 1.0)
    sides = np.vstack([np.eye(count), -np.ones(count), -matrix])
    least = np.concatenate([np.zeros(count), [-1.0], -most])
    basis, root = np.linalg.qr(matrix)
    centre = basis.T @ target
    turned = np.linalg.solve(root.T, sides.T).T
    bound = least - turned @ centre
    system = np.vstack([turned.T, bound])
    aim = np.append(np.zeros(count), 1.0)
    weight = nnls(system, aim, maxiter=20 * system.shape[1])[0]
    rest = system @ weight - aim
    found = np.linalg.solve(root, -rest[:-1] / rest[-1] + centre)
    return np.maximum(found, 0)
