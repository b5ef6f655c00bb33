"""Simulation: intervals of functions of noisy integers, from fixed points spread over the laws of their noise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

from discreet.answers.functions import evaluate
from discreet.answers.quantity import FunctionQuantity, Law, NoisyInteger, leaves, to_float
from discreet.answers.spread import masses
from discreet.noise.arrays import NDArray, np

Array: TypeAlias = "NDArray[np.float64]"

_POINTS = 4096
_ORDERS = 256
_USED = 0.8  # of what may go wrong: noise around noisy numbers is not quite that around exact ones
_UNDEFINED = 0.02  # the share of points at which a function may be undefined (a size of zero) before all is in doubt

Pair = tuple[float, float]


def simulated(function: FunctionQuantity, level: float) -> Pair:
    """Return an interval of a function of noisy integers, from its values where the noise is drawn once more.

    The points are fixed: every noise takes each of 4,096 equally likely values of its law once, in an order of its own,
    and then all once more with the opposite sign. Two intervals are taken from the values, and what either of them
    holds is kept: the quantiles, right where a monotone scale makes the function linear, and their mirror image at the
    estimate, right where the function folds (a square near zero). For a linear function they are the same. Where the
    noise may hide that a size is positive, everything within the bounds is possible.
    """
    noises = [leaf for leaf in dict.fromkeys(leaves(function)) if isinstance(leaf, NoisyInteger)]
    centre = {noisy: np.asarray([to_float(noisy.value)]) for noisy in noises}
    drawn = _Drawn({noisy: at for at, noisy in enumerate(noises)})
    values, estimate = np.atleast_1d(evaluate(function, drawn)), float(np.atleast_1d(evaluate(function, centre))[0])
    defined = np.isfinite(values)
    if not math.isfinite(estimate) or (~defined).mean() > _UNDEFINED:
        return -math.inf, math.inf
    # Undefined points count as beyond either end.
    ordered = np.sort(values[defined])
    out = math.floor(_USED * (1 - level) / 2 * len(values)) - int((~defined).sum())
    low, high = float(ordered[max(out - 1, 0)]), float(ordered[-max(out, 1)])
    return min(low, 2 * estimate - high), max(high, 2 * estimate - low)


class _Drawn(Mapping[NoisyInteger, Array]):
    """The values of every noisy integer, made when they are asked for: all at once they might not fit in memory."""

    def __init__(self, places: dict[NoisyInteger, int]) -> None:
        self._places = places

    def __getitem__(self, noisy: NoisyInteger) -> Array:
        at = self._places[noisy]
        one = quantiles(noisy.law, to_float(noisy.scale))[_order(at % _ORDERS)]
        turned = np.roll(one, 1 + 37 * (at // _ORDERS)) if at >= _ORDERS else one
        return to_float(noisy.value) + np.concatenate([turned, -turned])

    def __iter__(self) -> Iterator[NoisyInteger]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


@lru_cache(maxsize=64)
def quantiles(law: Law, scale: float) -> Array:
    """Return so many equally likely values of a noise, in rising order."""
    chances = (np.arange(_POINTS) + 0.5) / _POINTS
    if law == "laplace":
        # In the upper half the least k with P(noise > k) = q^(k + 1) / (1 + q) at most the rest; the lower mirrors it.
        rest = np.minimum(chances, 1 - chances)
        sizes = np.maximum(np.ceil(-scale * (np.log(rest) + math.log1p(math.exp(-1 / scale))) - 1), 0.0)
        signed: Array = np.where(chances > 0.5, sizes, -sizes)
        return signed
    if scale > 30:
        from scipy.special import ndtri

        rounded: Array = np.rint(ndtri(chances) * scale)
        return rounded
    k = np.arange(-math.ceil(10 * scale) - 1, math.ceil(10 * scale) + 2)
    found: Array = k[np.searchsorted(np.cumsum(masses(law, scale, k)), chances)].astype(np.float64)
    return found


@lru_cache(maxsize=_ORDERS)
def _order(at: int) -> NDArray[np.int64]:
    """Return a fixed permutation of the points for each noise: the order of mixed numbers (Steele 2014)."""
    with np.errstate(over="ignore"):
        mixed = (np.arange(1, _POINTS + 1, dtype=np.uint64) + np.uint64(at) * np.uint64(1 << 32)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return np.argsort(mixed, kind="stable")
