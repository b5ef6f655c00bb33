"""RAPPOR: strings through Bloom filters, answered permanently once and reported with fresh noise each time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.pure import Pure
from discreet.account.numeric.checks import whole
from discreet.core.errors import BadParameter
from discreet.core.rational import Number, as_written
from discreet.local.grid import log_up
from discreet.local.post_processing import processed
from discreet.local.protocol import Counts, Memo, Protocol, categories, reports_of
from discreet.local.protocols.rappor import bloom, cost
from discreet.local.protocols.rappor.client import RapporClient
from discreet.local.protocols.rappor.decode import Correction, Decoded, decode, spread
from discreet.local.protocols.rappor.noise import Tallies
from discreet.local.reports import Bytes
from discreet.local.sketch import Sketch
from discreet.noise.bits import BitSource

# f/2, p and q are multiples of 2^-32, so what one report does to a bit is a multiple of 2^-64.
_GRID = 1 << 32
_PUBLISHED_BITS, _PUBLISHED_F = 32, 128
_MOST_BITS, _MOST_COHORTS = 4096, 1 << 16
_HIGH, _LOW = 16, 48
_BITS_OF_BYTES = np.arange(256)[:, None] >> np.arange(8) & 1


@dataclass(frozen=True, slots=True)
class Rappor(Protocol):
    """RAPPOR (Erlingsson, Pihur, Korolova 2014): see `rappor`, which makes one.

    Guarantee: one report is at most `odds` times as likely for one string as for another, exactly; `loss_after(r)` is
    exact for r reports of one string by a client with a memo, and `loss_forever` bounds them all.
    """

    name: ClassVar[str] = "rappor"

    bits: int
    hashes: int
    cohorts: int
    f: Fraction
    p: Fraction
    q: Fraction
    published: bool = False
    candidates: tuple[str, ...] = ()
    topic: str = ""
    epsilon: Fraction = field(init=False, compare=False)

    def __post_init__(self) -> None:
        _sizes(self.bits, self.hashes, self.cohorts, self.published)
        grid = Fraction(1, _GRID)
        step = Fraction(1, _PUBLISHED_F) if self.published else 2 * grid
        f, p, q = (as_written(name, getattr(self, name)) for name in ("f", "p", "q"))
        for name, chance in (("f", f), ("p", p), ("q", q)):
            if not 0 <= chance <= 1:
                raise BadParameter(name, chance, why="a probability lies between 0 and 1", fix="use a number in [0, 1]")
        up, down = (p, q) if p < q else (q, p)  # towards each other, and f upwards: never dearer than asked
        low, high = -(-up // grid) * grid, down // grid * grid
        object.__setattr__(self, "f", -(-f // step) * step)
        object.__setattr__(self, "p", low if p < q else high)
        object.__setattr__(self, "q", high if p < q else low)
        if self.f == 1 or low >= high:
            why = "reports would say nothing about the string"
            raise BadParameter("f, p, q", (f, p, q), why=why, fix="use f below 1, and p and q that differ")
        if self.f == 0 and (low == 0 or high == 1):
            why = "some report would be impossible for some string, which no epsilon allows"
            raise BadParameter("f, p, q", (f, p, q), why=why, fix="use f above 0, or p and q inside (0, 1)")
        if not isinstance(self.published, bool):
            raise BadParameter("published", self.published, why="it is a boolean", fix="use True or False")
        if not isinstance(self.topic, str):
            raise BadParameter("topic", self.topic, why="a topic is a text", fix="use a short name of the question")
        object.__setattr__(self, "candidates", _candidates(self.candidates))
        object.__setattr__(self, "epsilon", Fraction(log_up(self.odds)))

    # What it costs ----------------------------------------------------------------------------------------------------

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """The probabilities that a report has 1 where the Bloom filter has 0, and where it has 1."""
        turned = self.f / 2
        return (1 - turned) * self.p + turned * self.q, (1 - turned) * self.q + turned * self.p

    @property
    def odds(self) -> Fraction:
        """The largest ratio of a report's likelihoods under two strings, exactly."""
        return cost.odds(*self.rates, self._apart)

    def loss_after(self, reports: int | None = None) -> PrivacyLoss:
        """Return what so many reports of one string cost together; None for any number of them, forever.

        Guarantee: pure epsilon, attained (see `discreet.local.protocols.rappor.cost`), for a client with a memo.
        """
        if reports is not None and whole("reports", reports) == 1:
            return self.loss
        if self.f == 0 and reports is None:
            why = "with f = 0 there is no permanent answer, and each report costs its loss again"
            raise BadParameter("f", 0, why=why, fix="use f above 0, or add up `loss` for every report")
        if reports is None:
            return Pure(cost.forever(self.f, self._apart), relation="replace")
        if self.f == 0:
            return Pure(Fraction(log_up(self.odds)) * reports, relation="replace")
        return Pure(cost.after(self.f, self.p, self.q, self._apart, reports), relation="replace")

    @property
    def loss_forever(self) -> PrivacyLoss:
        """What all reports of one string cost together, however many; each distinct string pays this again."""
        return self.loss_after(None)

    @property
    def _apart(self) -> tuple[int, int]:
        return cost.differences(self.bits, self.hashes, self.published)

    # The client's side ------------------------------------------------------------------------------------------------

    @property
    def k(self) -> int:
        """How many candidates were declared; reports may be of any string."""
        return len(self.candidates)

    @property
    def flips(self) -> int:
        """Of 2^32 equally likely words, how many turn over a permanent bit."""
        return int(self.f / 2 * _GRID)

    @property
    def ones(self) -> tuple[int, int]:
        """Of 2^32 equally likely words, how many report 1 for a permanent bit 0, and for 1."""
        return int(self.p * _GRID), int(self.q * _GRID)

    @property
    def bytes_per_report(self) -> int:
        """The cohort, in no more bytes than it needs, and the bits, eight to a byte."""
        return self._cohort_bytes + -(-self.bits // 8)

    @property
    def _cohort_bytes(self) -> int:
        return ((self.cohorts - 1).bit_length() + 7) // 8

    def word(self, value: object) -> str:
        """Return the string that a value is: a string itself, or the number of a declared candidate."""
        found = self.checked(cast(ArrayLike, [value]))[0]
        return found if isinstance(found, str) else self.candidates[int(found)]

    def checked(self, values: ArrayLike) -> NDArray[Any]:
        """Return strings as they are, and numbers of declared candidates as integers; anything else is refused."""
        found = values if isinstance(values, np.ndarray) else _array(values)
        if found.ndim == 1 and (found.dtype.kind == "U" or (found.dtype == object and _all_strings(found))):
            return found.astype(object)
        if not self.candidates and found.size:
            why = "RAPPOR reports strings; numbers stand for declared candidates, and there are none"
            raise BadParameter("values", f"an array of {found.dtype}", why=why, fix="pass strings, or candidates=")
        return categories(found, max(1, self.k))

    def draw(self, values: NDArray[Any], source: BitSource) -> Bytes:
        """Return one report a row, each of another client in a cohort of its own.

        A first report's permanent and fresh noise are one coin per bit, of the exact chances that both together give.
        """
        count = len(values)
        owners = _even(source, self.cohorts, count)
        if values.dtype == object:
            set_bits = bloom.pairs(values.tolist(), owners, self.hashes, self.bits, self.published)
        else:
            set_bits = self.places(self.candidates)[values, owners]
        high = source.words(count * self.bits, _HIGH).reshape(count, self.bits)
        zero, one = (int(chance * (1 << 64)) for chance in self.rates)
        out = _below(high, zero, source)
        rows = np.arange(count)
        for chosen in set_bits.T:
            out[rows, chosen] = _below(high[rows, chosen], one, source)
        packed = np.packbits(out, axis=1, bitorder="little")
        size = self._cohort_bytes
        head = owners.astype("<u4").view(np.uint8).reshape(count, 4)[:, :size]
        return np.concatenate([head, packed], axis=1)

    def places(self, candidates: Sequence[str]) -> bloom.Places:
        """Return the bits that each candidate sets in each cohort."""
        return bloom.kept_table(tuple(candidates), self.cohorts, self.hashes, self.bits, self.published)

    def pack(self, cohort: int, report: int) -> bytes:
        """Return a report as the bytes that are sent: cohort, then bits, both little-endian."""
        return cohort.to_bytes(self._cohort_bytes, "little") + report.to_bytes(-(-self.bits // 8), "little")

    def client(self, memo: Memo | None = None, *, cohort: int | None = None) -> RapporClient:
        """Return one person's client, who remembers permanent answers by a key (made again if no memo is given).

        Guarantee: see `RapporClient`.
        """
        return RapporClient(self, memo, -1 if cohort is None else whole("cohort", cohort, least=0))

    def likelihood(self, value: object) -> dict[bytes, Fraction]:
        """Return the exact probability of every first report of a value, for small parameters."""
        if self.cohorts << self.bits > 1 << 20:
            why = "there are more than a million different reports"
            raise BadParameter("bits", self.bits, why=why, fix="use fewer bits or cohorts to write them all down")
        zero, one = self.rates
        found: dict[bytes, Fraction] = {}
        for cohort, row in enumerate(
            bloom.table([self.word(value)], self.cohorts, self.hashes, self.bits, self.published)[0]
        ):
            chances = [one if at in set(row.tolist()) else zero for at in range(self.bits)]
            for report in product((0, 1), repeat=self.bits):
                each = math.prod(
                    (c if bit else 1 - c for c, bit in zip(chances, report, strict=True)), start=Fraction(1)
                )
                packed = self.pack(cohort, sum(bit << at for at, bit in enumerate(report)))
                found[packed] = each / self.cohorts
        return found

    # The server's side ------------------------------------------------------------------------------------------------

    @property
    def cells(self) -> int:
        """For each cohort, its reports and the ones at each bit."""
        return self.cohorts * (self.bits + 1)

    def read(self, rows: Bytes) -> tuple[NDArray[np.int64], Bytes, NDArray[np.bool_]]:
        """Return cohorts and packed bits of reports, one a row, and which rows are reports at all.

        None is a row of a cohort that does not exist, or with a one beyond the last bit.
        """
        size = self._cohort_bytes
        owners = np.zeros(len(rows), dtype=np.int64)
        for at in range(size):
            owners |= rows[:, at].astype(np.int64) << (8 * at)
        beyond = rows[:, -1] >> (self.bits % 8) if self.bits % 8 else np.zeros(len(rows), dtype=np.uint8)
        return owners, rows[:, size:], (owners < self.cohorts) & (beyond == 0)

    def tally(self, rows: Bytes) -> tuple[Counts, int]:
        """Return the reports of each cohort and the ones at each of its bits, and how many rows were malformed."""
        owners, packed, good = self.read(rows)
        owners, packed = owners[good], packed[good]
        out = np.empty((self.cohorts, 1 + 8 * packed.shape[1]), dtype=np.int64)
        out[:, 0] = np.bincount(owners, minlength=self.cohorts)
        for at, byte in enumerate(packed.T):
            # How often each byte was sent in each cohort, and so how often each of its bits was one.
            often = np.bincount(owners << 8 | byte, minlength=self.cohorts << 8).reshape(self.cohorts, 256)
            out[:, 1 + 8 * at : 9 + 8 * at] = often @ _BITS_OF_BYTES
        return out[:, : self.bits + 1].reshape(-1), len(rows) - len(owners)

    def tallies(self, sketch: Sketch) -> Tallies:
        """Return a sketch as what decoding needs: reports and ones by cohort, and the chances of a one."""
        counts = self.own(sketch).counts.reshape(self.cohorts, self.bits + 1)
        zero, one = self.rates
        return Tallies(counts[:, 0], counts[:, 1:], float(zero), float(one), self.hashes)

    def estimate(
        self,
        sketch: Sketch,
        beta: float = 0.05,
        post: str | None = None,
        *,
        candidates: Sequence[str] | None = None,
        simultaneous: bool = False,
        correction: Correction = "bonferroni",
    ) -> Decoded:
        """Return the count of every candidate with its interval, whether it was detected, and a non-negative fit.

        Candidates default to the declared ones; strings that are none of them only add noise, which is measured.
        `simultaneous` makes all intervals hold together; `correction` is how p-values are read: "bonferroni" bounds
        the chance of any false detection by beta, "fdr" the expected share of false ones among the detected.
        """
        chosen = self.candidates if candidates is None else _candidates(tuple(candidates))
        if not chosen:
            why = "there is nothing to estimate without candidate strings"
            raise BadParameter("candidates", candidates, why=why, fix="pass candidates=, or discover them by n-grams")
        found = decode(self.tallies(sketch), self.places(chosen), chosen, beta, simultaneous, correction)
        found = replace(found, rejected=sketch.rejected, protocol=self.name)
        if post is None:
            return found
        return cast(Decoded, processed(found, post, threshold=self.error(sketch.reports, beta)))

    def variance(self, n: int) -> float:
        """Return the variance of the estimated count of a rare string among n reports of evenly spread strings.

        With declared candidates it is the mean over their design, else that of a single candidate.
        """
        n = reports_of(n)
        places = self.places(self.candidates) if self.candidates else None
        return n * spread(float(self.rates[0]), float(self.rates[1]), self.bits, self.hashes, places)


def rappor(
    bits: int = 16,
    hashes: int = 2,
    cohorts: int = 64,
    f: Number = 0.5,
    p: Number = 0.5,
    q: Number = 0.75,
    *,
    candidates: Sequence[str] = (),
    published: bool = False,
    topic: str = "",
) -> Rappor:
    """Return RAPPOR with Bloom filters of so many bits and hashes, in so many cohorts.

    A permanent bit is replaced by a fair coin with probability f, once and for all; a report shows 1 with probability
    q where the permanent bit is 1 and p where it is 0, again each time. The defaults are those of the published client.
    `published=True` makes the bits of that client: its hash, its permanent answers, f in 128ths. Questions that clients
    answer under one key need a `topic` each, so their permanent answers are independent (the published client has
    no topics: it needs a key for each question).

    Guarantee: see `Rappor`; f is rounded up on its grid, p and q towards each other, so no report is dearer than
    the numbers that were asked for.
    """
    return Rappor(
        bits,
        hashes,
        cohorts,
        as_written("f", f),
        as_written("p", p),
        as_written("q", q),
        published,
        tuple(candidates),
        topic,
    )


def examples() -> Iterator[Rappor]:
    """Yield small instances: with and without a permanent answer, in one cohort and in several, and the published."""
    words = ("ada", "bob", "cyd", "dee", "eve")
    yield rappor(4, 2, 2, 0.5, 0.25, 0.75, candidates=words)
    yield rappor(5, 1, 3, 0, 0.3, 0.6, candidates=words)
    yield rappor(6, 2, 4, 0.25, 0, 1, candidates=words)
    yield rappor(6, 2, 4, 0.3, 0.75, 0.5, candidates=words, published=True)


def _sizes(bits: int, hashes: int, cohorts: int, published: bool) -> None:
    for name, value, least, most in (
        ("bits", bits, 2, _PUBLISHED_BITS if published else _MOST_BITS),
        ("hashes", hashes, 1, min(bloom.MOST_HASHES, bits - 1)),
        ("cohorts", cohorts, 1, _MOST_COHORTS),
    ):
        if whole(name, value, least=least) > most:
            raise BadParameter(name, value, why=f"it is above {most}", fix=f"use at most {most}")


def _candidates(found: tuple[str, ...]) -> tuple[str, ...]:
    if not all(isinstance(each, str) for each in found) or len(set(found)) != len(found):
        why = "candidates are strings, all different"
        raise BadParameter("candidates", f"{len(found)} candidates", why=why, fix="pass each string once")
    return found


def _array(values: Any) -> NDArray[Any]:  # noqa: ANN401  (anything array-like)
    if not isinstance(values, list | tuple) or not any(isinstance(each, str) for each in values):
        try:
            return np.asarray(values)
        except ValueError as error:
            why, fix = "RAPPOR reports strings, or numbers of declared candidates", "pass a list of them"
            raise BadParameter("values", type(values).__name__, why=why, fix=fix) from error
    out = np.empty(len(values), dtype=object)  # of a mixed list asarray would make strings of everything
    out[:] = values
    return out


def _all_strings(values: NDArray[Any]) -> bool:
    return all(isinstance(each, str) for each in values.tolist())


def _even(source: BitSource, n: int, count: int) -> NDArray[np.int64]:
    """Return so many even draws from 0 .. n-1: as many bits as n - 1 has, too large ones drawn again."""
    out = source.words(count, (n - 1).bit_length()).astype(np.int64)
    while (again := np.flatnonzero(out >= n)).size:
        out[again] = source.words(len(again), (n - 1).bit_length())
    return out


def _below(high: NDArray[np.unsignedinteger[Any]], limit: int, source: BitSource) -> NDArray[np.bool_]:
    """Return which uniform 64-bit numbers are below the limit, drawing low bits only where 16 high ones do not tell."""
    edge, rest = limit >> _LOW, limit & ((1 << _LOW) - 1)
    out = high < edge
    ties = np.flatnonzero(high == edge)
    out.reshape(-1)[ties] = source.words(len(ties), _LOW) < rest
    return np.asarray(out)
