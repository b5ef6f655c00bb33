"""Work limits: what a custodian lets one question cost at least, take at most, and show of its time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.account.budgets.exceeded import rounded_up
from discreet.account.budgets.filter import PrivacyFilter, PureFilter, ZcdpFilter
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.pure import Pure
from discreet.core import record as records
from discreet.core.errors import BadParameter, Refusal
from discreet.core.rational import as_written
from discreet.core.value import dataclass, fields, replace
from discreet.plan.stability import MOST_PAIRS, expansion

if TYPE_CHECKING:
    from discreet.core.schema import Table
    from discreet.ledger.ledger import Ledger
    from discreet.plan.nodes import Plan

KIND, NAME = "work", "vault"
# What the ledger says of a question whose deadline passed; the custodian finds it by these words.
DEADLINE_PASSED = "its deadline passed before the engine finished"
# Larger budgets promise nobody anything; the least price does not grow with them.
_LARGEST = Fraction(100)
# What is drawn is discrete, so that a question may cost a little less than its price.
_MARGIN = Fraction(1, 10**4)
# Some forty days: more than any machine can wait for.
_LONGEST = 4_000_000
_FEWER = "keep fewer partners of each row, join(..., most=3), or give public tables fewer rows for a key"
# The share of a pace that is left to settle an answer in, so that a response ends with the pace its work ended with.
_SETTLING = 0.1


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """Limits on the work, and so on the time, of every question of a vault; analysts choose none of them.

    `least_price` is the share of an account's budget that a question costs at least, as the budget's filter counts it:
    at most 1/least_price questions fit. For it a debit is begun at most 16 times, and its time seen as often.
    `partners` is the most rows that all joins of a question may make of one. `deadline` is how many seconds an engine
    may work on a question. `pace` rounds response times up to its next multiple, in seconds, and the times at which
    answers are settled; 0 is off.

    Guarantee: each is a function of the question and the policy; none is of a record.
    """

    least_price: Fraction = Fraction(1, 10**6)
    partners: int = MOST_PAIRS
    deadline: Fraction = Fraction(3600)
    pace: Fraction = Fraction(0)

    FIELDS: ClassVar[tuple[str, ...]] = ("least_price", "partners", "deadline", "pace")

    def __post_init__(self) -> None:
        if not 0 <= self.least_price <= 1:
            why, fix = "it is a share of the budget", "use a number from 0 to 1, such as 1e-6"
            raise BadParameter("least_price", float(self.least_price), why=why, fix=fix)
        if isinstance(self.partners, bool) or not isinstance(self.partners, int) or self.partners < 1:
            why, fix = "rows are counted by positive integers", f"use the default, {MOST_PAIRS}"
            raise BadParameter("partners", self.partners, why=why, fix=fix)
        if not 0 < self.deadline <= _LONGEST:
            why, fix = "a deadline is a positive number of seconds", "use seconds: 3600 is an hour"
            raise BadParameter("deadline", float(self.deadline), why=why, fix=fix)
        if not 0 <= self.pace <= self.deadline:
            why, fix = "it is a number of seconds, and at most the deadline", "use 1, for example, or 0 for none"
            raise BadParameter("pace", float(self.pace), why=why, fix=fix)

    def with_changes(self, changes: Mapping[str, Any]) -> WorkLimits:
        """Return the limits with those given changed; None leaves one as it is."""
        given = {name: value for name, value in changes.items() if value is not None}
        return replace(self, **_each(given, as_written))

    @property
    def changed(self) -> dict[str, float]:
        """The limits that differ from the default ones, as numbers to show."""
        usual = WorkLimits()
        names = (name for name in self.FIELDS if getattr(self, name) != getattr(usual, name))
        return {name: float(getattr(self, name)) for name in names}

    def record(self) -> dict[str, Any]:
        """Return the limits as plain JSON values, exact."""
        return {"partners": self.partners} | {
            each.name: str(getattr(self, each.name)) for each in fields(self) if each.name != "partners"
        }

    @classmethod
    def from_record(cls, record: object) -> WorkLimits:
        """Read what `record` returned, checking it anew."""
        found = records.fields("work", record, cls.FIELDS)
        return cls(**_each(found, lambda _, text: Fraction(text)))

    @classmethod
    def of(cls, ledger: Ledger) -> WorkLimits:
        """Return the limits of a vault; the default ones where its custodian set none."""
        found = [each for each in ledger.list(KIND) if each.name == NAME]
        return cls.from_record(found[0].record) if found else cls()

    def check_price(self, account: str, filter_: PrivacyFilter, loss: PrivacyLoss) -> None:
        """Refuse a question that costs next to nothing: the time it takes would be learned for nothing, at will."""
        if not _reaches(filter_, loss, self.least_price):
            raise Refusal(
                f"a price below {_short(self.least_price)} of the budget of {account}",
                why="almost free questions could be asked without limit, and their response times leak",
                fix=f"pay at least {_least(filter_, self.least_price)}; the custodian sets least_price in the policy",
                value=account,
            )

    def check_joins(self, plan: Plan, tables: Mapping[str, Table], fix: str = _FEWER) -> None:
        """Refuse joins that make more rows of one than the policy allows; `fix` is in the words of whoever asks."""
        if (rows := expansion(plan, tables)) > self.partners:
            raise BadParameter(
                "join",
                rows,
                why=f"its joins make up to {rows:,} rows of one, and the policy allows {self.partners:,}: one person"
                " would decide how long the answer takes",
                fix=fix,
            )

    @contextmanager
    def paced(self) -> Iterator[Pace]:
        """Have what is inside the block take a whole number of paces, whether it succeeds or fails."""
        pace = Pace(float(self.pace), time.monotonic())
        try:
            yield pace
        finally:
            pace.wait()


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace of one response: its seconds, 0 for none, and when the response began."""

    seconds: float
    begun: float

    @contextmanager
    def working(self) -> Iterator[None]:
        """Have the work inside the block end a tenth of a pace before a whole number of paces, on failure too.

        Guarantee: what is settled after it, which others may see at once, shows no more of its time than the response.
        """
        try:
            yield
        finally:
            self.wait(early=_SETTLING)

    def wait(self, early: float = 0.0) -> None:
        """Sleep until a whole number of paces since the response began, or so large a share of one before that."""
        if self.seconds:
            paces = (time.monotonic() - self.begun) / self.seconds + early
            time.sleep((math.ceil(paces) - paces) * self.seconds)


def _each(values: Mapping[str, Any], exact: Callable[[str, Any], Fraction]) -> dict[str, Any]:
    """Return the limits by name, all but the whole number made exact."""
    return {name: value if name == "partners" else exact(name, value) for name, value in values.items()}


@dataclass(frozen=True, slots=True)
class Late:
    """A question that was stopped at its deadline: the ledger's entry, when it was, who asked, about what."""

    sequence: int
    at: str
    analyst: str | None
    question: str


def late(ledger: Ledger) -> list[Late]:
    """Return the questions that were stopped at their deadline, the oldest first."""
    found = [(each.sequence, each.record()) for each in ledger.entries() if each.kind == "refusal"]
    return [
        Late(sequence, body["at"], body["analyst"], body["question"])
        for sequence, body in found
        if body["refused"]["why"] == DEADLINE_PASSED
    ]


def _reaches(filter_: PrivacyFilter, loss: PrivacyLoss, share: Fraction) -> bool:
    """Say whether at most 1/share such losses fit a budget, as its filter counts them.

    A loss that the filter cannot count is for it to refuse.
    """
    try:
        takes = filter_.takes(loss)
        return all(cost >= min(room, _LARGEST) * share * (1 - _MARGIN) for cost, room in takes)
    except Refusal:
        return True


def _least(filter_: PrivacyFilter, share: Fraction) -> str:
    """Say the least price, in the words in which prices are given: rho, or epsilon, whose square a filter may count."""
    if isinstance(filter_, PureFilter | ZcdpFilter):
        return f"{filter_.currency}={rounded_up(min(filter_.budget.loss, _LARGEST) * share)}"
    low, high = Fraction(0), 2 * _LARGEST
    while high - low > high / 1000:
        middle = (low + high) / 2
        enough = _reaches(filter_, Pure(middle, relation=filter_.relation), share)
        low, high = (low, middle) if enough else (middle, high)
    return f"epsilon={rounded_up(high)} for one number"


def _short(share: Fraction) -> str:
    return f"{float(share):g}"
