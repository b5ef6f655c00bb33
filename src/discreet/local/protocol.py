"""Protocols: how a value becomes a report, and how reports become an estimate."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from importlib import import_module
from statistics import NormalDist
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.pure import Pure
from discreet.account.numeric.checks import positive_failure, whole
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.registry import capwords
from discreet.local.estimate import Estimate
from discreet.local.grid import log_up, within
from discreet.local.intake import batches
from discreet.local.reports import Bytes, Reports
from discreet.local.sketch import Sketch
from discreet.noise.bits import BitSource, current

# Every protocol and the module that defines it: its class is the name in CapWords, and `examples()` of the module
# yields small instances of it, on which the conformance suite tries every promise.
KINDS: Mapping[str, str] = {
    "count_mean_sketch": "count_mean_sketch",
    "d_bit_flip": "telemetry",
    "hadamard": "hadamard",
    "hadamard_count_mean_sketch": "count_mean_sketch",
    "heavy_hitters": "heavy_hitters",
    "local_hash": "local_hash",
    "marginals": "marginals",
    "mean": "mean",
    "one_bit_mean": "telemetry",
    "randomized_response": "randomized_response",
    "rappor": "rappor",
    "unary": "unary",
}

SPEC_VERSION = 1
Values = NDArray[np.int64]
Counts = NDArray[np.int64]
Memo = bytes | MutableMapping[Any, bytes]

# Reports are made and read in parts that stay in a processor's cache, and never need memory for more than a part.
_PART_BYTES = 1 << 21
_PART_REPORTS = 1 << 17
_KEY_BYTES = 16


class Protocol(ABC):
    """A way to report a value in private, and to estimate from many reports what everyone's values are.

    A protocol is a frozen value: a dataclass whose fields are its exact public parameters. A subclass gives the
    abstract members below; `encode`, `aggregate`, `client`, `spec` and `loss` follow from them.

    Guarantee: whatever a report says, it is at most `odds` times as likely for one value as for another: pure
    epsilon = ln(odds) under the relation "replace". That someone reported is not hidden.
    """

    __slots__ = ()
    name: ClassVar[str]
    epsilon: Fraction

    # What a protocol has to say ---------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def odds(self) -> Fraction:
        """The largest ratio of a report's likelihoods under two values, exactly (or a bound of it)."""

    @property
    @abstractmethod
    def bytes_per_report(self) -> int:
        """The length of every report."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """The length of the sketch."""

    @abstractmethod
    def checked(self, values: ArrayLike) -> NDArray[Any]:
        """Return the values as an array, refusing any that the protocol cannot report."""

    @abstractmethod
    def draw(self, values: NDArray[Any], source: BitSource) -> Bytes:
        """Return one report a row for checked values, with fresh bits of the source."""

    @abstractmethod
    def tally(self, rows: Bytes) -> tuple[Counts, int]:
        """Return the counts that well-formed rows add up to, and how many rows were malformed."""

    @abstractmethod
    def estimate(self, sketch: Sketch, beta: float = 0.05, post: str | None = None) -> Estimate:
        """Return estimates with intervals, each holding with probability at least 1 - beta."""

    @abstractmethod
    def variance(self, n: int) -> float:
        """Return the variance of the estimated count of one rare value among n reports."""

    @abstractmethod
    def likelihood(self, value: Any) -> dict[bytes, Fraction]:  # noqa: ANN401  (values differ between protocols)
        """Return the exact probability of every report of a value, for small parameters."""

    # What follows -----------------------------------------------------------------------------------------------------

    @property
    def loss(self) -> PrivacyLoss:
        """What one report costs: pure epsilon of the exact grid, rounded up; for the relation "replace"."""
        return Pure(log_up(self.odds), relation="replace")

    def error(self, n: int, beta: float = 0.05) -> float:
        """Return the half-width that the error of one rare count among n reports exceeds with probability beta."""
        return quantile(beta) * math.sqrt(self.variance(n))

    def spec(self) -> dict[str, Any]:
        """Return the public parameters as plain JSON values: what a collection is signed over."""
        written = {each.name: _written(getattr(self, each.name)) for each in fields(cast(Any, self)) if each.init}
        return {"protocol": self.name, "version": SPEC_VERSION, **written}

    @property
    def spec_hash(self) -> str:
        """The SHA-256 of the spec's canonical JSON, in hexadecimal."""
        return hashlib.sha256(canonical(self.spec())).hexdigest()

    @staticmethod
    def from_spec(spec: Mapping[str, Any]) -> Protocol:
        """Return the protocol that a spec describes, checked again."""
        given = dict(spec)
        name, version = given.pop("protocol", None), given.pop("version", None)
        if not isinstance(name, str) or name not in KINDS:
            raise UnknownName("protocol", str(name), KINDS)
        if version != SPEC_VERSION:
            why, fix = f"this release reads version {SPEC_VERSION}", "read it with the release that wrote it"
            raise BadParameter("version", version, why=why, fix=fix)
        kind = getattr(import_module(f"discreet.local.protocols.{KINDS[name]}"), capwords(name))
        expected = {each.name for each in fields(kind) if each.init}
        if set(given) != expected:
            why = f"a spec of {name} has exactly the fields {', '.join(sorted(expected))}"
            raise BadParameter("spec", sorted(given), why=why, fix="pass what spec() returned, unchanged")
        try:
            found = {key: _read(value) for key, value in given.items()}
            made = cast(Protocol, kind(**found))
        except Refusal:
            raise
        except (TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
            why = f"its fields are not of the kinds that {name} has"
            raise BadParameter("spec", name, why=why, fix="pass what spec() returned, unchanged") from error
        if not within(made.odds, made.epsilon):
            # Anyone who is asked reads the epsilon; what is drawn follows from the probabilities.
            why = f"its probabilities cost epsilon {made.loss.epsilon(0):.6g}, more than it says"
            raise BadParameter("epsilon", float(made.epsilon), why=why, fix="do not answer it; ask its author")
        return made

    def encode(self, values: ArrayLike) -> Reports:
        """Return one report for each value.

        Guarantee: `loss` for every value; the bits are cryptographic and used once.
        """
        found = self.checked(values)
        source, size = current(), self.bytes_per_report
        out = np.empty((len(found), size), dtype=np.uint8)
        for part in parts(len(found), size):
            out[part] = self.draw(found[part], source)
        return Reports(out.reshape(-1), len(found), self.spec_hash)

    def client(self, memo: Memo | None = None) -> Client:
        """Return one person's client; with a memo, a value is answered alike whenever it is asked for again.

        A memo is a secret key of 16 bytes or more, from which all answers follow, or a mapping that keeps them.
        """
        return Client(self, memo)

    def aggregate(self, reports: Reports | bytes | Iterable[bytes | Reports]) -> Sketch:
        """Return the sketch of reports: a batch, packed bytes, or an iterable of batches or of single reports.

        What is malformed (of another length or protocol, or out of range) is counted as rejected and has no effect.
        """
        counts, good, rejected = np.zeros(self.cells, dtype=np.int64), 0, 0
        for rows, lost in batches(reports, self.bytes_per_report, self.spec_hash):
            rejected += lost
            for part in parts(len(rows), self.bytes_per_report, 8):
                added, wrong = self.tally(rows[part])
                counts += added
                rejected += wrong
                good += len(rows[part]) - wrong
        return Sketch(self.spec_hash, counts, good, rejected)

    # What the auditor of discreet.lab asks of any mechanism -----------------------------------------------------------

    def release(self, value: Any) -> bytes:  # noqa: ANN401  (values differ between protocols)
        """Return one report of a value.

        Guarantee: `loss`.
        """
        return bytes(self.encode([value]))

    def releases(self, value: Any, count: int) -> Bytes:  # noqa: ANN401
        """Return so many independent reports of one value, one a row: for audits and simulations."""
        return self.encode([value] * count).rows

    def chances(self, value: Any) -> dict[bytes, tuple[Fraction, Fraction]]:  # noqa: ANN401
        """Return the probability of every report, as bounds that are equal because they are exact."""
        return {report: (chance, chance) for report, chance in self.likelihood(value).items()}

    def own(self, sketch: Sketch) -> Sketch:
        """Return the sketch if it is one of this protocol, else refuse it."""
        if sketch.spec_hash != self.spec_hash or len(sketch.counts) != self.cells:
            why = "it adds up reports of another protocol"
            raise BadParameter("sketch", sketch.spec_hash, why=why, fix="estimate with the protocol that made it")
        return sketch


@dataclass(frozen=True, slots=True)
class Client:
    """One person's side of a protocol.

    Guarantee: without a memo, every report costs the protocol's loss again. With one, reports of the same value are
    one report, repeated at no further loss; each distinct value that is reported pays again, and so does each protocol
    that differs in any parameter.
    """

    protocol: Protocol
    memo: Memo | None = field(default=None, repr=False)  # a secret, or what tells as much

    def __post_init__(self) -> None:
        if isinstance(self.memo, bytes) and len(self.memo) < _KEY_BYTES:
            why = f"a key shorter than {_KEY_BYTES} bytes can be guessed"
            fix = "use secrets.token_bytes(32), and keep it"
            raise BadParameter("memo", f"{len(self.memo)} bytes", why=why, fix=fix)

    def report(self, value: object) -> bytes:
        """Return the report of a value.

        Guarantee: see the class.
        """
        found = self.protocol.checked(cast(ArrayLike, [value]))
        if self.memo is None:
            return self.protocol.draw(found, current()).tobytes()
        plain = found[0].item() if isinstance(found[0], np.generic) else found[0]
        if isinstance(self.memo, bytes):
            entropy = _entropy(self.memo, self.protocol.spec_hash, plain)
            return self.protocol.draw(found, BitSource(entropy)).tobytes()
        key = (self.protocol.spec_hash, plain)  # one mapping may serve several protocols, and keep keys of theirs
        if key not in self.memo:
            self.memo[key] = self.protocol.draw(found, current()).tobytes()
        return self.memo[key]


class _entropy:  # noqa: N801  (a function with a counter)
    """A stand-in for the system's randomness: a keyed stream that is the same for the same value."""

    __slots__ = ("_calls", "_key")

    def __init__(self, key: bytes, spec_hash: str, value: object) -> None:
        self._key = hmac.digest(key, f"discreet.local memo {spec_hash} {value!r}".encode(), "sha256")
        self._calls = 0

    def __call__(self, size: int) -> bytes:
        self._calls += 1
        return hmac.digest(self._key, self._calls.to_bytes(8, "big"), "sha256")[:size]


def categories(values: ArrayLike, k: int) -> NDArray[Any]:
    """Return values 0 .. k-1 as an integer array, refusing anything else before a bit is drawn."""
    why, fix = f"a value is an integer from 0 to {k - 1}", "pass a list or an array of ints"
    try:
        found = np.asarray(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadParameter("values", type(values).__name__, why=why, fix=fix) from error
    if found.size == 0:
        return np.zeros(0, dtype=np.int64)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise BadParameter("values", f"an array of {found.dtype}", why=why, fix=fix)
    # Read as unsigned, a negative number is larger than any k: one pass looks for both.
    unsigned = found.view(found.dtype.str.replace("i", "u")) if found.dtype.kind == "i" else found
    if int(unsigned.max()) >= k:
        # The value itself is a secret, and a refusal may be logged: it is not shown.
        fix = "map other values to a category of their own"
        raise BadParameter("values", f"{found.size} values", why=f"{why}, and one of these is not", fix=fix)
    return found


def parts(count: int, size: int, times: int = 1) -> Iterator[slice]:
    """Yield slices over so many reports of that size, each small enough to stay in cache (or `times` as large)."""
    step = max(1, times * min(_PART_REPORTS, _PART_BYTES // max(1, size)))
    return (slice(start, min(count, start + step)) for start in range(0, count, step))


def quantile(beta: float) -> float:
    """Return how many standard deviations a normal number exceeds, to either side, with probability beta."""
    return -NormalDist().inv_cdf(float(positive_failure("beta", beta)) / 2)


def canonical(spec: Mapping[str, Any]) -> bytes:
    """Return a spec as canonical JSON: sorted keys, no spaces, ASCII."""
    return json.dumps(spec, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def reports_of(n: int) -> int:
    """Return a number of reports, refusing what is none."""
    return whole("n", n, least=0)


def _written(value: object) -> object:
    """Write a field: fractions are told from texts, so every number stays exact."""
    if isinstance(value, Fraction):
        return {"fraction": f"{value.numerator}/{value.denominator}"}
    if isinstance(value, tuple):
        return [_written(each) for each in value]
    if isinstance(value, Protocol):
        return value.spec()
    return value


def _read(value: object) -> object:
    if isinstance(value, Mapping) and set(value) == {"fraction"}:
        return _fraction(str(value["fraction"]))
    if isinstance(value, Mapping) and "protocol" in value:
        return Protocol.from_spec(value)
    if isinstance(value, list | tuple):
        return tuple(_read(each) for each in value)
    return value


def _fraction(text: str) -> Fraction:
    # A spec may come from elsewhere: digits and a stroke alone, for 1e999999999 is a fraction to Python as well.
    if not re.fullmatch(r"-?[0-9]{1,400}/0*[1-9][0-9]{0,400}", text):
        fix = "pass what spec() returned, unchanged"
        raise BadParameter("fraction", text, why="it is not a fraction", fix=fix)
    return Fraction(text)
