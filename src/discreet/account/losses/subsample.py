"""Losses on random samples: amplification by Poisson sampling and by sampling without replacement."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction

import numpy as np

from discreet.account.losses.loss import PrivacyLoss, Unsupported
from discreet.account.numeric.amplification import poisson_add, poisson_remove, without_replacement
from discreet.account.numeric.bounded_losses import pair_divergence
from discreet.account.numeric.checks import Number, probability, whole
from discreet.account.numeric.pair import Array, Pair, lumps
from discreet.account.numeric.rounding import CALL, up
from discreet.account.numeric.scipy_functions import special
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass

NOTHING = lumps((0.0, 0.0, 1.0, 1.0))  # the pair of a sample that nobody is in
ORDERS = 256  # integer orders up to which divergences of samples are summed


def sampled(loss: PrivacyLoss, rate: Number, of: int | None) -> PrivacyLoss:
    """Return the loss of what ran on one random sample; compositions are run on that one sample as a whole."""
    if of is not None:
        return Drawn(loss, whole("rate", rate, least=0), whole("of", of), relation=loss.relation)
    share = probability("rate", rate)
    if isinstance(loss, Sampled):  # a sample of a sample is a sample
        share, loss = Fraction(share) * Fraction(loss.rate), loss.loss
    return loss if share == 1 else Sampled(loss, share, relation=loss.relation)


@dataclass(frozen=True, slots=True, repr=False)
class _OnSample(PrivacyLoss):
    """What both kinds of sampling share."""

    loss: PrivacyLoss

    @property
    @abstractmethod
    def share(self) -> float:
        """The probability that a person is in the sample, rounded up."""

    @property
    def slack(self) -> Number:
        """That of the loss itself: a failure is not amplified here."""
        return self.loss.slack

    @property
    def peak(self) -> Number:
        """ln(1 + rate (e^epsilon - 1)) (Balle, Barthe, Gaboardi 2018, Theorems 8 and 9), rounded up."""
        return _amplified(up(self.loss.peak), self.share)

    @property
    def rho(self) -> Number | None:
        """That of the loss itself, which is its limit at large orders; for bounded losses often less."""
        inner, peak = self.loss.rho, up(self.peak)
        known = [] if inner is None else [up(inner)]
        if math.isfinite(peak):
            known.append(peak * math.tanh(peak / 2) * (1 + 2.0**-48))
        return min(known, default=None)

    @property
    def is_bounded(self) -> bool:
        """Whether it is one mechanism with a pair of bounded losses, over which divergences can be summed."""
        single = len(self.loss.parts) == 1 and self.loss.parts[0][1] == 1
        return single and self.loss.dominated and not self.slack and math.isfinite(self.loss.peak)

    @property
    def exact(self) -> bool:
        """Whether the loss is."""
        return self.loss.exact

    @property
    def dominated(self) -> bool:
        """Whether the loss is."""
        return self.loss.dominated

    def group(self, k: int) -> PrivacyLoss:
        """Refuse groups: how many of them are in the sample is random, and no tight theorem is known here."""
        if whole("k", k) == 1:
            return self
        why = "how many of a group are in the sample is random, and no theorem for that is implemented"
        raise Unsupported(f"{self!r}.group({k})", why=why, fix="group the loss before it is sampled", value=self)


@dataclass(frozen=True, slots=True, repr=False)
class Sampled(_OnSample):
    """A loss on a Poisson sample: every person is in it with probability `rate`, independently.

    Guarantee: under add_remove, by Zhu, Dong, Wang 2022, Theorem 11, for both directions.
    """

    rate: Number

    def __post_init__(self) -> None:
        PrivacyLoss.__post_init__(self)
        probability("rate", self.rate)
        if self.relation != "add_remove" or self.loss.relation != "add_remove":
            why = "Poisson sampling is proved for neighbours by adding or removing a person"
            fix = "state the loss under add_remove, or draw a fixed number of rows: sampled(m, of=n)"
            raise BadParameter("relation", self.loss.relation, why=why, fix=fix)

    @property
    def share(self) -> float:
        """The rate, rounded up."""
        return up(self.rate)

    @property
    def symmetric(self) -> bool:
        """Removing a person and adding one differ."""
        return False

    def pair(self, tail: float) -> Pair:
        """Return the amplified pair when a person is removed."""
        return poisson_remove(self.loss.pair(tail), self.share) if self.rate else NOTHING

    def pair_added(self, tail: float) -> Pair:
        """Return the amplified pair when a person is added."""
        return poisson_add(self.loss.pair_added(tail), self.share) if self.rate else NOTHING

    @property
    def has_divergence(self) -> bool:
        """Whether the loss has."""
        return self.loss.has_divergence

    def divergence(self, alphas: Array) -> Array:
        """Return divergences: exactly for bounded losses, at whole orders and by chords between them for others."""
        if self.rate == 0:
            return np.zeros(len(alphas))
        if self.loss.mu is not None:
            return _between_orders(_gaussian_moments(self.loss.mu, self.share), alphas)
        if self.is_bounded:
            both = self.pair(1e-290), self.pair_added(1e-290)
            return np.maximum(*(pair_divergence(pair, alphas) for pair in both))
        return _between_orders(_general_moments(self.loss, self.share), alphas)


@dataclass(frozen=True, slots=True, repr=False)
class Drawn(_OnSample):
    """A loss on `size` rows drawn without replacement out of `total`.

    Guarantee: under replace, by Zhu, Dong, Wang 2022, Proposition 30.
    """

    size: int
    total: int

    def __post_init__(self) -> None:
        PrivacyLoss.__post_init__(self)
        if whole("size", self.size, least=0) > whole("total", self.total):
            raise BadParameter("size", self.size, why=f"there are {self.total} rows", fix="draw at most that many")
        if self.relation != "replace" or self.loss.relation != "replace":
            why = "a fixed number out of a fixed total is proved for neighbours by replacement: the total is public"
            fix = "state the loss under replace, or sample at a rate: sampled(q)"
            raise BadParameter("relation", self.loss.relation, why=why, fix=fix)

    @property
    def share(self) -> float:
        """size/total, rounded up."""
        return up(Fraction(self.size, self.total))

    @property
    def symmetric(self) -> bool:
        """Replacing is undone by replacing."""
        return self.loss.symmetric

    def pair(self, tail: float) -> Pair:
        """Return the amplified pair."""
        return without_replacement(self.loss.pair(tail), self.share) if self.size else NOTHING

    def pair_added(self, tail: float) -> Pair:
        """Return the amplified pair of the other direction."""
        return without_replacement(self.loss.pair_added(tail), self.share) if self.size else NOTHING

    @property
    def has_divergence(self) -> bool:
        """Of bounded losses only."""
        return self.size == 0 or self.is_bounded

    def divergence(self, alphas: Array) -> Array:
        """Return divergences of bounded losses, exactly."""
        return np.zeros(len(alphas)) if self.size == 0 else pair_divergence(self.pair(1e-290), alphas)


def _amplified(epsilon: float, rate: float) -> float:
    """Return ln(1 + rate (e^epsilon - 1)), rounded up; above zero if both are, however small."""
    if rate == 0 or epsilon == 0:
        return 0.0
    if epsilon < 700:
        growth = math.nextafter(rate * math.expm1(epsilon), math.inf)
        return min(epsilon, math.log1p(growth) * (1 + 2.0**-48))
    # The two terms may cancel, so they are raised by a share of their sizes.
    exponent = epsilon + math.log(rate) + 2.0**-50 * (epsilon - math.log(rate))
    return min(epsilon, (max(exponent, 0.0) + math.log1p(math.exp(-abs(exponent)))) * (1 + 2.0**-48))


def _between_orders(moments: Array, alphas: Array) -> Array:
    """Return divergences from moments[i] = ln E (P/Q)^(i+1): convex in the order, so chords bound them."""
    known = np.arange(1.0, len(moments) + 1)
    chords = np.interp(alphas, known, moments)
    return np.where(alphas > known[-1], np.inf, np.maximum(chords, 0.0) / (alphas - 1) * (1 + 2.0**-44))


def _gaussian_moments(mu: float, rate: float) -> Array:
    """Return ln sum_j C(a, j) (1-q)^(a-j) q^j e^(j(j-1) mu^2/2) for a = 1, 2, ... (Mironov, Talwar, Zhang 2019, 3.3).

    It is the moment when a person is removed, which for Gaussian noise is the larger one (ibid., Theorem 5).
    """
    j = np.arange(ORDERS + 1.0)
    return np.array([_binomial(a, rate, j[: a + 1] * (j[: a + 1] - 1) * (mu * mu / 2)) for a in range(1, ORDERS + 1)])


def _general_moments(loss: PrivacyLoss, rate: float) -> Array:
    """Return bounds on ln moments for any loss (Zhu and Wang 2019, Theorem 6): terms from the third on count thrice."""
    j = np.arange(ORDERS + 1.0)
    terms = np.zeros(ORDERS + 1)
    terms[2:] = (j[2:] - 1) * loss.renyi(j[2:])
    terms[3:] += math.log(3)
    return np.array([_binomial(a, rate, terms[: a + 1]) for a in range(1, ORDERS + 1)])


def _binomial(order: int, rate: float, logs: Array) -> float:
    """Return ln sum_j C(order, j) (1 - rate)^(order - j) rate^j e^logs[j], rounded up; the first two logs are 0.

    The weights add up to 1, so it is ln(1 + sum of weights (e^logs - 1)), a sum of positive terms.
    """
    if order < 2:
        return 0.0
    j, logs = np.arange(2.0, order + 1), logs[2:]
    ways = special.gammaln(order + 1) - special.gammaln(j + 1) - special.gammaln(order - j + 1)
    keep = (order - j) * math.log1p(-rate) if rate < 1 else np.where(j == order, 0.0, -np.inf)
    with np.errstate(divide="ignore"):
        grown = logs + np.log(-np.expm1(-logs))
    exponents = ways + keep + j * math.log(rate) + grown
    top = float(exponents.max())
    if top == -math.inf:
        return 0.0
    finite = np.where(np.isfinite(keep), np.abs(keep), 0.0)
    rounding = CALL * (4 * order + float((finite - j * math.log(rate) + np.abs(logs)).max()))
    total = top + math.log(float(np.exp(exponents - top).sum())) + rounding + 16 * CALL * order
    return float(np.logaddexp(0.0, total)) * (1 + CALL) if total > -30 else math.exp(total) * (1 + CALL)
