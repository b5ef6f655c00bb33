"""Hardness: made-up rows that keep a signature's validity would be forgeries, so private ones keep none.

Rows are messages with signatures under one key, and the question is "which share of the rows carries a valid
signature?". All real rows do; whoever makes synthetic rows that answer it within 1/2 makes at least one valid row.
Either it is a row of the table, which is so revealed, or a signature that nobody signed: a forgery, for which
there is not time enough. So no efficient synthesizer is private and right for all efficient questions (Dwork, Naor,
Reingold, Rothblum, Vadhan 2009); Ullman and Vadhan (2011) turn the question into marginals of two columns. Answers to
single questions, with noise, are no harder than before: the share of valid rows may simply be asked for.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.account.budgets.budget import Budget
from discreet.account.numeric.checks import Number, positive, whole
from discreet.core.errors import UnknownName
from discreet.lab.attacks._coins import coins
from discreet.lab.defence import DELTA
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Bars, GuideLine
from discreet.lab.table_copy import TableCopy
from discreet.mechanisms.laplace import Laplace

Rows = NDArray[np.uint8]  # a row for each message: its bytes, then those of its signature

_MESSAGE, _SIGNATURE = 8, 64  # bytes
_GUESS = 2.0 ** (-8 * _MESSAGE)  # how likely a made-up row hits a message at most
PRIVATE = ("independent", "mst")


@dataclass(frozen=True, slots=True, eq=False)
class SignedMessages:
    """A table of signed messages, and the public key that tells who signed them: Ed25519 (RFC 8032)."""

    rows: Rows
    public: bytes

    @classmethod
    def make(cls, rows: int) -> SignedMessages:
        """Draw messages, and sign each of them with a key that is then thrown away."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        key = Ed25519PrivateKey.generate()
        messages = [secrets.token_bytes(_MESSAGE) for _ in range(whole("rows", rows, least=2))]
        signed = b"".join(message + key.sign(message) for message in messages)
        table = np.frombuffer(signed, np.uint8).reshape(rows, _MESSAGE + _SIGNATURE)
        return cls(table, key.public_key().public_bytes_raw())

    def valid(self, rows: Rows) -> int:
        """Count the rows whose signature verifies: a question that anyone with the public key can ask."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        key, found = Ed25519PublicKey.from_public_bytes(self.public), 0
        for row in rows:
            text = row.tobytes()
            try:
                key.verify(text[_MESSAGE:], text[:_MESSAGE])
            except InvalidSignature:
                continue
            found += 1
        return found

    def leaked(self, rows: Rows) -> int:
        """Count the rows of this table that are among others, each once."""
        return len({row.tobytes() for row in self.rows} & {row.tobytes() for row in rows})


@dataclass(frozen=True, slots=True, eq=False)
class Hardness:
    """What one synthesizer made of signed rows: how many of its rows verify, and how many it took from the table."""

    method: str
    rows: int
    valid: int
    leaked: int
    asked: float  # the share of valid rows, asked for by itself with noise of the same price
    epsilon: float | None

    @property
    def forged(self) -> bool:
        """Whether it made a valid row that was not in the table: then Ed25519 is broken, and this page is wrong."""
        return self.valid > 0 and self.leaked == 0

    @property
    def error(self) -> float:
        """How far its answer to the question is from the truth, which is 1."""
        return 1 - self.valid / self.rows

    @property
    def outcome(self) -> Outcome:
        """What it means: rows that answer the question are rows that leaked."""
        return Outcome(
            attack="hardness",
            target=self.method,
            evidence=Counted(self.leaked, self.rows, "people whose row is in the made-up ones"),
            chance=_GUESS,
            told=self._told(),
            ceiling=None if self.epsilon is None else min(1.0, math.exp(min(self.epsilon, 700.0)) * _GUESS + DELTA),
            demonstration=True,
            figures={
                "rows": self.rows,
                "valid": self.valid,
                "leaked": self.leaked,
                "error": self.error,
                "asked": self.asked,
                "epsilon": self.epsilon,
            },
            picture=bars([self]),
        )

    def _told(self) -> str:
        made = f"Of {self.rows} made-up rows ({self.method}) {self.valid} carry a valid signature"
        if self.leaked:
            return f"{made}, because they are copies of rows, word for word."
        lost = f"{made}, where all real rows do, and none is anyone's"
        if self.epsilon is None:
            return f"{lost}: whoever takes columns apart, loses what only whole rows tell."
        return (
            f"{lost}: private and useful for this question cannot both be had in reasonable time, where rows are made "
            f"up. Asked by itself, at the same price, it is answered {self.asked:.0%}, and the truth is 100%."
        )


def hardness(method: str = "mst", *, rows: int = 200, epsilon: Number = 1) -> Hardness:
    """Sign messages, make as many synthetic rows of them, and verify every one.

    Methods are "copy", which draws rows with replacement and promises nothing; "shuffle", which draws each column by
    itself from its true values; "independent" and "mst", Discreet's own synthesizers.
    """
    return judged(SignedMessages.make(rows), method, epsilon)


def judged(signed: SignedMessages, method: str, epsilon: Number = 1) -> Hardness:
    """Make synthetic rows of a table of signed messages, and verify every one."""
    private = method in PRIVATE
    if not private and method not in _PLAIN:
        raise UnknownName("method", method, (*_PLAIN, *PRIVATE))
    made = _synthetic(signed.rows, method, epsilon) if private else _PLAIN[method](signed.rows)
    size = len(signed.rows)
    noise = Laplace(epsilon=positive("epsilon", epsilon))
    asked = min(1.0, max(0.0, float(np.asarray(noise.release(signed.valid(signed.rows)))) / size))
    name = f"Discreet, {method}, epsilon {float(epsilon):g}" if private else method
    return Hardness(name, size, signed.valid(made), signed.leaked(made), asked, float(epsilon) if private else None)


def _synthetic(rows: Rows, method: str, epsilon: Number) -> Rows:
    """Give the synthesizer every byte as a column, and draw as many rows as there were."""
    from discreet.publish.synthesis import synthesize

    columns = {f"byte_{place}": rows[:, place].astype(np.int64) for place in range(rows.shape[1])}
    sizes = dict.fromkeys(columns, 256)
    synthetic = synthesize(columns, sizes, budget=Budget(epsilon=epsilon, delta=DELTA), method=method, workload=1)
    drawn: Mapping[str, Sequence[int | None]] = synthetic.sample(len(rows)).columns
    return np.array([[each or 0 for each in drawn[name]] for name in columns], np.uint8).T


def _copied(rows: Rows) -> Rows:
    return np.asarray(rows[coins().integers(len(rows), size=len(rows))])


def _shuffled(rows: Rows) -> Rows:
    return np.asarray(coins().permuted(rows, axis=0))


_PLAIN: dict[str, Callable[[Rows], Rows]] = {"copy": _copied, "shuffle": _shuffled}
METHODS = (*_PLAIN, *PRIVATE)


def bars(results: Sequence[Hardness]) -> Bars:
    """Draw how many valid rows each synthesizer made."""
    values = [each.valid / each.rows for each in results]
    kinds = ["bad" if each.leaked else "good" for each in results]
    names = [each.method for each in results]
    title = "Made-up rows with a valid signature: each is a row that leaked"
    return Bars(title, names, values, "share of rows", kinds, [GuideLine(1, "real rows")], percent=True, most=1)


# What a table has to have for it, in words for whoever has a table without.
NEEDS = "two rows"


def expose(copied: TableCopy, say: Callable[[str], None] = lambda _: None) -> list[Outcome]:
    """Sign as many rows as the copy has, 200 at most, and let synthesizers try."""
    size = min(200, copied.rows)
    if size < 2:
        return []
    signed, outcomes = SignedMessages.make(size), []
    for method in ("copy", "shuffle", "mst"):
        say(f"{size} signed rows: {method}")
        outcomes.append(judged(signed, method).outcome)
    return outcomes
