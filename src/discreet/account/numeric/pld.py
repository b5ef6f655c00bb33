"""Numerical privacy-loss distributions: delta and epsilon of any composition of dominating pairs, from above.

The way: look at the pairs coarsely (the pilot), choose the tilt at which the sought point of the curve becomes the
centre (the saddle point), from it the grid that keeps the error of epsilon below `ACCURACY`, divide every pair over
that grid, convolve, and read delta or epsilon off. The choices steer accuracy and speed alone; whatever they are, what
comes out is an upper bound, by `discretize` (the grid), `Lattice.error` (round-off) and the mass put at infinity (cut
tails).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from discreet.account.numeric.enumerated import exactly
from discreet.account.numeric.jumps import summed
from discreet.account.numeric.lattice import Lattice, product
from discreet.account.numeric.loss_measure import RELATIVE, discretize, lattice_edges
from discreet.account.numeric.pilot import Aim, Leaf, Pilot, Window
from discreet.account.numeric.profile import Profile, Rounding
from discreet.core.value import replace

ACCURACY = 1e-5  # relative error of epsilon that the grid aims at
TAIL = 1e-9  # relative error of delta that cut tails may cause
LEAST_TAIL = 1e-290  # what lies beyond would underflow
DOUBT = 1e-3  # share of delta that round-off may have; if it is more, the tilt is moved to the saddle point
LOST = 0.1  # share that shows that round-off, not the losses, decides; then losses are summed one by one
LARGEST = 2**22  # points of the largest transform
SMALLEST = 2**14  # and of the smallest, for up to FEW copies: their losses may jump, which a coarse grid would smear
FEW = 256
AIMS = 8  # aims taken, at most
NEAR = 0.05  # how far, relative to epsilon, an aim may be off
ROWS = 2.0**13  # places that `lattice_edges` may add for all pairs together, about, for each factor e of a loss


def epsilon(leaves: Sequence[Leaf], delta: float, *, accuracy: float = ACCURACY) -> float:
    """Return an epsilon that holds at delta, about `accuracy` (relative) above the least for the product of the pairs.

    Guarantee: never below the least epsilon of the product of the leaves' pairs.
    """
    exact = exactly(leaves, _tail(leaves, delta))
    if exact is not None:
        return exact.epsilon(delta)
    pilot = Pilot.of(leaves, _tail(leaves, delta))
    # delta at 0, the total variation, is at most the sum of the parts': samples that hardly anyone is in need no more.
    if sum(count * Profile(m.losses, m.masses, m.infinity).delta(0.0) for m, count in pilot.measured()) <= delta:
        return 0.0
    aim, least, sharp = pilot.aim_at_delta(delta), math.inf, False
    for _ in range(AIMS):
        found = profile(pilot, aim, accuracy=accuracy)
        here, before = found.epsilon(delta), least
        if found.doubt(here) >= DOUBT * delta:
            upright = profile(pilot, aim.upright(), accuracy=accuracy)
            if (other := upright.epsilon(delta)) <= here:
                found, here = upright, other
        if here < least:
            least, sharp = here, found.doubt(here) < LOST * delta
        # The saddle point knows nothing of jumps: a rare large loss may put the aim far beyond. Each profile is valid,
        # so that one aims again, at what was found, until that is where the profile is sharp.
        if not 0 < least < math.inf or abs(least - aim.epsilon) <= NEAR * least or least > before * (1 - accuracy):
            break
        aim = pilot.aim_at_epsilon(least)._replace(log_delta=math.log(delta))
    return least if sharp else min(least, _one_by_one(leaves, pilot, delta, least))


def _one_by_one(leaves: Sequence[Leaf], pilot: Pilot, delta: float, least: float) -> float:
    """Return an epsilon that no transform's round-off has touched: of sums of all losses, or of the parts' epsilons.

    Guarantee: (epsilon_i, delta_i) of each pair make (sum, sum) of their product (basic composition), and `summed`.
    """
    total = 0.0
    for leaf in leaves:
        part = exactly([Leaf(leaf.pair, 1)], _tail(leaves, delta))
        total += leaf.count * (math.inf if part is None else part.epsilon(delta * (1 - 2.0**-40) / pilot.copies))
    least = min(least, total * (1 + 2.0**-40))
    found = summed(pilot, least) if 0 < least < math.inf else None
    return least if found is None else min(least, found.epsilon(delta))


def delta(leaves: Sequence[Leaf], epsilon: float, *, accuracy: float = ACCURACY) -> float:
    """Return a delta that holds at epsilon.

    Guarantee: never below the delta of the product of the leaves' pairs.
    """
    exact = exactly(leaves, LEAST_TAIL)
    if exact is not None:
        return exact.delta(epsilon)
    guess, least = 1e-20, 1.0
    for attempt in range(4):
        pilot = Pilot.of(leaves, _tail(leaves, guess))
        aim = pilot.aim_at_epsilon(epsilon)
        # How deep tails and windows must reach shows only when delta is known: first roughly, then from what was found.
        deep = aim._replace(log_delta=min(aim.log_delta, math.log(guess))) if attempt else aim
        found = profile(pilot, deep.upright() if attempt > 1 else deep, accuracy=accuracy)
        least = min(least, found.delta(epsilon))
        if found.doubt(epsilon) + found.infinity < DOUBT * least:
            break
        guess = max(LEAST_TAIL, DOUBT * min(least, math.exp(aim.log_delta)))
    return least


def everywhere(leaves: Sequence[Leaf], floor: float, *, accuracy: float = ACCURACY) -> Profile:
    """Return one profile for every epsilon, sharp where delta is well above `floor`."""
    if not leaves:
        return Profile(np.zeros(1), np.ones(1))
    exact = exactly(leaves, _tail(leaves, floor))
    if exact is not None:
        return exact
    pilot = Pilot.of(leaves, _tail(leaves, floor))
    return profile(pilot, pilot.aim_everywhere(floor), accuracy=accuracy)


def profile(pilot: Pilot, aim: Aim, *, accuracy: float = ACCURACY) -> Profile:
    """Return the profile of the composition, sharp where it was aimed at, valid everywhere."""
    spacing = _spacing(pilot, aim, accuracy)
    window = pilot.window(aim, spacing)
    width = window.high - window.low
    spacing = max(spacing, width / LARGEST)
    if pilot.copies <= FEW:
        spacing = min(spacing, width / SMALLEST)
        if aim.theta > 0:  # at one point of the curve, which a single loss may decide
            spacing = min(spacing, max(RELATIVE * aim.epsilon, width / LARGEST))
    spacing = _aligned(pilot, aim, spacing)
    least, low, high, most = _places(pilot, window, spacing)
    share = max(RELATIVE, len(pilot.pairs) / ROWS)
    safe = moment = 0.0  # ln of the probability that no loss is unbounded; ln E e^(rate loss) of the others

    def parts() -> Iterator[tuple[Lattice, int]]:
        nonlocal safe, moment
        for pair, coarse, count in pilot.by_weight():
            index = lattice_edges(pair, spacing, coarse, aim.theta, share)
            fine = discretize(pair, np.asarray(index * spacing, dtype=np.float64))
            part = Lattice.of(fine, index, aim.theta, spacing)
            safe += count * math.log1p(-min(fine.infinity, 1 - 2.0**-53))
            moment += count * part.log_moment(window.rate) if high < most else 0.0
            yield part, count

    whole = product(parts(), low, high, min(most - least + 1, math.ceil(width / spacing)))
    infinity = -math.expm1(safe) * (1 + 2.0**-40)
    if high < most:  # Chernoff's bound on what lies above the window
        infinity += math.exp(min(0.0, moment - window.rate * high * spacing)) * (1 + 1e-6)
    made = _untilted(_settled(whole, pilot.copies), infinity, whole_line=low == least or aim.theta == 0)
    # Every copy's loss, and the logarithm of its scale, was rounded.
    drift = 2.0**-52 * sum(count * float(np.abs(m.losses[[0, -1]]).max()) for m, count in pilot.measured())
    scale = 2.0**-49 * (pilot.copies + abs(whole.log_scale) + aim.theta * abs(made.losses).max())
    return replace(made, losses=made.losses + drift, unit=made.unit + float(scale))


def _tail(leaves: Sequence[Leaf], delta: float) -> float:
    return max(LEAST_TAIL, delta * TAIL / sum(leaf.count for leaf in leaves))


def _spacing(pilot: Pilot, aim: Aim, accuracy: float) -> float:
    """Return the spacing whose error in epsilon is `accuracy`, relative.

    Dividing mass over a gap g, uniformly placed in it, adds g^2/6 to the variance and keeps E e^-loss, so ln E
    e^(theta loss) grows by theta (theta + 1) g^2 / 12 for each of the copies, and epsilon by 1/theta of their sum.
    """
    size = max(aim.epsilon, 0.1 * aim.spread, 1e-200)
    return math.sqrt(12 * accuracy * size / (pilot.copies * (aim.saddle + 1)))


def _aligned(pilot: Pilot, aim: Aim, spacing: float) -> float:
    """Return a spacing, at most the given one, of which the heaviest loss is a multiple and need not be divided."""
    heavy = abs(pilot.heaviest(aim.theta))
    return heavy / math.ceil(heavy / spacing) if heavy > spacing else spacing


def _places(pilot: Pilot, window: Window, spacing: float) -> tuple[int, int, int, int]:
    """Return the least place that a sum of losses can reach, the first and the last to compute, and the most."""
    least = sum(c * (math.floor(min(m.losses[0] / spacing, 0)) - 1) for m, c in pilot.measured())
    most = sum(c * (math.floor(max(m.losses[-1] / spacing, 0)) + 3) for m, c in pilot.measured())
    high = max(0, min(most, math.ceil(window.high / spacing)))
    return least, min(high, max(least, math.floor(window.low / spacing))), high, most


def _settled(lattice: Lattice, copies: int) -> Lattice:
    """Make the composed lattice coarser, which makes it shorter to search.

    Doubling the spacing to g divides half of the mass over gaps of g and adds (theta + 1) g^2 / 16 to epsilon; up to
    half of what the first division of all copies has cost, (theta + 1) spacing^2 / 12 each, is spent so.
    """
    most = copies * lattice.spacing**2 / 24
    while 4 * lattice.spacing**2 / 16 <= most and (lattice.theta + 1) * lattice.spacing < 0.1:
        lattice = lattice.coarser()
    return lattice


def _untilted(whole: Lattice, infinity: float, *, whole_line: bool) -> Profile:
    """Return true masses, in units that keep those that matter within the range of floats.

    Mass below the window was wrapped to its top: too high a loss, but under a tilt too small a mass as well. Then
    nothing is said about epsilons below the window; without a tilt, or with all losses inside, it is good for all.
    """
    losses, theta = whole.losses, whole.theta
    total = float(whole.mass.sum())  # nothing, where all that is left in the window was less than round-off
    middle = float(whole.mass @ losses) / total if total else float(losses[0])
    # Far below the middle true masses exceed a float; nothing is said about epsilons there either.
    kept = theta * (middle - losses) < 600
    masses = whole.mass[kept] * np.exp(theta * (middle - losses[kept]))
    floor = float(losses[kept][0]) if not (whole_line and kept.all()) else -math.inf
    unit = whole.log_scale - theta * middle
    rounding = Rounding(theta, whole.spacing, whole.log_scale, whole.error, whole.norm)
    return Profile(losses[kept], masses, infinity, unit, floor, rounding)
