"""Reports over a lifetime: a ledger on the client's side that prices every answer before it is given."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from discreet.account.budgets.exceeded import BudgetExceeded, rounded_down, rounded_up
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.pure import Pure
from discreet.account.numeric.checks import whole
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.rational import Number, as_written
from discreet.local.client_file import Book, ClientFile, ClientTopic
from discreet.local.grid import log_up
from discreet.local.protocol import Client, Protocol


@dataclass(frozen=True, slots=True)
class ReportPrice:
    """What a report would cost, what its topic has spent, and what the lifetime of the topic allows; all epsilons.

    `repeated` says that the value was answered before, and would be answered alike, at no cost.
    """

    topic: str
    cost: Fraction
    spent: Fraction
    lifetime: Fraction
    repeated: bool

    @property
    def left(self) -> Fraction:
        """What is left before the report."""
        return self.lifetime - self.spent

    @property
    def affordable(self) -> bool:
        """Whether the lifetime allows it."""
        return self.cost <= self.left

    def __str__(self) -> str:
        cost = "free, an answer that was given before" if self.repeated else f"epsilon {rounded_up(self.cost)}"
        verdict = "" if self.affordable else ": more than is left"
        return f"{self.topic}: {cost}; {rounded_down(self.left)} of {rounded_down(self.lifetime)} left{verdict}"


@dataclass(frozen=True, slots=True)
class ClientLedger:
    """One person's ledger: a file that holds the memo key and, for each topic, what its answers have cost.

    Guarantee: the reports of a topic cost at most its lifetime epsilon together, whatever is asked, as long as the file
    is kept. With a memo every distinct value pays once, and the same value is answered alike, so of two histories
    which repeat themselves at the same times neither is more than e^spent times as likely as the other. That a value
    changed is not hidden, and once nothing is left, neither is that a new value went unreported. Without a memo every
    report pays, and any two histories of so many reports are covered. The debit is on disk before a report leaves: a
    crash loses budget, never privacy. A deleted file begins a new life, and a restored old one forgets debits: neither
    can be seen from within the file.
    """

    path: Path
    clock: Callable[[], date] = date.today

    @property
    def file(self) -> ClientFile:
        """The file, with its lock."""
        return ClientFile(self.path)

    def topic(
        self, name: str, protocol: Protocol, *, lifetime: Number, memo: bool = True, per_day: int | None = None
    ) -> None:
        """Begin a topic, or go on with it under another protocol: what was spent stays spent.

        The lifetime epsilon may fall later, and never rise. `per_day` limits the reports that are paid for on a day; a
        protocol with `reports_per_day` limits them itself.
        """
        if not isinstance(name, str) or not name:
            raise BadParameter("name", name, why="a topic has a name", fix="use a short text")
        cap = as_written("lifetime", lifetime)
        if cap <= 0:
            raise BadParameter("lifetime", lifetime, why="nothing could be reported", fix="use a positive epsilon")
        daily = getattr(protocol, "reports_per_day", None) if per_day is None else whole("per_day", per_day)
        _cost(protocol, memo)  # a protocol without a price is refused here, not at its first report
        with self.file.opened() as book:
            known = book.topics.get(name)
            if known is not None and cap > known.lifetime:
                why = f"a lifetime budget is a guarantee, and {rounded_down(known.lifetime)} was set for this topic"
                raise BadParameter("lifetime", lifetime, why=why, fix="use as much or less")
            start = known if known is not None else ClientTopic(protocol.spec(), cap, memo, daily)
            book.topics[name] = replace(start, spec=protocol.spec(), lifetime=cap, memo=memo, per_day=daily)
            self.file.write(book)

    def price(self, topic: str, value: object) -> ReportPrice:
        """Return what a report of a value would cost; nothing is reported or spent."""
        with self.file.opened() as book:
            return self._priced(book, topic, value)[0]

    def report(self, topic: str, value: object) -> bytes:
        """Pay for a report, and return it; refuse it if the lifetime or the day does not allow it.

        Guarantee: see the class.
        """
        with self.file.opened() as book:
            price, protocol, mark = self._priced(book, topic, value)
            entry = book.topics[topic]
            if price.cost:
                book.topics[topic] = self._debited(entry, price, mark)
                self.file.write(book)
            key = hmac.digest(book.key, f"discreet.local topic {topic}".encode(), "sha256") if entry.memo else None
        return _client(protocol, key, mark).report(value)

    def spent(self, topic: str) -> PrivacyLoss:
        """Return what all reports of a topic have cost."""
        with self.file.opened() as book:
            return Pure(_entry(book, topic).spent, relation="replace")

    def _priced(self, book: Book, topic: str, value: object) -> tuple[ReportPrice, Protocol, str]:
        entry = _entry(book, topic)
        protocol = Protocol.from_spec(entry.spec)
        found = protocol.checked(cast(ArrayLike, [value]))[0]
        plain = found.item() if isinstance(found, np.generic) else found
        about = f"discreet.local seen {topic} {protocol.spec_hash} {plain!r}"
        mark = hmac.digest(book.key, about.encode(), "sha256")[:16].hex()
        repeated = entry.memo and mark in entry.seen
        cost = Fraction(0) if repeated else _cost(protocol, entry.memo)
        return ReportPrice(topic, cost, entry.spent, entry.lifetime, repeated), protocol, mark

    def _debited(self, entry: ClientTopic, price: ReportPrice, mark: str) -> ClientTopic:
        if not price.affordable:
            raise BudgetExceeded(
                "epsilon",
                price.cost,
                price.left,
                budget=price.lifetime,
                theorem="each distinct value pays again" if entry.memo else "each report pays again",
                fits="repeat an answer that was given before" if entry.memo else "report no more on this topic",
            )
        # A clock that is set back does not begin a new day.
        today = max(self.clock().isoformat(), entry.day)
        made = entry.today + 1 if today == entry.day else 1
        if entry.per_day is not None and made > entry.per_day:
            why = f"{entry.per_day} reports a day may be paid for on this topic, and as many were"
            raise Refusal(f"another report on {price.topic!r}", why=why, fix="report tomorrow", value=entry.per_day)
        seen = (*entry.seen, mark) if entry.memo else entry.seen
        return replace(entry, spent=entry.spent + price.cost, day=today, today=made, seen=seen)


def longitudinal(path: str | Path, *, clock: Callable[[], date] = date.today) -> ClientLedger:
    """Return the client ledger in a file, which is made if there is none: readable by its owner alone.

    Guarantee: see `ClientLedger`.
    """
    ledger = ClientLedger(Path(path), clock)
    with ledger.file.opened():
        return ledger


@dataclass(frozen=True, slots=True)
class Repeats:
    """What asking the same question many times does, without a memo and with one.

    `epsilon` is what so many fresh reports cost together, `memo` what they cost as one remembered answer; `recovered`
    is the probability with which the majority of fresh answers tells two values apart, which are at first told apart
    with the probability `once`.
    """

    times: int
    epsilon: float
    memo: float
    once: float
    recovered: float

    def __str__(self) -> str:
        fresh = (
            f"{self.times} fresh answers: epsilon {self.epsilon:.4g}, the majority is right with {self.recovered:.4f}"
        )
        return f"{fresh}; one remembered answer: epsilon {self.memo:.4g}, right with {self.once:.4f}"


def repeated(protocol: Protocol, times: int) -> Repeats:
    """Return what happens if a question is asked so many times.

    Any report is at most as telling as one bit of randomized response at its epsilon (Kairouz, Oh, Viswanath 2015), for
    which the majority is the best guess: `recovered` bounds what any reader of fresh reports can do.
    """
    count, odds = whole("times", times), protocol.odds
    truth = odds / (1 + odds)
    right = sum(_weight(count, hits) * truth**hits * (1 - truth) ** (count - hits) for hits in range(count + 1))
    one = log_up(odds)
    return Repeats(count, count * one, float(_cost(protocol, memo=True)), float(truth), float(right))


def _weight(count: int, hits: int) -> Fraction:
    """Return in how many ways so many answers are right, half of those that are a tie."""
    return Fraction(0) if 2 * hits < count else Fraction(comb(count, hits), 2 if 2 * hits == count else 1)


def _cost(protocol: Protocol, memo: bool) -> Fraction:
    """Return what an answer costs that has not been given before."""
    loss = cast(Any, protocol).loss_forever if memo and _permanent(protocol) else protocol.loss
    return Fraction(loss.epsilon(0))


def _permanent(protocol: Protocol) -> bool:
    # RAPPOR's clients draw one permanent answer for each value and report it afresh. Clients of other protocols that
    # share what they remember between values (telemetry) do not add up by values, and remember whole reports here.
    return protocol.name == "rappor"


def _client(protocol: Protocol, key: bytes | None, mark: str) -> Client:
    if key is None:
        return protocol.client()
    if not _permanent(protocol):
        return Client(protocol, key)
    # What pays apart is drawn apart: a key for each mark (of topic, protocol and value), and the topic's own cohort.
    own = hmac.digest(key, f"discreet.local answer {mark}".encode(), "sha256")
    return cast(Client, cast(Any, protocol).client(own, cohort=cast(Any, protocol.client(key)).cohort))


def _entry(book: Book, topic: str) -> ClientTopic:
    if topic not in book.topics:
        raise UnknownName("topic", str(topic), book.topics)
    return book.topics[topic]
