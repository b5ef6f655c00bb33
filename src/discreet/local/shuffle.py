"""Shuffling: reports in an order that nobody knows, and what they are worth then."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.shuffle import Shuffled
from discreet.account.numeric.checks import whole
from discreet.core.errors import Refusal
from discreet.local.protocol import Protocol
from discreet.local.reports import Reports
from discreet.noise.bits import current


class TooFewReports(Refusal):
    """A batch that is smaller than the crowd that was promised to everyone in it."""


def shuffle(reports: Reports, *, minimum: int) -> Reports:
    """Return the reports in a uniformly random order; a batch of fewer than `minimum` is refused, whole.

    A batch holds only the bytes of reports: no times, keys or senders; this is the place to lose them.

    Guarantee: every order has the same probability, exactly; with `central` for the promise that follows.
    """
    least = whole("minimum", minimum)
    if len(reports) < least:
        why = f"the guarantee is for batches of at least {least}"
        fix = "wait for more reports, or release them as local ones, at their local epsilon"
        raise TooFewReports(f"a batch of {len(reports)} reports", why=why, fix=fix, value=len(reports))
    rows = reports.rows[_order(len(reports))]
    return Reports(rows.reshape(-1), len(reports), reports.spec_hash)


def central(protocol: Protocol, honest: int) -> Shuffled:
    """Return the loss of shuffled reports under a protocol, `honest` of them or more from honest people.

    It is for the ledger of whoever runs the collection, and holds only with a trusted shuffler that strips times and
    keys and releases no smaller batch; fakes do not count as honest, so `honest` is what remains without them.

    Guarantee: that of `discreet.account.losses.shuffle.Shuffled`, for one report from each person.
    """
    return Shuffled(protocol.loss.peak, honest)


def _order(count: int) -> NDArray[np.intp]:
    """Return a uniformly random order: that of random keys, drawn again in the rare case that two are alike."""
    while True:
        keys = current().words(count, 64)
        order = np.argsort(keys, kind="stable")
        ranked = keys[order]
        if not (ranked[1:] == ranked[:-1]).any():
            return order
