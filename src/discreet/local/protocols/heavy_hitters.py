"""Heavy hitters: the frequent strings among all there could be, found by extending prefixes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from statistics import NormalDist
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.account.numeric.checks import Number, positive_failure, whole
from discreet.core.errors import BadParameter, Refusal
from discreet.local.estimate import Estimate
from discreet.local.parts.linear_interval import Floats
from discreet.local.post_processing import processed
from discreet.local.protocol import Counts, Protocol, reports_of
from discreet.local.protocols.count_mean_sketch import HadamardCountMeanSketch, hadamard_count_mean_sketch
from discreet.local.reports import Bytes
from discreet.local.sketch import Sketch
from discreet.noise.bits import BitSource
from discreet.noise.uniform_stream import below

END = "\0"
OTHERS = "(all others)"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
_MOST_ROUNDS, _MOST_EXTENSIONS, _MOST_CANDIDATES = 255, 1 << 16, 1 << 20
_EXTENSIONS = 1 << 10


@dataclass(frozen=True, slots=True, eq=False)
class HeavyHitterEstimate(Estimate):
    """The strings that were found, the most frequent first, each with its count; the last row is all others."""

    @property
    def strings(self) -> tuple[str, ...]:
        """The strings alone."""
        return tuple(str(name) for name in self.names[:-1])


@dataclass(frozen=True, slots=True)
class HeavyHitters(Protocol):
    """Reports, in a round drawn evenly, the prefix of that round's length by a Hadamard count mean sketch.

    Each person takes part in one round. The server extends prefixes from round to round and keeps those whose estimates
    stand out; the last round has full length like the one before, and only counts what that one found, so its
    estimates are unbiased and its intervals need no correction for having been selected (Wang, Li, Jha 2018; Bassily,
    Nissim, Stemmer, Thakurta 2017).

    Guarantee: pure epsilon of one report of the sketch: the round is drawn without a look at the value.
    """

    name: ClassVar[str] = "heavy_hitters"
    epsilon: Fraction
    alphabet: str
    shortest: int
    lengths: tuple[int, ...]
    oracle: HadamardCountMeanSketch

    def __post_init__(self) -> None:
        if not isinstance(self.oracle, HadamardCountMeanSketch) or self.oracle.k or self.oracle.candidates:
            why = "prefixes are reported as strings"
            raise BadParameter("oracle", str(self.oracle), why=why, fix="use hadamard_count_mean_sketch(epsilon=...)")
        if self.epsilon != self.oracle.epsilon:
            raise BadParameter("epsilon", self.epsilon, why="the oracle has another one", fix="use one epsilon")
        if not isinstance(self.alphabet, str) or len({*self.alphabet}) != len(self.alphabet) or len(self.alphabet) < 2:
            why = "an alphabet is a text of two characters or more, each once"
            raise BadParameter("alphabet", self.alphabet, why=why, fix='use one such as "0123456789"')
        if END in self.alphabet:
            raise BadParameter("alphabet", self.alphabet, why="the zero character marks an end", fix="leave it out")
        rising = all(isinstance(each, int) for each in self.lengths) and [*self.lengths] == sorted(self.lengths)
        if not rising or not 2 <= len(self.lengths) <= _MOST_ROUNDS or self.lengths[0] < 1:
            why = f"there are 2 to {_MOST_ROUNDS} rounds, of rising lengths"
            raise BadParameter("lengths", self.lengths, why=why, fix="use lengths such as (2, 4, 6, 6)")
        if self.lengths[-1] != self.lengths[-2]:
            why = "the last round counts what the one before found"
            raise BadParameter("lengths", self.lengths, why=why, fix="give the full length twice")
        if not 0 <= self.shortest <= self.length:
            why = f"strings have at most {self.length} characters"
            raise BadParameter("shortest", self.shortest, why=why, fix="use at most the length")
        gaps = np.diff([0, *self.lengths])
        if (len(self.alphabet) + 1.0) ** float(gaps.max()) > _MOST_EXTENSIONS:
            why = "a round would extend each prefix in too many ways"
            raise BadParameter("lengths", self.lengths, why=why, fix="use more rounds")

    @property
    def length(self) -> int:
        """How many characters the longest string has."""
        return self.lengths[-1]

    @property
    def rounds(self) -> tuple[HadamardCountMeanSketch, ...]:
        """The sketch of each round, with hash functions of its own."""
        return tuple(replace(self.oracle, seed=self.oracle.seed + at) for at in range(len(self.lengths)))

    def trial_values(self) -> list[str]:
        """Return some values to try."""
        last = self.alphabet[-1]
        return [self.alphabet[0] * self.length, last * self.length, last * max(1, self.shortest)]

    @property
    def odds(self) -> Fraction:
        """Those of the sketch."""
        return self.oracle.odds

    @property
    def bytes_per_report(self) -> int:
        """A round and a report of the sketch."""
        return 1 + self.oracle.bytes_per_report

    @property
    def cells(self) -> int:
        """A sketch for each round."""
        return len(self.lengths) * self.oracle.cells

    @property
    def contribution(self) -> tuple[Fraction, Fraction]:
        """Which strings are found depends on all reports together, so no report has a weight of its own."""
        why = "fakes can bring up strings and push others out, so that its estimate is no sum over reports"
        fix = "bound the sketch of a round instead: influence(protocol.rounds[-1], fakes)"
        raise Refusal(f"the influence of fakes on {self.name}", why=why, fix=fix, value=self.name)

    # Reports ----------------------------------------------------------------------------------------------------------

    def checked(self, values: ArrayLike) -> NDArray[Any]:
        """Return strings filled up to full length, refusing any that are too short, too long, or of other letters."""
        found = np.asarray(values, dtype=object)
        allowed = {*self.alphabet}
        if found.ndim != 1 or not all(
            isinstance(each, str) and self.shortest <= len(each) <= self.length and allowed.issuperset(each)
            for each in found.tolist()
        ):
            why = f"a value is a string of {self.shortest} to {self.length} characters of the alphabet"
            fix = "cut or replace others first, or declare a larger alphabet"
            raise BadParameter("values", f"{found.size} values", why=why, fix=fix)
        out = np.empty(len(found), dtype=object)
        out[:] = [each.ljust(self.length, END) for each in found.tolist()]
        return out

    def draw(self, values: NDArray[Any], source: BitSource) -> Bytes:
        """Draw a round for each value, and report the prefix of its length."""
        chosen = below(source, len(self.lengths), len(values))
        out = np.empty((len(values), self.bytes_per_report), dtype=np.uint8)
        out[:, 0] = chosen
        for at, (length, oracle) in enumerate(zip(self.lengths, self.rounds, strict=True)):
            mine = np.flatnonzero(chosen == at)
            prefixes = oracle.checked(np.array([text[:length] for text in values[mine]], dtype=object))
            out[mine, 1:] = oracle.draw(prefixes, source)
        return out

    def tally(self, rows: Bytes) -> tuple[Counts, int]:
        """Count the reports of each round; a round that does not exist is malformed."""
        counts, lost = np.zeros(self.cells, dtype=np.int64), 0
        parts = counts.reshape(len(self.lengths), -1)
        for at in range(len(self.lengths)):
            added, wrong = self.oracle.tally(np.ascontiguousarray(rows[rows[:, 0] == at, 1:]))
            parts[at] += added
            lost += wrong
        return counts, lost + int(np.count_nonzero(rows[:, 0] >= len(self.lengths)))

    def likelihood(self, value: str) -> dict[bytes, Fraction]:
        """Return the exact probability of every report of a value."""
        text, share = self.checked([value])[0], Fraction(1, len(self.lengths))
        return {
            bytes([at]) + report: share * chance
            for at, (length, oracle) in enumerate(zip(self.lengths, self.rounds, strict=True))
            for report, chance in oracle.likelihood(text[:length]).items()
        }

    # Estimates --------------------------------------------------------------------------------------------------------

    def estimate(
        self,
        sketch: Sketch,
        beta: float = 0.05,
        post: str | None = None,
        *,
        false_positives: float = 0.05,
        most: int = 128,
    ) -> HeavyHitterEstimate:
        """Return the strings that stand out, at most so many, with unbiased counts and intervals.

        With probability at least 1 - false_positives, no string is returned that nobody has: the last round of search
        tests every candidate at that rate over the number of candidates (Bonferroni), by the normal law of estimates
        and the skewness of collisions.
        """
        rate, kept = float(positive_failure("false_positives", false_positives)), whole("most", most)
        parts = self.own(sketch).counts.reshape(len(self.lengths), -1)
        prefixes, before, last = [""], 0, len(self.lengths) - 2
        for at, length in enumerate(self.lengths[:-1]):
            prefixes, before = self._extended(prefixes, length - before), length
            if not prefixes:
                break
            # A wrong prefix on the way costs time alone: an eighth of those kept may be wrong.
            level = rate / len(prefixes) if at == last else min(0.5, kept / (8 * len(prefixes)))
            prefixes = self._standing_out(at, parts[at], prefixes, level, kept)
        value, low, high = self._counted(len(self.lengths) - 1, parts[-1], prefixes, beta)
        order = np.argsort(-value, kind="stable")
        n, names = sketch.reports, tuple(prefixes[at].rstrip(END) for at in order)
        # Deviations of a sum are at most the sum of deviations: so far may all others be off.
        value, low, high = (
            np.append(each[order], n - rest.sum()) for each, rest in ((value, value), (low, high), (high, low))
        )
        found = HeavyHitterEstimate(value, low, high, n, sketch.rejected, beta, str(self), labels=(*names, OTHERS))
        if post is None:
            return found
        return cast(HeavyHitterEstimate, processed(found, post, threshold=0.0))

    def _extended(self, prefixes: Sequence[str], more: int) -> list[str]:
        """Return every string that begins with one of the prefixes and has so many characters more."""
        out: list[str] = []
        symbols = (*self.alphabet, END)
        for prefix in prefixes:
            start = len(prefix)
            endings = [END * more] if prefix.endswith(END) else map("".join, product(symbols, repeat=more))
            out += [prefix + ending for ending in endings if self._possible(ending, start)]
            if len(out) > _MOST_CANDIDATES:
                why = f"there would be more than {_MOST_CANDIDATES:,} candidates in a round"
                raise BadParameter("most", len(prefixes), why=why, fix="keep fewer prefixes, or use more rounds")
        return out

    def _possible(self, ending: str, start: int) -> bool:
        """Return whether nothing follows an end, and no string ends too early."""
        text = ending.rstrip(END)
        return END not in text and (len(text) == len(ending) or start + len(text) >= self.shortest)

    def _counted(self, at: int, counts: Counts, prefixes: Sequence[str], beta: float) -> tuple[Floats, Floats, Floats]:
        oracle = self.rounds[at]
        part = Sketch(oracle.spec_hash, counts, int(counts.sum()))
        return oracle.bounded(part, oracle.checked(list(prefixes)), beta, Fraction(1, len(self.lengths)))

    def _standing_out(self, at: int, counts: Counts, prefixes: Sequence[str], level: float, most: int) -> list[str]:
        """Return the prefixes whose estimates a count of zero exceeds with probability at most `level`."""
        value, _, _ = self._counted(at, counts, prefixes, 0.05)
        oracle, rounds = self.rounds[at], len(self.lengths)
        part = Sketch(oracle.spec_hash, counts, int(counts.sum()))
        noise = rounds**2 * oracle.variance(part.reports, collisions=oracle.collisions(part))
        # Collisions with frequent strings are few and large: their tail is longer than a normal one's, by the skewness
        # (Cornish and Fisher 1938), which is largest where all collide with one string.
        m, z = oracle.width, -NormalDist().inv_cdf(level)
        third = rounds**3 * oracle.collisions(part) ** 1.5 * (m - 2) / (oracle.rows * (m - 1)) ** 2
        further = max(0.0, z * z - 1) * third / (6 * noise) if noise else 0.0
        threshold = z * math.sqrt(noise) + further
        best = [int(place) for place in np.argsort(-value, kind="stable")[:most] if value[place] > threshold]
        return [prefixes[place] for place in sorted(best)]

    def variance(self, n: int, count: Number = 0) -> float:
        """Return the variance of the estimate for a string that `count` of n people have, all others having one."""
        people, rounds = reports_of(n), len(self.lengths)
        plain = self.oracle.variance(people, count, collisions=0) * rounds + float(count) * (rounds - 1)
        return plain + people**2 / (self.oracle.rows * (self.oracle.width - 1))

    def __str__(self) -> str:
        sizes = f"{len(self.alphabet)} letters, length {self.length}, {len(self.lengths)} rounds"
        return f"{self.name}({sizes}, epsilon={float(self.epsilon):g})"


def heavy_hitters(
    epsilon: Number,
    *,
    length: int,
    alphabet: str = LETTERS,
    shortest: int = 0,
    lengths: Sequence[int] | None = None,
    rows: int = 1024,
    width: int = 256,
) -> HeavyHitters:
    """Return the search for frequent strings of at most `length` characters of an alphabet.

    `lengths` are those of the prefixes in each round, the full length twice; by default each round extends a prefix in
    about a thousand ways. Strings of exactly so many bits: `alphabet="01", length=16, shortest=16`.
    Hash functions are drawn here, so two calls return two protocols: share the spec, not the call.

    Guarantee: see `HeavyHitters`; its epsilon is at most the one asked for.
    """
    oracle = hadamard_count_mean_sketch(epsilon=epsilon, rows=rows, width=width)
    full = whole("length", length)
    symbols = max(2, len(alphabet) + (shortest < full)) if isinstance(alphabet, str) else 2
    gap = max(1, int(math.log(_EXTENSIONS) / math.log(symbols) + 1e-9))
    chosen = (*range(gap, full, gap), full, full) if lengths is None else tuple(lengths)
    return HeavyHitters(oracle.epsilon, alphabet, shortest, chosen, oracle)


def examples() -> Iterator[HeavyHitters]:
    """Yield small instances, on which every promise is tried."""
    yield heavy_hitters(1, length=2, alphabet="ab", lengths=(1, 2, 2), rows=3, width=4)
    yield heavy_hitters(2, length=3, alphabet="01", shortest=3, rows=2, width=8)
