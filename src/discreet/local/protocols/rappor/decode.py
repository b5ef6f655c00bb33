"""RAPPOR's decoding: from counts of bits by cohort to every candidate's count, with intervals and p-values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import positive_failure
from discreet.core.errors import UnknownName
from discreet.local.estimate import Estimate
from discreet.local.protocols.rappor.bloom import Places, design
from discreet.local.protocols.rappor.fit import lasso, shortened, within
from discreet.local.protocols.rappor.noise import Floats, Tallies, columns, contrasts, observed, weights

Correction = Literal["bonferroni", "fdr"]

_BLOCK = 4096  # candidates whose columns are in memory at once
_ROUNDS = 3  # of selecting, fitting and weighing again; one less where nothing is selected
_POOL = 2000  # candidates that a lasso looks at, the most promising
_TINY = 1e-9
# Of the non-negative fit alone, no part of an interval or a test. They were picked by total variation on the grid of
# RAPPOR's own simulation, so figures of that grid flatter them a little.
_SELECT, _CUT, _CROWD = 2.0, 1.1, 0.9


@dataclass(frozen=True, slots=True, eq=False)
class Decoded(Estimate):
    """Estimated counts of all candidates, detected or not.

    `value`, `low` and `high` are those of an unbiased fit; `fitted` are counts that are not negative and add up to at
    most the number of reports (lasso, then least squares), the better picture of the whole. `p_value` tests each
    candidate against absence, and `detected` reads the tests together. `noise` is the variance of what the candidates
    do not explain in units of what the randomized bits alone would give: well above 1 where strings are missing.
    """

    p_value: Floats = field(default_factory=lambda: np.zeros(0))
    detected: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    fitted: Floats = field(default_factory=lambda: np.zeros(0))
    noise: float = 1.0

    @property
    def found(self) -> tuple[str | int, ...]:
        """The names of the detected candidates, the most frequent first."""
        order = np.argsort(-self.value, kind="stable")
        return tuple(self.names[int(at)] for at in order if self.detected[at])

    @property
    def unknown(self) -> float:
        """How many reports the fit leaves to strings that are no candidates."""
        return max(0.0, self.reports - float(self.fitted.sum()))

    def total_variation(self, counts: Sequence[float] | Floats) -> float:
        """Return the total variation distance between the fit and true counts of the candidates.

        Reports of other strings count as one more category on both sides.
        """
        truth, total = np.asarray(counts, dtype=float), max(1, self.reports)
        gap = np.abs(self.fitted - truth).sum() + abs(self.unknown - (self.reports - truth.sum()))
        return float(gap / 2 / total)

    def top(self, count: int) -> Decoded:
        """Return the rows of the largest values, the largest first."""
        order = np.argsort(-self.value, kind="stable")[:count]
        names = tuple(self.names[int(at)] for at in order)
        picked = {
            name: getattr(self, name)[order] for name in ("value", "low", "high", "p_value", "detected", "fitted")
        }
        return replace(self, labels=names, **picked)


@dataclass(frozen=True, slots=True, eq=False)
class _Linear:
    """A fit of shares: estimates, standard errors for the shares of these reports and of all, residual noise and df."""

    share: Floats
    error: Floats
    null: Floats
    noise: float
    freedom: int


def decode(
    tallies: Tallies,
    places: Places,
    labels: Sequence[str],
    beta: float = 0.05,
    simultaneous: bool = False,
    correction: Correction = "bonferroni",
) -> Decoded:
    """Return every candidate's count; `places` says which bits each sets in each cohort.

    Up to half as many candidates as there are contrasts of bits, all of them are fitted together by generalized least
    squares, whose covariance needs no selection and gives intervals for each alike. Beyond, a lasso picks the few that
    stand out, and each candidate is fitted beside these; the rest are noise, which is measured.
    """
    from scipy.special import stdtr, stdtrit

    if correction not in ("bonferroni", "fdr"):
        raise UnknownName("correction", str(correction), ("bonferroni", "fdr"))
    chance = float(positive_failure("beta", beta))
    count, reports = len(places), int(tallies.totals.sum())
    if not reports:
        nothing = np.zeros(count)
        return Decoded(nothing, nothing, nothing, 0, beta=chance, labels=tuple(labels), p_value=np.ones(count),
                       detected=np.zeros(count, dtype=bool), fitted=nothing)  # fmt: skip
    linear, fitted = _fit(tallies, places)
    width = stdtrit(linear.freedom, 1 - chance / (2 * count if simultaneous else 2)) * linear.error
    known = np.isfinite(width)
    p_value = np.asarray(stdtr(linear.freedom, -linear.share / linear.null))
    return Decoded(
        reports * linear.share,
        reports * np.where(known, linear.share - width, 0.0),
        reports * np.where(known, linear.share + width, 1.0),
        reports,
        beta=chance,
        labels=tuple(labels),
        p_value=p_value,
        detected=detect(p_value, chance, correction),
        fitted=reports * fitted,
        noise=linear.noise,
    )


def detect(p_value: Floats, beta: float, correction: Correction) -> NDArray[np.bool_]:
    """Return which p-values are detections: by Bonferroni's correction, or Benjamini and Hochberg's (1995)."""
    count = len(p_value)
    if correction == "bonferroni":
        return np.asarray(p_value * count <= beta)
    order = np.argsort(p_value, kind="stable")
    below = np.flatnonzero(p_value[order] <= beta * np.arange(1, count + 1) / count)
    out = np.zeros(count, dtype=bool)
    out[order[: below[-1] + 1 if below.size else 0]] = True
    return out


def spread(zero: float, one: float, bits: int, hashes: int, places: Places | None) -> float:
    """Return the variance per report of a rare string's estimated count, other strings being spread evenly."""
    mean = hashes / bits
    rate = zero + (one - zero) * mean
    noise = rate * (1 - rate) / (one - zero) ** 2 + hashes * (bits - hashes) / (bits**2 * (bits - 1))
    if places is not None and 2 * len(places) <= places.shape[1] * (bits - 1):
        basis = contrasts(bits)
        matrix = np.concatenate([basis @ one_cohort for one_cohort in design(places, bits)])
        gram = matrix.T @ matrix / places.shape[1]
        return float(noise * np.mean(np.diag(np.linalg.pinv(gram))))
    return noise * bits / (hashes * (bits - hashes))


def _fit(tallies: Tallies, places: Places) -> tuple[_Linear, Floats]:
    """Fit all candidates together where there are bits enough and they tell all of them apart, else one by one."""
    contrasts_of = len(tallies.cohorts) * (tallies.ones.shape[1] - 1)
    found = _together(tallies, places) if 2 * len(places) <= contrasts_of else None
    return _apart(tallies, places) if found is None else found


def _together(tallies: Tallies, places: Places) -> tuple[_Linear, Floats] | None:
    """Generalized least squares over all candidates; the weights come from the fit before. None if it is singular."""
    fitted = np.zeros(len(places))
    inverse = np.zeros((0, 0))
    for _ in range(_ROUNDS - 1):
        weight = weights(tallies, places, fitted)
        target, matrix = observed(weight, tallies), columns(weight, tallies, places)
        inverted = _inverse(matrix.T @ matrix)
        if inverted is None:
            return None
        inverse = inverted
        share = inverse @ (matrix.T @ target)
        freedom = len(target) - len(share)
        noise = float(((target - matrix @ share) ** 2).sum()) / freedom
        variance = max(1.0, noise) * np.diag(inverse)
        fitted = _nonnegative(matrix, target, np.sqrt(variance))
    return _linear(share, variance, tallies, noise, freedom), fitted


def _inverse(gram: Floats) -> Floats | None:
    """Return the inverse of a matrix of inner products, None if it is next to singular."""
    try:
        lengths = np.diag(np.linalg.cholesky(gram)) ** 2
    except np.linalg.LinAlgError:
        return None
    return None if lengths.min() < _TINY * lengths.max() else np.asarray(np.linalg.inv(gram))


def _apart(tallies: Tallies, places: Places) -> tuple[_Linear, Floats]:
    """Least squares of each candidate beside the few that a strict lasso keeps.

    The strict penalty sqrt(2 ln S) keeps what stands out of S candidates of pure noise (Donoho and Johnstone 1994). A
    kept candidate and one that is not are estimated alike, beside all *other* kept ones, so nothing depends on
    whether it was itself selected. Hashes are random, so what is left out of the fit acts as noise, and `noise`
    measures it.
    """
    likely = np.zeros(len(places))
    kept = np.zeros(0, dtype=np.int64)
    noise = np.inf
    for _ in range(_ROUNDS):
        weight = weights(tallies, places, likely)
        target = observed(weight, tallies)
        near = _nearest(weight, target, tallies, places, kept)
        matrix = columns(weight, tallies, places[near])
        noise = min(noise, float(target @ target) / len(target))
        strict = np.sqrt(2 * np.log(len(places)) * max(1.0, noise))
        kept = near[lasso(matrix, target, strict) > 0]
        chosen = columns(weight, tallies, places[kept])
        basis = _basis(chosen)
        rest = target - basis @ (basis.T @ target)
        freedom = len(target) - basis.shape[1]
        noise = float(rest @ rest) / freedom
        likely = np.zeros(len(places))
        likely[kept] = within(chosen, target, 1.0)
    share, length = _beside(weight, target, tallies, places, kept)
    with np.errstate(divide="ignore"):
        variance = np.where(length > 0, max(1.0, noise) / length, np.inf)
    fitted = np.zeros(len(places))
    mild = _SELECT * np.sqrt(max(1.0, noise))
    fitted[near] = _nonnegative(matrix, target, np.sqrt(variance[near]), mild)
    return _linear(share, variance, tallies, noise, freedom), fitted


def _linear(share: Floats, variance: Floats, tallies: Tallies, noise: float, freedom: int) -> _Linear:
    """Set standard errors beside estimated shares.

    `variance` is for reports drawn again. Given the reports that there are, the estimate is unbiased for their own
    shares, so the variance of those, share (1 - share)/n, is no part of its error.
    """
    likely = np.clip(share, 0.0, 1.0)
    own = variance - likely * (1 - likely) / int(tallies.totals.sum())
    return _Linear(share, np.sqrt(np.maximum(own, variance / 10)), np.sqrt(variance), noise, freedom)


def _nonnegative(matrix: Floats, target: Floats, error: Floats, penalty: float = 0.0) -> Floats:
    """Return shares that are not negative and add up to at most 1, zero for what is lost in the noise.

    A lasso selects where there is a penalty. What the fit gives less than a standard error is left out, up to two where
    there are as many candidates as contrasts and most of them are noise.
    """
    cut = _CUT + _CROWD * min(1.0, matrix.shape[1] / len(target))
    matrix, target = shortened(matrix, target)
    chosen = np.arange(matrix.shape[1])
    if penalty:
        chosen = np.flatnonzero(lasso(matrix, target, penalty) > 0)
    out = np.zeros(matrix.shape[1])
    out[chosen] = within(matrix[:, chosen], target, 1.0)
    out[out < cut * error] = 0.0
    return out


def _nearest(weight: Floats, target: Floats, tallies: Tallies, places: Places, kept: Places) -> Places:
    """Return the candidates that may matter: those that the target speaks for most, and the kept ones."""
    share, length = _beside(weight, target, tallies, places, kept)
    score = share * np.sqrt(length)
    score[kept] = np.inf
    return np.sort(np.argsort(-score, kind="stable")[: min(len(target), _POOL)])


def _beside(weight: Floats, target: Floats, tallies: Tallies, places: Places, kept: Places) -> tuple[Floats, Floats]:
    """Return each candidate's least-squares share beside all other kept ones, and the square length it rests on."""
    share, length = np.zeros(len(places)), np.zeros(len(places))
    own = columns(weight, tallies, places[kept])
    basis = _basis(own)
    rest = target - basis @ (basis.T @ target)
    for part in _blocks(len(places)):
        block = columns(weight, tallies, places[part])
        block -= basis @ (basis.T @ block)
        length[part] = (block**2).sum(0)
        share[part] = block.T @ rest
    length[length <= _TINY * max(1.0, float(length.max(initial=0.0)))] = 0.0
    share = np.divide(share, length, out=np.zeros_like(share), where=length > 0)
    if len(kept):
        inverse = np.linalg.pinv(own.T @ own)
        share[kept], length[kept] = inverse @ (own.T @ target), 1 / np.diag(inverse)
    return share, length


def _basis(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.qr(matrix)[0])


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, min(count, start + _BLOCK)) for start in range(0, count, _BLOCK))
