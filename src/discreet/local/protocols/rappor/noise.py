"""What RAPPOR's counts are worth: bits by cohort, their noise and how it is made even before fitting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.local.protocols.rappor.bloom import Places

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Tallies:
    """Reports by cohort and ones by cohort and bit; `zero` and `one`: the chances of a one where a filter has 0, 1."""

    totals: Integers
    ones: Integers
    zero: float
    one: float
    hashes: int

    @property
    def cohorts(self) -> Integers:
        """The cohorts that sent reports at all."""
        return np.flatnonzero(self.totals > 0)

    @property
    def gap(self) -> float:
        """How much more likely a one is where the filter has 1."""
        return self.one - self.zero

    @property
    def shares(self) -> Floats:
        """Unbiased estimates of the share of reports whose filter has each bit, by cohort that sent reports."""
        here = self.cohorts
        return np.asarray((self.ones[here] / self.totals[here, None] - self.zero) / self.gap)

    def variances(self) -> Floats:
        """Return the variances of `shares` over reports and cohorts drawn again, by the estimated shares."""
        rate = self.zero + self.gap * np.clip(self.shares, 0.0, 1.0)
        return np.asarray(rate * (1 - rate) / self.gap**2 / self.totals[self.cohorts, None])


def fresh(places: Places) -> NDArray[np.bool_]:
    """Return which hashes set a bit that no earlier hash of the same string set."""
    out = np.ones(places.shape, dtype=bool)
    for at in range(1, places.shape[-1]):
        out[..., at] = (places[..., at, None] != places[..., :at]).all(axis=-1)
    return out


def weights(tallies: Tallies, places: Places, share: Floats) -> Floats:
    """Return, for each cohort, the matrix that turns its bits into contrasts of unit, independent noise.

    Contrasts between bits of one cohort, because their sum says nothing: every string sets equally many. A string that
    is no candidate then adds noise and no bias, whatever it is. The noise of a cohort's shares is that of the
    randomized bits, diagonal, and that of which strings fell into the cohort: the covariance of filters of strings
    drawn by `share` (the rest by strings of random bits).
    """
    bits, here = tallies.ones.shape[1], tallies.cohorts
    rest = max(0.0, 1.0 - float(share.sum()))
    both = _together(places[share > 0][:, here], share[share > 0], bits)
    each = min(tallies.hashes / bits, 1.0)
    pair = each * (tallies.hashes - 1) / (bits - 1)
    both += rest * (pair + (each - pair) * np.eye(bits))
    mean = np.clip(np.einsum("cbb->cb", both), 0.0, 1.0)
    rate = tallies.zero + tallies.gap * mean
    noise = rate * (1 - rate) / tallies.gap**2 - mean * (1 - mean)
    covariance = both - mean[:, :, None] * mean[:, None, :]
    covariance[:, np.arange(bits), np.arange(bits)] = mean * (1 - mean) + noise
    basis = contrasts(bits)
    spread = basis @ covariance @ basis.T / tallies.totals[here, None, None]
    return np.asarray(np.linalg.solve(np.linalg.cholesky(spread), np.broadcast_to(basis, (len(here), *basis.shape))))


def observed(weight: Floats, tallies: Tallies) -> Floats:
    """Return the contrasts of the tallies, whitened, as one vector."""
    return np.asarray(np.einsum("cdb,cb->cd", weight, tallies.shares).reshape(-1))


def columns(weight: Floats, tallies: Tallies, places: Places) -> Floats:
    """Return the whitened design: one column for each candidate."""
    found = places[:, tallies.cohorts]
    cohorts, contrasts_of, _ = weight.shape
    index = np.arange(cohorts)[:, None]
    out = np.zeros((cohorts, len(found), contrasts_of))
    for chosen, counts in zip(np.moveaxis(found, 2, 0), np.moveaxis(fresh(found), 2, 0), strict=True):
        out += weight.transpose(0, 2, 1)[index, chosen.T] * counts.T[:, :, None]
    return np.asarray(out.transpose(0, 2, 1).reshape(cohorts * contrasts_of, len(found)))


def contrasts(bits: int) -> Floats:
    """Return an orthonormal basis of what sums to zero (Helmert): one row for each contrast."""
    out = np.tril(np.ones((bits - 1, bits)))
    at = np.arange(1, bits)
    out[at - 1, at] = -at
    return np.asarray(out / np.sqrt(at * (at + 1.0))[:, None])


def _together(places: Places, share: Floats, bits: int) -> Floats:
    """Return, for each cohort, the share of strings that set both of two bits."""
    _, cohorts, hashes = places.shape
    out = np.zeros((cohorts, bits, bits))
    counted = fresh(places)
    index = np.arange(cohorts)[None, :]
    for a in range(hashes):
        for b in range(hashes):
            amount = share[:, None] * (counted[..., a] & counted[..., b])
            np.add.at(out, (index, places[..., a], places[..., b]), amount)
    return out
