"""Charges and receipts: what a question costs which account, and the proof that it was paid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from secrets import token_hex
from types import MappingProxyType
from typing import Any

from discreet.account.losses.loss import PrivacyLoss
from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass, replace
from discreet.ledger.entry import canonical, digest


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


_RECEIPT = ("sequence", "key", "head", "losses", "remaining", "replayed", "attested")


@dataclass(frozen=True, slots=True)
class Receipt:
    """The proof of a charge: its entry's number and hash, the losses, and what each account has left.

    `remaining` has for each account the currency and the exact amounts, as texts. `replayed` says that this time
    nothing was charged: the receipt is that of whoever paid. `attested` is the vault's signed word on its newest entry
    and on what was spent by then (`Attestation`): who shows it can tell an older copy of the vault.
    """

    sequence: int
    key: str
    head: str
    losses: Mapping[str, PrivacyLoss]
    remaining: Mapping[str, Mapping[str, str]]
    replayed: bool = False
    attested: Mapping[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        losses = {account: loss.record() for account, loss in self.losses.items()}
        remaining = {account: dict(amounts) for account, amounts in self.remaining.items()}
        values = (self.sequence, self.key, self.head, losses, remaining, self.replayed, dict(self.attested))
        return dict(zip(_RECEIPT, values, strict=True))

    @classmethod
    def from_record(cls, record: object) -> Receipt:
        """Read what `record` returned; those of earlier releases attest nothing."""
        whole = {"attested": {}, **record} if isinstance(record, dict) else record
        known = records.fields("receipt", whole, _RECEIPT)
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
