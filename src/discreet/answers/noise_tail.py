"""Tails: how likely a weighted sum of noises of one law is to be so large, for many weights at once."""

from __future__ import annotations

from typing import Any, TypeAlias

from discreet.answers.quantity import Law
from discreet.noise.arrays import NDArray, np

Array: TypeAlias = "NDArray[np.float64]"

_APART = 1.01  # by how much sizes are told apart: closer ones cancel too many digits
_LEAST = 1e-9  # of the largest size: smaller ones are as if they were so large


def beyond(law: Law, weights: Array, scales: Array, distances: Array) -> Array:
    """Bound P(|sum of weight * noise| >= distance) from above, for each row of weights; each noise has a scale.

    Each discrete noise is drawn within 1 of a continuous one (see `inversion.tail`), so the sum is within the sum of
    the weights of a continuous one. Of continuous Laplace noises the tail is a sum of exponentials (partial fractions
    of the characteristic function); sizes that are nearly alike are set apart upwards, which can only add to it, since
    all laws are symmetric and unimodal (Birnbaum 1948).
    """
    weights = np.abs(weights)
    room = np.asarray(distances, dtype=np.float64) - weights.sum(axis=-1)
    sizes = weights * scales
    largest = sizes.max(axis=-1)
    silent = largest == 0  # no noise: only no distance is possible
    with np.errstate(all="ignore"):
        chances = _gaussian(sizes, room) if law == "gaussian" else _laplace(sizes, largest, room)
    chances[room <= 0] = 1.0
    if silent.any():
        chances[silent] = room[silent] <= 0
    return np.minimum(chances, 1.0)


def _gaussian(sizes: Array, room: Array) -> Array:
    from scipy.special import erfc

    found: Any = erfc(room / np.sqrt(2 * (sizes**2).sum(axis=-1)))
    return np.array(found)


def _laplace(sizes: Array, largest: Array, room: Array) -> Array:
    ordered = np.sort(np.maximum(sizes / largest[..., None], _LEAST), axis=-1)
    for at in range(1, ordered.shape[-1]):
        np.maximum(ordered[..., at], ordered[..., at - 1] * _APART, out=ordered[..., at])
    squares = ordered**2
    gaps = squares[..., :, None] - squares[..., None, :]
    places = np.arange(ordered.shape[-1])
    gaps[..., places, places] = squares
    shares = (squares[..., :, None] / gaps).prod(axis=-1)
    found: Array = (shares * np.exp(-(room / largest)[..., None] / ordered)).sum(axis=-1)
    return found


def reaches(law: Law, weights: Array, scales: Array, level: float) -> Array:
    """Return for each row of weights a distance that the sum stays below with probability at least `level`."""
    weights = np.abs(weights)
    inner = weights.sum(axis=-1)
    outer = inner + (weights * scales).sum(axis=-1) * _FAR[law] * max(1.0, -np.log1p(-level))
    for _ in range(_HALVINGS):
        middle = (inner + outer) / 2
        beyond_it = beyond(law, weights, scales, middle) > 1 - level
        inner, outer = np.where(beyond_it, middle, inner), np.where(beyond_it, outer, middle)
    found: Array = outer
    return found


_FAR = {"laplace": 2.0, "gaussian": 3.0}
_HALVINGS = 16
