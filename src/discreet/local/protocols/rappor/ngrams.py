"""RAPPOR without a dictionary: strings nobody thought of, put together from n-grams that were reported with them."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from secrets import token_bytes
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import whole
from discreet.core.errors import BadParameter
from discreet.core.rational import Number
from discreet.local.protocols.rappor import Rappor, rappor
from discreet.local.protocols.rappor.associations import Answers, associate
from discreet.local.protocols.rappor.bloom import written
from discreet.local.protocols.rappor.client import RapporClient
from discreet.local.protocols.rappor.client import cohort as even
from discreet.local.protocols.rappor.decode import Decoded
from discreet.local.reports import Reports
from discreet.local.sketch import Sketch
from discreet.noise.uniform import uniform

PAD = " "
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_MOST_GRAMS, _MOST_KEPT, _MOST_STRINGS = 20_000, 25, 5_000
_EDGE = 2.0  # standard errors above zero that make an edge; the last test is on whole strings and is strict
_KEY_BYTES, _LEAST_KEY_BYTES, _CHOICE, _STRING = 32, 16, b"\x02", b"\x03"


@dataclass(frozen=True, slots=True, eq=False)
class NgramReports:
    """Three reports a person: the whole string, and the n-grams at two positions; `pair` says which two, in public."""

    strings: Reports
    firsts: Reports
    seconds: Reports
    pair: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.pair)


@dataclass(frozen=True, slots=True)
class Ngrams:
    """RAPPOR for strings of unknown words (Fanti, Pihur, Erlingsson 2016): see `ngrams`, which makes one.

    Guarantee: `loss` for one report, `loss_forever` for any number of reports of one string by a client with a memo:
    the string and two n-grams are three answers, and are paid as three. Which positions a client reports on never
    depends on the string.
    """

    strings: Rappor
    firsts: Rappor
    seconds: Rappor
    length: int
    size: int
    alphabet: str

    @property
    def positions(self) -> int:
        """How many n-grams a string is cut into."""
        return self.length // self.size

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs of positions of which each client reports one."""
        return tuple(combinations(range(self.positions), 2))

    @property
    def grams(self) -> tuple[str, ...]:
        """All n-grams of the alphabet and the pad."""
        letters = sorted(set(self.alphabet) | {PAD})
        return tuple("".join(each) for each in product(letters, repeat=self.size))

    @property
    def loss(self) -> PrivacyLoss:
        """What one report costs, all three parts of it."""
        return self.strings.loss + self.firsts.loss + self.seconds.loss

    @property
    def loss_forever(self) -> PrivacyLoss:
        """What any number of reports of one string costs; each distinct string pays this again."""
        return self.strings.loss_forever + self.firsts.loss_forever + self.seconds.loss_forever

    def cut(self, value: str) -> tuple[str, tuple[str, ...]]:
        """Return a string as it is reported, cut to the length, and its n-grams, padded."""
        kept = value[: self.length]
        padded = kept.ljust(self.length, PAD)
        return kept.rstrip(PAD), tuple(padded[at : at + self.size] for at in range(0, self.length, self.size))

    def encode(self, values: Sequence[str]) -> NgramReports:
        """Return one report for each string, each from another client.

        Guarantee: `loss` for every string.
        """
        words = self.strings.checked(cast(ArrayLike, values)).tolist()
        if not all(isinstance(word, str) for word in words):
            raise BadParameter("values", "numbers", why="n-grams are cut from strings", fix="pass strings")
        pair = np.asarray(uniform(len(self.pairs), len(words)), dtype=np.int64)
        parts = [self.cut(word) for word in words]
        chosen = [self.pairs[at] for at in pair.tolist()]
        firsts = [grams[first] for (_, grams), (first, _) in zip(parts, chosen, strict=True)]
        seconds = [grams[second] for (_, grams), (_, second) in zip(parts, chosen, strict=True)]
        return NgramReports(
            self.strings.encode([word for word, _ in parts]),
            self.firsts.encode(firsts),
            self.seconds.encode(seconds),
            pair,
        )

    def client(self, memo: bytes | None = None) -> NgramClient:
        """Return one person's client, who remembers everything by a key (made again if no memo is given).

        Guarantee: see `NgramClient`.
        """
        return NgramClient(self, token_bytes(_KEY_BYTES) if memo is None else memo)

    def sketch(self, reports: NgramReports) -> Sketch:
        """Return the sketch of whole strings, for estimates with a dictionary."""
        return self.strings.aggregate(reports.strings)

    def discover(self, reports: NgramReports, beta: float = 0.05) -> Decoded:
        """Return the strings that can be told from the reports, with counts and tests as `Rappor.estimate` gives them.

        N-grams that stand out at each position, pairs of them that go together, strings all of whose pairs do (cliques
        in the graph of pairs); then the whole strings are tested as candidates, strictly (Bonferroni).
        """
        kept = [self._standing_out(reports, position, beta) for position in range(self.positions)]
        edges = {at: self._going_together(reports, at, kept) for at in range(len(self.pairs))}
        found = sorted({"".join(each).rstrip(PAD) for each in self._cliques(kept, edges)})
        if not found:
            nothing = np.zeros(0)
            return Decoded(nothing, nothing, nothing, len(reports), beta=beta, protocol=self.strings.name, labels=())
        return self.strings.estimate(self.sketch(reports), beta, candidates=found)

    def _standing_out(self, reports: NgramReports, position: int, beta: float) -> tuple[str, ...]:
        """Return the n-grams detected at a position by either report, a few at most."""
        score: dict[str, float] = {}
        for at, (protocol, batch) in enumerate(((self.firsts, reports.firsts), (self.seconds, reports.seconds))):
            these = [number for number, pair in enumerate(self.pairs) if pair[at] == position]
            some = _picked(batch, np.isin(reports.pair, these))
            if not len(some):
                continue
            fit = protocol.estimate(protocol.aggregate(some), beta, candidates=self.grams, correction="fdr")
            for name, value in zip(fit.found, sorted(fit.value[fit.detected], reverse=True), strict=True):
                score[str(name)] = score.get(str(name), 0.0) + float(value)
        return tuple(sorted(score, key=lambda name: -score[name])[:_MOST_KEPT])

    def _going_together(self, reports: NgramReports, at: int, kept: Sequence[tuple[str, ...]]) -> set[tuple[str, str]]:
        """Return the pairs of n-grams that are likely to occur together at a pair of positions."""
        first, second = (kept[position] for position in self.pairs[at])
        if not first or not second:
            return set()
        mask = reports.pair == at
        joint = associate(
            Answers(self.firsts, _picked(reports.firsts, mask), first),
            Answers(self.seconds, _picked(reports.seconds, mask), second),
        )
        return {(a, b) for a, b, _ in joint.pairs(_EDGE)}

    def _cliques(
        self, kept: Sequence[tuple[str, ...]], edges: dict[int, set[tuple[str, str]]]
    ) -> list[tuple[str, ...]]:
        """Return the strings of n-grams, one a position, of which every two go together."""
        number = {pair: at for at, pair in enumerate(self.pairs)}
        partial: list[tuple[str, ...]] = [(gram,) for gram in kept[0]]
        for position in range(1, self.positions):
            partial = [
                (*begun, gram)
                for begun in partial
                for gram in kept[position]
                if all((begun[before], gram) in edges[number[before, position]] for before in range(position))
            ][:_MOST_STRINGS]
        return partial


@dataclass(frozen=True, slots=True)
class NgramClient:
    """One person's side of `Ngrams`; the key is all that has to be kept.

    Guarantee: any number of reports of one string costs at most the protocol's `loss_forever`, as long as the key is
    kept and secret; positions and permanent answers follow from it, by keys that are independent of each other. Each
    distinct string pays again, and answers for its n-grams again, also where another string has the same.
    """

    protocol: Ngrams
    memo: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.memo) < _LEAST_KEY_BYTES:
            why = f"a key shorter than {_LEAST_KEY_BYTES} bytes can be guessed"
            fix = "use secrets.token_bytes(32), and keep it"
            raise BadParameter("memo", f"{len(self.memo)} bytes", why=why, fix=fix)

    @property
    def pair(self) -> int:
        """The number of the pair of positions that this client reports on, always the same and public."""
        return even(self._key(0), len(self.protocol.pairs))

    def report(self, value: str) -> tuple[int, bytes, bytes, bytes]:
        """Return the number of the pair and three reports: of the string and of its two n-grams.

        Guarantee: see the class.
        """
        word, grams = self.protocol.cut(self.protocol.strings.word(value))
        first, second = self.protocol.pairs[self.pair]
        return (
            self.pair,
            self._client(1, self.protocol.strings, word).report(word),
            self._client(2, self.protocol.firsts, word).report(grams[first]),
            self._client(3, self.protocol.seconds, word).report(grams[second]),
        )

    def _client(self, role: int, protocol: Rappor, word: str) -> RapporClient:
        """Return the client of a part: its cohort is always the same, its permanent answers are those of a string."""
        key = self._key(role)
        own = hmac.digest(key, _STRING + written(word), "sha256")
        return protocol.client(own, cohort=protocol.client(key).cohort)

    def _key(self, role: int) -> bytes:
        return hmac.digest(self.memo, _CHOICE + bytes([role]), "sha256")


def ngrams(
    length: int = 6,
    size: int = 2,
    alphabet: str = _LETTERS,
    *,
    bits: int = 16,
    hashes: int = 2,
    cohorts: int = 64,
    f: Number = 0.25,
    p: Number = 0.25,
    q: Number = 0.75,
) -> Ngrams:
    """Return RAPPOR for unknown strings: up to `length` characters, cut into n-grams of `size` over an alphabet.

    All three reports of a person use the same Bloom filters and noise.

    Guarantee: see `Ngrams`.
    """
    whole("size", size)
    if whole("length", length) % size or length < 2 * size:
        why = f"strings are cut into two n-grams of {size} characters or more"
        raise BadParameter("length", length, why=why, fix=f"use a multiple of {size}, at least {2 * size}")
    count = len(set(alphabet) | {PAD}) ** size
    if not alphabet or count > _MOST_GRAMS:
        why = f"there are {count} n-grams, each a candidate to test"
        raise BadParameter("alphabet", alphabet, why=why, fix="use shorter n-grams, or fewer characters")
    parts = [
        rappor(bits, hashes, cohorts, f, p, q, topic=topic) for topic in ("string", "first n-gram", "second n-gram")
    ]
    return Ngrams(parts[0], parts[1], parts[2], length, size, alphabet)


def _picked(reports: Reports, mask: NDArray[np.bool_]) -> Reports:
    rows = reports.rows[mask] if len(reports) else reports.rows
    return Reports(rows.reshape(-1), len(rows), reports.spec_hash)
