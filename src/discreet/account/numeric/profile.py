"""Privacy profiles: delta as a function of epsilon, and back, for a loss that takes finitely many values."""

from __future__ import annotations

import math

import numpy as np

from discreet.account.numeric.pair import Array
from discreet.account.numeric.rounding import CALL, TERM
from discreet.core.value import dataclass


@dataclass(frozen=True, slots=True)
class Rounding:
    """What may be missing at each place of a lattice: tilted mass `error`, that is e^(log_scale - theta loss) error.

    `norm` bounds the root of the sum of squares of the tilted mass that is missing, over all places.
    """

    theta: float
    spacing: float
    log_scale: float
    error: float
    norm: float

    def above(self, epsilon: float, top: float) -> float:
        """Return what may be missing between epsilon and the top, at most."""
        if self.error == 0:
            return 0.0
        places = max(0.0, top - epsilon) / self.spacing + 1
        # Sums of the weights e^(-theta (loss - epsilon)) and, for Cauchy and Schwarz, of their squares.
        sums = [min(places, _geometric(power * self.theta * self.spacing)) for power in (1, 2)]
        most = min(self.error * sums[0], self.norm * math.sqrt(sums[1]))
        return math.exp(min(0.0, self.log_scale - self.theta * epsilon + math.log(most)))


def _geometric(decay: float) -> float:
    return -1 / math.expm1(-decay) if decay > 0 else math.inf


@dataclass(frozen=True, slots=True)
class Profile:
    """delta(epsilon) = infinity + e^unit * sum of masses (1 - e^(epsilon - loss)) over losses above epsilon.

    Below `floor` nothing is known; `rounding` says what the masses may lack.
    """

    losses: Array
    masses: Array
    infinity: float = 0.0
    unit: float = 0.0
    floor: float = -math.inf
    rounding: Rounding | None = None

    def delta(self, epsilon: float) -> float:
        """Return delta at epsilon, rounded up."""
        if epsilon < self.floor:
            return 1.0
        first = int(np.searchsorted(self.losses, epsilon, side="right"))
        above = float(-(self.masses[first:] @ np.expm1(epsilon - self.losses[first:])))
        return min(1.0, (self.infinity + self._scaled(above) + self._error(epsilon)) * (1 + self._sum))

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon >= 0 whose delta is at most the given one, rounded up; infinity if there is none."""
        if self.delta(0.0) <= delta:
            return 0.0
        if self.infinity * (1 + self._sum) >= delta:
            return math.inf
        found = self._solved(delta)
        step = max(abs(found), 1.0) * 2.0**-52
        # The formula below is exact up to rounding; a nudge or two puts it on the safe side.
        while found < math.inf and self.delta(found) > delta:
            found, step = found + step, step * 2
        return max(0.0, found)

    def doubt(self, epsilon: float) -> float:
        """Return how much of delta at epsilon is there only because of round-off."""
        return self._error(epsilon) if epsilon < math.inf else 0.0

    def _solved(self, delta: float) -> float:
        """Solve on the piece between two losses, where delta is a - b e^epsilon."""
        low, high = -1, len(self.losses) - 1
        while high - low > 1:  # delta is above the target at losses[low], and not so at losses[high]
            middle = (low + high) // 2
            low, high = (middle, high) if self.delta(float(self.losses[middle])) > delta else (low, middle)
        start = max(0.0, self.floor, float(self.losses[low]) if low >= 0 else 0.0)
        room = (delta / (1 + self._sum) - self.infinity - self._error(start)) * math.exp(-self.unit)
        mass = float(self.masses[high:].sum())
        if not 0 < room < mass:
            return start
        decay = float(self.masses[high:] @ np.exp(self.losses[high] - self.losses[high:]))
        return float(self.losses[high]) + math.log((mass - room) / decay)

    @property
    def _sum(self) -> float:
        """What covers the rounding of sums over all losses."""
        return 8 * CALL + TERM * len(self.losses)

    def _scaled(self, mass: float) -> float:
        # What is not a number (a computation that overflowed) counts as everything, not as nothing.
        return 0.0 if mass <= 0 else math.exp(min(0.0, self.unit + math.log(mass)))

    def _error(self, epsilon: float) -> float:
        return 0.0 if self.rounding is None else self.rounding.above(epsilon, float(self.losses[-1]))
