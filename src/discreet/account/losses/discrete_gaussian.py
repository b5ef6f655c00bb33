"""Discrete Gaussian losses: integers plus discrete Gaussian noise (Canonne, Kamath, Steinke 2020)."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import Number, positive, whole
from discreet.account.numeric.pair import FAR, Array, Pair, atoms, from_measure, lumps, normal
from discreet.account.numeric.rounding import sloped, up
from discreet.core.value import dataclass
from discreet.noise.arrays import np

SUMMED = 2.0**17  # sigma up to which every integer is summed
BLOCKS = 8192
LISTED = 2**15  # integers that are kept apart; more of them are summed in blocks


@dataclass(frozen=True, slots=True, repr=False)
class DiscreteGaussian(PrivacyLoss):
    """Noise on the integers with P(x) proportional to e^(-x^2/(2 sigma^2)), for a sensitivity counted in integer steps.

    One number, one loss: a vector of discrete Gaussians is not this with the l2-sensitivity; use Zcdp for it.

    Guarantee: sensitivity^2/(2 sigma^2)-zCDP (ibid., Theorem 4), and all that follows from its exact loss.
    """

    sigma: Number
    sensitivity: int = 1

    def __post_init__(self) -> None:
        PrivacyLoss.__post_init__(self)
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "sensitivity", whole("sensitivity", self.sensitivity))

    @property
    def rho(self) -> Number:
        """sensitivity^2/(2 sigma^2)."""
        return (self.sensitivity / Fraction(self.sigma)) ** 2 / 2

    @property
    def mu_squared(self) -> Number | None:
        """sensitivity^2/sigma^2 (1 + 1/(6 sigma^2)), for sigma^2 of 1/2 and more; below, nothing is proved here.

        Guarantee: the loss is mu-Gaussian privacy. Proof. Let Phi(t_k) = P(X < k) for the noise X. The likelihood ratio
        of X + s to X grows with the outcome, so the best tests are thresholds, and those at k have the error rates
        Phi(-t_k) and Phi(t_(k-s)), which lie on the curve of mu = t_k - t_(k-s); between them the curve of tests is a
        chord, and that of mu is convex. So it is enough that t_(k+1) - t_k <= h for all k, with mu = s h. Suppose
        that for some k it is more. Choose an interval of width h strictly inside [t_k, t_(k+1)], and beside it, on both
        sides, the others of that width; let q_j be the normal mass of the j-th and p_j = P(X = k + j). Then q_0 < p_0,
        while the q on either side add up to more than the p there: so q_j > p_j for some j < 0 and for some j > 0.
        But log q_j - log p_j is concave in j, which excludes that: the second difference of log p is -1/sigma^2, and
        that of log q is at most h^2 (V - 1), where V bounds the variance of a normal variable within an interval of
        width h, as (log of the mass of [y - h/2, y + h/2])'' = Var - 1. A log-concave law on an interval of width h has
        at most the variance of the truncated exponential one of the same mean (their densities cross twice), which
        is at most h^2/12 (1/x^2 - 1/sinh^2 x <= 1/3). So h^2 (1 - h^2/12) >= 1/sigma^2 is enough, and
        h^2 = (1 + x/6) x with x = 1/sigma^2 gives x (1 + x/12 - x^2/36 - x^3/432), which is at least x for x <= 2.
        """
        narrow = 1 / Fraction(self.sigma) ** 2
        return self.sensitivity**2 * narrow * (1 + narrow / 6) if narrow <= 2 else None

    @property
    def dominated(self) -> bool:
        """By the noise around 0 and around the sensitivity, unless its losses are too large to be followed."""
        return self.rho <= FAR

    def pair(self, tail: float) -> Pair:
        """Return the pair of the noise around the sensitivity and around 0."""
        sigma = -up(-Fraction(self.sigma))
        return (_each if sigma <= SUMMED else _blocks)(sigma, self.sensitivity, tail)

    def divergence(self, alphas: Array) -> Array:
        """Return alpha rho, which bounds the divergence of every order (ibid., Proposition 5)."""
        return sloped(self.rho, alphas)

    def group(self, k: int) -> DiscreteGaussian:
        """Return the loss at k times the sensitivity.

        Guarantee: a group of k moves the answer by at most k times as much.
        """
        return DiscreteGaussian(self.sigma, self.sensitivity * whole("k", k), relation=self.relation)


def _each(sigma: float, steps: int, tail: float) -> Pair:
    """Return the pair with every integer within z sigma of one of the centres, and lumps for all others."""
    # P(|X| > z sigma) <= 2 e^(-z^2/2) also on the integers, where X is sigma-subgaussian (ibid., Corollary 17).
    z = math.sqrt(-2 * math.log(tail / 2))
    reach = math.ceil(z * sigma)
    near = np.arange(-reach, reach + 1.0)
    x = np.arange(-reach, reach + steps + 1.0) if steps <= 2 * reach else np.concatenate([near, near + steps])
    # Distances from the other centre, exact for each cluster: far out x itself may be rounded.
    y = x - steps if steps <= 2 * reach else np.concatenate([near - steps, near])
    total = float(np.exp(-((near / sigma) ** 2) / 2).sum())  # from below: masses are rather too large
    p, q = np.exp(-((y / sigma) ** 2) / 2) / total, np.exp(-((x / sigma) ** 2) / 2) / total
    losses = steps * (x + y) / (2 * sigma * sigma)
    first, last = float(losses[0]), float(losses[-1])
    pair = atoms(losses, p, q, unit=steps / (2 * sigma * sigma)) if len(x) <= LISTED else _thinned(losses, p, q)
    rows = [(-math.inf, first, tail, tail), (last, math.inf, tail, tail)]
    if steps > 2 * reach:
        rows.append((float(losses[len(near) - 1]), float(losses[len(near)]), tail, tail))
    cut = lumps(*rows)
    return pair.with_lumps(cut.low, cut.high, cut.p, cut.q)


def _thinned(losses: Array, p: Array, q: Array) -> Pair:
    """Return half of `LISTED` blocks of neighbouring atoms, each divided between its ends so that P and Q are kept.

    That joins points of the curve of delta by chords, which lie above it (as in `numeric.loss_measure`). The
    masses are sums of positive terms that differ from the truth by less than 2^-42 of themselves, exponents included;
    dividing a block magnifies that by one over its width, and both shares are raised by as much.
    """
    starts = np.arange(0, len(losses), -(-2 * len(losses) // LISTED))
    low, high = losses[starts], np.append(losses[starts[1:]], 2 * losses[-1] - losses[-2])
    mass, other = np.add.reduceat(p, starts), np.add.reduceat(q, starts)
    span = -np.expm1(low - high)
    slip = mass * 2.0**-42 / span
    # Exponents that a float cannot hold are cut, which moves mass of P to the upper end; no mass of Q is lost.
    above = np.clip((mass - other * np.exp(np.minimum(low, 700.0))) / span, 0.0, mass)
    other_above = np.minimum(above * np.exp(np.minimum(-high, 700.0)), other)
    join = np.concatenate
    return atoms(join([low, high]), join([mass - above + slip, above + slip]), join([other - other_above, other_above]))


def _blocks(sigma: float, steps: int, tail: float) -> Pair:
    """Return the pair for large sigma: blocks of integers as stretches of the continuous pair between half-integers.

    Over a block the sum of e^(-x^2/(2 sigma^2)) and its integral between half-integers differ by (z^2 + 1)/(24 sigma^2)
    of themselves, about (midpoint rule; z bounds |x|/sigma); so do the masses of P and Q, and dividing a block of loss
    width w between its ends magnifies that by 1/w.
    """
    mu = steps / sigma
    from discreet.account.numeric.loss_measure import discretize

    continuous = normal(mu, tail)
    z = math.sqrt(-2 * math.log(tail))
    size = float(max(1, math.ceil((2 * z + mu) * sigma / BLOCKS)))
    first = math.floor(-z * sigma) - 0.5
    cuts = first + size * np.arange(math.ceil(((mu + z) * sigma - first) / size) + 1)
    edges = np.asarray(steps * (2 * cuts - steps) / (2 * sigma * sigma), dtype=np.float64)
    measure = discretize(continuous, edges)
    outcome = np.abs(cuts / sigma)
    slip = 2 * (np.maximum(outcome, np.abs(outcome - mu)) ** 2 + 2) / (24 * sigma * sigma) + 2.0**-44
    around = np.convolve(measure.masses, np.ones(3), mode="same")
    width = -math.expm1(-float(edges[1] - edges[0]))
    masses = measure.masses + around * slip * (2 / width)
    return from_measure(edges, masses, measure.infinity + tail)
