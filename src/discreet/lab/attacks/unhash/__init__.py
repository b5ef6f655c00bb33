"""Unhash: hashed identifiers turned back by trying every text that they could have been.

A hash cannot be inverted, but identifiers are few: New York published its taxi trips of 2013 with the medallions hashed
by MD5, and as a medallion is one of 18 million short texts, all of them could be read within minutes (Pandurangan 2014,
*On taxis and rainbows*). A salt that is published, or a slower hash, changes how long it takes and nothing else; a key
that nobody else has makes every text equally likely, and this attack ends.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import BadParameter, UnknownName
from discreet.lab.attacks.unhash.digests import DIGESTS, MOST_BYTES, Digest, Word
from discreet.lab.attacks.unhash.patterns import Pattern
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Bars
from discreet.lab.table_copy import TableCopy
from discreet.noise.uniform import uniform

MOST = 10**11  # texts that are tried at most: a few hours of one machine
_EXPOSED = 2 * 10**7  # those that a battery has time for
_PEOPLE = 5000
_FILTER = 22  # bits of a digest that are looked up before all of it is
_MADE_UP = "made-up taxi medallions"
_HEXADECIMAL = re.compile(r"[0-9a-f]+").fullmatch


_KEYED = (
    "Without the key nobody can check a guess; the rows of one person can still be told to belong together, "
    "so that a vault, which shows no identifiers at all, is better."
)


@dataclass(frozen=True, slots=True)
class Unhashed:
    """What was read: `found` maps a digest to the text behind it, `tried` counts texts of `size` that there are."""

    target: str
    pattern: str
    algorithm: str
    asked: int
    found: Mapping[str, str] = field(repr=False)
    tried: int
    size: int
    seconds: float
    made: bool = False  # identifiers that nobody has

    @property
    def share(self) -> float:
        """The share of the digests that were read."""
        return len(self.found) / self.asked if self.asked else 0.0

    @property
    def outcome(self) -> Outcome:
        """The verdict: how many identifiers were read, against naming a text of the pattern at random."""
        took = f"{self.tried:,} texts of the form {self.pattern} were tried in {self.seconds:,.1f} s"
        figures = {
            "identifiers": self.asked,
            "read": len(self.found),
            "tried": self.tried,
            "size": self.size,
            "seconds": self.seconds,
            "pattern": self.pattern,
            "algorithm": self.algorithm,
        }
        found = Outcome(
            attack="unhash",
            target=self.target,
            evidence=Counted(len(self.found), self.asked, "identifiers read back"),
            chance=1 / max(1, self.size),
            told=f"{took[0].upper()}{took[1:]}.",
            demonstration=self.made,
            figures=figures,
        )
        bars = Bars("Identifiers read back", [self.target], [self.share], "share", [found.kind], percent=True, most=1.0)
        return replace(found, picture=bars)


def unhash(
    hashes: Iterable[object],
    pattern: str | Pattern = "medallion",
    *,
    algorithm: str | None = None,
    salt: bytes = b"",
    target: str | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> Unhashed:
    """Try every text of a pattern until all hashes are explained; `salt` is what was put before each text.

    Hashes are hexadecimal, and their length tells the algorithm unless it is named. `progress` gets the share of the
    texts that were tried.
    """
    shapes = pattern if isinstance(pattern, Pattern) else Pattern.parse(pattern)
    wanted = _read(hashes, algorithm)
    digest = wanted.digest
    _check(shapes, digest, salt)
    started, tried = time.perf_counter(), 0
    found: dict[str, str] = {}
    for many, texts in _tried(wanted, shapes, salt):
        tried += many
        for text in texts:
            hashed = hashlib.new(digest.name, salt + text.encode(), usedforsecurity=False).hexdigest()
            if hashed in wanted.digests:
                found[hashed] = text
        progress(tried / shapes.size)
        if len(found) == len(wanted.digests):
            break
    seconds = time.perf_counter() - started
    called = target or f"identifiers hashed by {digest.name.upper()}"
    return Unhashed(called, shapes.text, digest.name, len(wanted.digests), found, tried, shapes.size, seconds)


def size_of(pattern: str) -> int:
    """Return how many texts a pattern has."""
    return Pattern.parse(pattern).size


def seconds_for(pattern: str | Pattern, algorithm: str = "md5") -> float:
    """Estimate how long all texts of a pattern take here, from a short run."""
    shapes = pattern if isinstance(pattern, Pattern) else Pattern.parse(pattern)
    digest = _digest(algorithm)
    block = next(_blocks(digest, Pattern.parse("99999"), b""))
    return shapes.size * min(_timed(block) for _ in range(3)) / len(block.tails) / _workers()


def keyed(values: Iterable[object], key: bytes, algorithm: str = "sha256") -> list[str]:
    """Hash identifiers with a secret key (HMAC, RFC 2104): what to publish, if identifiers must be published at all."""
    return [hmac.new(key, str(value).encode(), _digest(algorithm).name).hexdigest() for value in values]


def hashed(values: Iterable[object], algorithm: str = "md5", salt: bytes = b"") -> list[str]:
    """Hash identifiers without a key: what not to publish."""
    name = _digest(algorithm).name
    return [hashlib.new(name, salt + str(value).encode(), usedforsecurity=False).hexdigest() for value in values]


def medallions(many: int) -> list[str]:
    """Make up taxi medallions of the shape that New York's yellow cabs had most: 5X55."""
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
    drawn = zip(uniform(9, many), uniform(len(letters), many), uniform(100, many), strict=True)
    return [f"{first + 1}{letters[letter]}{last:02d}" for first, letter, last in drawn]


# What a table has to have for it, in words for whoever has a table without.
NEEDS = "a pattern that its identifiers follow"


def expose(copied: TableCopy, say: Callable[[str], None] = lambda _: None) -> list[Outcome]:
    """Hash the copy's own identifiers, or made-up ones, in the ways that are in use, and read them back."""
    values, pattern, whose = _identifiers(copied)
    key, salt = uniform(1 << 256).to_bytes(32, "big"), uniform(1 << 64).to_bytes(8, "big")
    ways: list[tuple[str, list[str], bytes]] = [
        (f"{whose}, hashed by MD5", hashed(values, "md5"), b""),
        (f"{whose}, hashed by SHA-256", hashed(values, "sha256"), b""),
        (f"{whose}, hashed by MD5 with a published salt", hashed(values, "md5", salt), salt),
        (f"{whose}, under HMAC with a secret key", keyed(values, key, "md5"), b""),
    ]
    found = []
    for target, hashes, before in ways:
        say(target)
        read = unhash(hashes, pattern, salt=before, target=target)
        found.append(replace(read, made=whose == _MADE_UP).outcome)
    *others, last = found
    return [*others, replace(last, told=f"{last.told} {_KEYED}")]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The digests that are looked for, and a table by which almost all others are left out at once."""

    digest: Digest
    digests: frozenset[str]
    table: NDArray[np.bool_]

    def among(self, first: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the places of digests that may be wanted, by their first 32 bits."""
        return np.flatnonzero(self.table[first >> np.uint32(32 - _FILTER)])


def _read(hashes: Iterable[object], algorithm: str | None) -> _Wanted:
    texts = frozenset(str(each).strip().lower() for each in hashes if each is not None)
    digits = {len(text) for text in texts}
    known = {digest.digits: digest for digest in DIGESTS.values()}
    usual = known.get(min(digits, default=32), DIGESTS["md5"])
    digest = usual if algorithm is None else _digest(algorithm)
    if digits - {digest.digits} or not all(map(_HEXADECIMAL, texts)):
        why = f"a hash by {digest.name} has {digest.digits} hexadecimal digits"
        fix = "give one hash a line, 32 digits for md5, 40 for sha1, 64 for sha256"
        raise BadParameter("hashes", sorted(digits), why=why, fix=fix)
    first = np.frombuffer(bytes.fromhex("".join(text[:8] for text in sorted(texts))), digest.order)
    table = np.zeros(1 << _FILTER, bool)
    table[first >> (32 - _FILTER)] = True
    return _Wanted(digest, texts, table)


def _digest(algorithm: str) -> Digest:
    name = algorithm.lower().replace("-", "")
    if name not in DIGESTS:
        raise UnknownName("algorithm", algorithm, DIGESTS)
    return DIGESTS[name]


def _check(pattern: Pattern, digest: Digest, salt: bytes) -> None:
    if pattern.size > MOST:
        hours = seconds_for(pattern, digest.name) / 3600
        why = f"it has {pattern.size:,} texts, which would take {hours:,.0f} hours here; {MOST:,} are the most"
        raise BadParameter("pattern", pattern.text, why=why, fix="write what is known of the texts: [01]9 for a month")
    length = len(salt) + max(len(shape.places) for shape in pattern.shapes)
    if length > MOST_BYTES:
        why = f"with the salt its texts have {length} bytes, and {MOST_BYTES} are the most"
        raise BadParameter("pattern", pattern.text, why=why, fix="try shorter texts")


def _tried(wanted: _Wanted, pattern: Pattern, salt: bytes) -> Iterator[tuple[int, list[str]]]:
    """Hash block after block on every core; give how many texts a block had, and those that may be wanted.

    Threads will do: NumPy lets go of the interpreter while it calculates. A few blocks are under way at any time.
    """
    blocks = _blocks(wanted.digest, pattern, salt)
    workers = _workers()
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[tuple[int, list[str]]]] = deque()
        while True:
            for block in islice(blocks, 2 * workers - len(waiting)):
                waiting.append(pool.submit(block.tried, wanted))
            if not waiting:
                return
            yield waiting.popleft().result()


@dataclass(frozen=True, slots=True)
class _Block:
    """Texts that begin alike: the words of how they go on are shared with all blocks of their shape."""

    digest: Digest
    salt: bytes
    head: bytes
    tails: NDArray[np.uint8]
    message: list[Word]

    def tried(self, wanted: _Wanted) -> tuple[int, list[str]]:
        """Return how many texts there are, and those whose digests may be wanted."""
        start = self.head.decode()
        places = wanted.among(self.first())
        return len(self.tails), [start + self.tails[place].tobytes().decode() for place in places]

    def first(self) -> Word:
        """Return the first 32 bits of every digest."""
        words = self.digest.started(self.message, self.salt + self.head)
        return np.broadcast_to(self.digest.first(words), len(self.tails))


def _blocks(digest: Digest, pattern: Pattern, salt: bytes) -> Iterator[_Block]:
    for shape in pattern.shapes:
        heads, tails = shape.cut()
        before = len(salt) + len(shape.places) - tails.shape[1]
        message = digest.message(np.pad(tails, ((0, 0), (before, 0))))
        for head in heads:
            yield _Block(digest, salt, head, tails, message)


def _timed(block: _Block) -> float:
    started = time.perf_counter()
    block.first()
    return time.perf_counter() - started


def _workers() -> int:
    return os.cpu_count() or 1


def _identifiers(copied: TableCopy) -> tuple[list[str], Pattern, str]:
    """Return identifiers to hash, their pattern and whose they are: the copy's, unless there is none or too many."""
    if copied.identifier is not None:
        values = [str(each) for each in copied.people().column(copied.identifier)[:_PEOPLE] if each is not None]
        if values and all(value.isascii() and 0 < len(value) <= MOST_BYTES - 8 for value in values):
            pattern = Pattern.of(values)
            if pattern.size <= _EXPOSED:
                return values, pattern, f"{copied.identifier} of {copied.name}"
    many = min(_PEOPLE, max(1, copied.rows))
    return medallions(many), Pattern.parse("9A99|AA999"), _MADE_UP
