"""Secure sums: a total that no single party sees, as private as if a trusted centre had added the noise.

Everyone splits a vector of integers into random shares that add up to it modulo 2**64, one for each party. To the
vector everyone first adds a share of the noise, the difference of two Polya numbers: the shares of `honest` people add
up to discrete Laplace noise, exactly. Who drops out takes a share of the noise away, so it is dealt out for those
who are sure to stay; what the others add makes the total noisier, never less private.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.account.losses.discrete_laplace import DiscreteLaplace
from discreet.account.numeric.checks import Number, positive, whole
from discreet.core.errors import BadParameter, Refusal
from discreet.core.rational import as_written
from discreet.noise.bits import current
from discreet.noise.polya import polya

Words = NDArray[np.uint64]
Ticket = bytes
TICKET_BYTES = 16
_MOST = 1 << 40  # of a client's bound and of people: totals and their noise then stay far from 2**63


class TooFewClients(Refusal):
    """A sum over fewer people than the noise was dealt out for."""


class Summing(Protocol):
    """What one party does for others: take shares, tell whose it has, and give one sum."""

    def add(self, ticket: Ticket, share: Words) -> None:
        """Keep a share."""

    def tickets(self) -> frozenset[Ticket]:
        """Tell which clients have been heard."""

    def total(self, tickets: frozenset[Ticket]) -> Words:
        """Add up the shares of these clients and forget all."""


@dataclass(frozen=True, slots=True)
class SecureSum:
    """A sum over `people` of vectors of `length` counts, each of which adds up to at most `bound`.

    `honest` is how many of them are sure to take part, by the rules and to the end: people less the declared dropouts
    and whoever might collude. The scale of the total noise is sensitivity/epsilon, the sensitivity being `bound` for
    one number and twice that for a vector, since one person's counts are replaced by another's.

    Guarantee: if at least `honest` honest people are in the sum and one party does not collude with the others, then
    what all other parties and clients see, and the total itself, is a post-processing of the exact total plus discrete
    Laplace noise of that scale: `loss`. This holds exactly, for every epsilon, and whoever drops out.
    """

    people: int
    honest: int
    epsilon: Fraction
    bound: int = 1
    length: int = 1
    parties: int = 3
    colluding: int = 0

    @property
    def least(self) -> int:
        """How many clients a sum needs: so many that without the colluding ones `honest` are left."""
        return self.honest + self.colluding

    @property
    def sensitivity(self) -> int:
        """How far, in the sum of absolute values, another value of one person moves the total."""
        return self.bound if self.length == 1 else 2 * self.bound

    @property
    def scale(self) -> Fraction:
        """The scale of the noise of `honest` people together."""
        return self.sensitivity / self.epsilon

    @property
    def loss(self) -> DiscreteLaplace:
        """The loss of the released total: that of a trusted centre."""
        return DiscreteLaplace(self.scale, self.sensitivity, relation="replace")

    @property
    def variance(self) -> float:
        """The variance of one released number when all people stay: people/honest times that of the centre."""
        decay = float(np.exp(-1 / float(self.scale)))
        return self.people / self.honest * 2 * decay / (1 - decay) ** 2

    def client(self, values: ArrayLike) -> tuple[Ticket, list[Words]]:
        """Return a fresh ticket and one share for each party.

        Guarantee: any parties but all of them see independent uniform numbers, whatever the values.
        """
        counts = self._checked(values)
        share = Fraction(1, self.honest)
        noise = polya(share, self.scale, self.length) - polya(share, self.scale, self.length)
        last, shares = (counts + noise).astype(np.int64).view(np.uint64), []
        for _ in range(self.parties - 1):
            mask = current().words(self.length, 64).astype(np.uint64)
            shares.append(mask)
            last = last - mask  # modulo 2**64
        return secrets.token_bytes(TICKET_BYTES), [*shares, last]

    def release(self, parties: Sequence[Summing]) -> NDArray[np.int64]:
        """Ask the parties for their sums over the clients that all of them have heard, and return the noisy total.

        Guarantee: `loss`. Fewer clients than `honest` are refused, and nothing is then summed.
        """
        if len(parties) != self.parties:
            why = f"every client split its values into {self.parties} shares"
            raise BadParameter("parties", len(parties), why=why, fix="pass all parties, each once")
        common = frozenset.intersection(*(party.tickets() for party in parties))
        _enough(len(common), self.least)
        return combined([party.total(common) for party in parties])

    def _checked(self, values: ArrayLike) -> NDArray[np.int64]:
        try:
            found = np.atleast_1d(np.asarray(values))
        except ValueError:  # rows of different lengths
            found = np.empty((0, 0))
        fits = found.shape == (self.length,) and found.dtype.kind in "iu"
        if not fits or int(found.min()) < 0 or sum(found.tolist()) > self.bound:
            # The values are the secret; the refusal shows their shape alone.
            why = f"everyone gives {self.length} whole numbers of zero or more that add up to at most {self.bound}"
            raise BadParameter("values", f"an array of shape {found.shape}", why=why, fix="clamp them before")
        return found.astype(np.int64)


def secure_sum(
    *,
    people: int,
    epsilon: Number,
    dropout: Number = 0,
    colluding: int = 0,
    bound: int = 1,
    length: int = 1,
    parties: int = 3,
) -> SecureSum:
    """Plan a sum over people of whom at most a fraction `dropout` leaves, and at most so many `colluding` tell theirs.

    Guarantee: that of SecureSum, with honest = people - floor(dropout * people) - colluding.
    """
    everyone, share = whole("people", people), as_written("dropout", dropout)
    if not 0 <= share < 1:
        why = "someone has to stay"
        raise BadParameter("dropout", dropout, why=why, fix="use a fraction of at least 0 and below 1")
    told = whole("colluding", colluding, least=0)
    honest = everyone - (everyone * share).__floor__() - told
    if honest < 1:
        why = "nobody would be left to add noise"
        raise BadParameter("colluding", colluding, why=why, fix="assume fewer dropouts or colluding people")
    most = whole("bound", bound)
    if most * everyone > _MOST:
        why = "totals modulo 2**64 need room for their noise"
        raise BadParameter("bound", bound, why=why, fix=f"keep people times bound below {_MOST}")
    exact = Fraction(positive("epsilon", epsilon))
    size, count = whole("length", length), whole("parties", parties, least=2)
    plan = SecureSum(everyone, honest, exact, most, size, count, told)
    if plan.scale > _MOST:
        why = "its noise would not fit into 64 bits"
        raise BadParameter("epsilon", epsilon, why=why, fix="use a larger epsilon or a smaller bound")
    return plan


class Party:
    """One party of a secure sum, inside a process.

    Guarantee: it gives one sum, over no fewer than `least` clients, and then forgets every share; two sums over
    different clients would tell the difference of the two crowds.
    """

    __slots__ = ("_done", "_least", "_length", "_shares")

    def __init__(self, plan: SecureSum) -> None:
        self._least, self._length = plan.least, plan.length
        self._shares: dict[Ticket, Words] = {}
        self._done = False

    def add(self, ticket: Ticket, share: Words) -> None:
        """Keep a share; a ticket that was used before, and all that comes after the sum, is ignored."""
        words = np.asarray(share, dtype=np.uint64)
        if len(ticket) != TICKET_BYTES or words.shape != (self._length,):
            why = f"a ticket has {TICKET_BYTES} bytes and a share {self._length} numbers"
            raise BadParameter("share", words.shape, why=why, fix="send what SecureSum.client returned")
        if not self._done:
            self._shares.setdefault(bytes(ticket), words.copy())

    def tickets(self) -> frozenset[Ticket]:
        """Tell which clients have been heard."""
        return frozenset(self._shares)

    def total(self, tickets: frozenset[Ticket]) -> Words:
        """Add up the shares of these clients, once, and forget all."""
        if self._done:
            why = "a party gives one sum: a second one would reveal who is in only one of them"
            raise Refusal("a second sum", why=why, fix="collect again, at additional cost", value=None)
        known = [self._shares[ticket] for ticket in tickets if ticket in self._shares]
        _enough(len(known), self._least)
        self._done = True
        self._shares = {}
        return np.asarray(np.add.reduce(known, axis=0, dtype=np.uint64))


def combined(totals: Iterable[Words]) -> NDArray[np.int64]:
    """Return the sum of the parties' sums, read as signed numbers."""
    return np.asarray(np.add.reduce(list(totals), axis=0, dtype=np.uint64)).view(np.int64)


def deliver(parties: Sequence[Summing], sent: Mapping[Ticket, Sequence[Words]]) -> None:
    """Give every party its share of every client."""
    for ticket, shares in sent.items():
        for party, share in zip(parties, shares, strict=True):
            party.add(ticket, share)


def _enough(found: int, least: int) -> None:
    if found < least:
        why = f"the noise was dealt out for at least {least} clients, and fewer would be less private than promised"
        fix = "wait for more clients, or plan again with a larger dropout"
        raise TooFewClients(f"a sum over {found} clients", why=why, fix=fix, value=found)
