"""Charges, and what each kind of entry means for accounts, debits, documents and grants.

A ledger writes an entry and derives rows from it in one transaction; verifying a vault derives them all again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from secrets import token_hex
from types import MappingProxyType
from typing import Any, TypeVar

from discreet.account.losses.loss import PrivacyLoss
from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass, replace
from discreet.ledger import limit
from discreet.ledger.entry import Entry, canonical, digest
from discreet.ledger.limit import LimitStep
from discreet.ledger.refusals import Tampered
from discreet.ledger.store import Debit, Limit, Paper, Permit, Transaction


@dataclass(frozen=True, slots=True)
class Charge:
    """A question about to be asked: its text, what it costs each account, and the versions of the tables it reads.

    `question` is the canonical JSON of plan and parameters; `key` tells repeated charges from new ones and is by
    default made of the question and the versions, never of data; `label` is a few words for people. Work
    that is done `once` is never started a second time, and needs no fixed draws.
    """

    question: str
    losses: Mapping[str, PrivacyLoss]
    tables: Mapping[str, int]
    analyst: str | None = None
    grant: str | None = None
    key: str = field(default=None)  # type: ignore[assignment]  # settled in __post_init__
    label: str = ""
    once: bool = False

    def __post_init__(self) -> None:
        _text("question", self.question)
        if not self.losses or not all(isinstance(loss, PrivacyLoss) for loss in self.losses.values()):
            why = "a question about private tables costs every account it touches a loss"
            raise BadParameter("losses", dict(self.losses), why=why, fix="give account names and their losses")
        if not self.tables or not all(_is_version(version) for version in self.tables.values()):
            why = "an answer belongs to numbered versions of the tables it was computed from"
            raise BadParameter("tables", dict(self.tables), why=why, fix="give table names and version counters")
        object.__setattr__(self, "losses", MappingProxyType(dict(sorted(self.losses.items()))))
        object.__setattr__(self, "tables", MappingProxyType(dict(sorted(self.tables.items()))))
        for name in (*self.losses, *self.tables):
            _text("name", name)
        if self.key is None:
            object.__setattr__(self, "key", self.identity)
        _text("key", self.key)

    @property
    def identity(self) -> str:
        """The SHA-256 of question and tables: what a key must always mean."""
        return digest(self.question, canonical(dict(self.tables)))

    @property
    def price(self) -> str:
        """The SHA-256 of the losses, account by account."""
        return digest(canonical(self.loss_records()))

    def fresh(self) -> Charge:
        """Return the same question under a new random key: it pays again and gets an answer of its own."""
        return replace(self, key=token_hex(32))

    def loss_records(self) -> dict[str, Any]:
        """Return the full loss of each account as plain JSON values."""
        return {account: loss.record() for account, loss in self.losses.items()}

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {
            "question": self.question,
            "losses": self.loss_records(),
            "tables": dict(self.tables),
            "analyst": self.analyst,
            "grant": self.grant,
            "key": self.key,
            "label": self.label,
        }


_RECEIPT = ("sequence", "key", "head", "losses", "remaining", "replayed")


@dataclass(frozen=True, slots=True)
class Receipt:
    """The proof of a charge: its entry's number and hash, the losses, and what each account has left.

    `remaining` has for each account the currency and the exact amounts, as texts. `replayed` says that this time
    nothing was charged: the receipt is that of whoever paid.
    """

    sequence: int
    key: str
    head: str
    losses: Mapping[str, PrivacyLoss]
    remaining: Mapping[str, Mapping[str, str]]
    replayed: bool = False

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        losses = {account: loss.record() for account, loss in self.losses.items()}
        remaining = {account: dict(amounts) for account, amounts in self.remaining.items()}
        values = (self.sequence, self.key, self.head, losses, remaining, self.replayed)
        return dict(zip(_RECEIPT, values, strict=True))

    @classmethod
    def from_record(cls, record: object) -> Receipt:
        """Read what `record` returned."""
        known = records.fields("receipt", record, _RECEIPT)
        return cls(**{**known, "losses": read_losses(known["losses"])})

    def to_json(self) -> str:
        """Write the receipt as versioned JSON."""
        return records.write("receipt", self.record())

    @classmethod
    def from_json(cls, text: str) -> Receipt:
        """Read what `to_json` wrote."""
        return cls.from_record(records.read("receipt", text))


def read_losses(record: Mapping[str, Any]) -> dict[str, PrivacyLoss]:
    """Return the losses that were stored as records, account by account."""
    return {account: _loss(records.write("loss", loss)) for account, loss in record.items()}


_loss = lru_cache(maxsize=1024)(PrivacyLoss.from_json)


def _is_version(version: object) -> bool:
    return isinstance(version, int) and not isinstance(version, bool) and version >= 0


def _text(name: str, value: object) -> None:
    """Refuse what is not a text that can be stored and hashed."""
    try:
        good = isinstance(value, str) and bool(value) and bool(value.encode())
    except UnicodeEncodeError:
        good = False
    if not good:
        raise BadParameter(name, value, why="it has to be a text of at least one character", fix="pass a str")


Body = Mapping[str, Any]
T = TypeVar("T")


def enter(transaction: Transaction, kind: str, body: Body, steps: Sequence[LimitStep] | None = None) -> Entry:
    """Append an entry and store what follows from it; it is never dated before the entry before it."""
    body = {**body, "at": transaction.date(body["at"])}
    entry = transaction.append(kind, canonical(body))
    derive(transaction, entry.sequence, kind, body, steps)
    return entry


def derive(
    transaction: Transaction, sequence: int, kind: str, body: Body, steps: Sequence[LimitStep] | None = None
) -> None:
    """Store the rows that follow from one entry; the steps of a charge, unless given, are repeated from its body."""
    match kind:
        case "vault" | "refusal":
            pass
        case "account":
            _limit(transaction, sequence, body, analyst="", period="")
        case "window":
            _limit(transaction, sequence, body, analyst="", period=body["period"])
        case "clock":
            _correct(transaction, sequence, body["at"])
        case "document":
            record_ = canonical(body["record"])
            transaction.put(Paper(body["kind"], body["name"], body["revision"], record_, sequence))
        case "grant":
            _grant(transaction, sequence, body)
        case "revoke":
            for each in body["grants"]:
                transaction.put(replace(_there(transaction.get(Permit, each), "grant"), revoked=sequence))
        case "charge":
            _charge(transaction, sequence, body, steps)
        case "settle" | "failure":
            debit = _there(transaction.get(Debit, body["key"]), "charge")
            if (debit.sequence, debit.settled) != (body["charge"], None):
                raise Tampered("a settlement", why="it names another charge, or one that was settled before")
            digest_ = body["answer"] if kind == "settle" else None
            transaction.put(replace(debit, settled=sequence, fence=body["fence"], digest=digest_))
        case _:
            raise Tampered("an entry", why=f"no ledger of this release writes the kind {kind!r}")


def _limit(transaction: Transaction, sequence: int, body: Body, *, analyst: str, period: str) -> None:
    filter_ = limit.filter_of(body["filter"])
    transaction.put(limit.new_limit(body["account"], analyst, period, filter_, body["at"], sequence))


def _correct(transaction: Transaction, sequence: int, at: str) -> None:
    """Put windows of the future back into the present; what was spent in them counts there."""
    for each in [*transaction.all(Limit)]:
        label = at[: limit.PERIODS[each.period]]
        if each.label > label:
            transaction.put(replace(each, label=label, sequence=sequence))


def _grant(transaction: Transaction, sequence: int, body: Body) -> None:
    tables = canonical(body["tables"])
    transaction.put(
        Permit(
            body["grant"],
            body["analyst"],
            body["role"],
            tables,
            body["expires"],
            body["salt"],
            body["hash"],
            None,
            sequence,
        )
    )
    for period, filters in (("", body["caps"]), ("month", body["monthly"])):
        for account, filter_ in filters.items():
            _cap(transaction, sequence, body, account, period, filter_)


def _cap(
    transaction: Transaction, sequence: int, body: Body, account: str, period: str, filter_: Mapping[str, Any] | None
) -> None:
    """Store the analyst's one cap on an account, with what they have spent already, or take it away."""
    there = transaction.get(Limit, account, body["analyst"], period)
    if filter_ is not None:
        made = limit.new_limit(account, body["analyst"], period, limit.filter_of(filter_), body["at"], sequence)
        # A clock that was set back stays in the newest period seen.
        transaction.put(replace(made, label=max(made.label, there.label if there else "")))
    elif there is not None:
        transaction.delete(there)


def _charge(transaction: Transaction, sequence: int, body: Body, steps: Sequence[LimitStep] | None) -> None:
    if steps is None:
        if transaction.get(Debit, body["key"]) is not None:
            raise Tampered("a charge", why="its key was charged before")
        losses = read_losses(dict(sorted(body["losses"].items())))
        steps = limit.repeat(transaction, losses, body["analyst"] or "", body["at"], body["costs"])
    limit.spend(transaction, sequence, steps, body["analyst"])
    identity = digest(body["question"], canonical(body["tables"]))
    transaction.put(Debit(body["key"], identity, digest(canonical(body["losses"])), sequence))


def _there(row: T | None, kind: str) -> T:
    if row is None:
        raise Tampered("an entry", why=f"it speaks of a {kind} that was never made")
    return row
