"""Attestations: a head of a vault and what was spent by then, signed, in the hands of whoever got an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.ledger import limit
from discreet.ledger.entry import Head, canonical
from discreet.ledger.integrity.keys import Signer
from discreet.ledger.store import Transaction

_FIELDS = ("vault", "sequence", "head", "spent", "public_key", "signature")


@dataclass(frozen=True, slots=True)
class Attestation:
    """What a vault says of itself with every answer: its newest entry, and what some accounts had spent by then.

    Guarantee: it is signed by the vault, so that whoever shows it can only show what was so.
    """

    vault: str
    sequence: int
    head: str
    spent: Mapping[str, list[str]]
    public_key: str
    signature: str

    @classmethod
    def signed(cls, statement: Mapping[str, Any], signer: Signer) -> Self:
        """Sign a statement."""
        message = _message(signer.vault_id, statement)
        return cls(signer.vault_id, **statement, public_key=signer.public_key, signature=signer.sign(message))

    def check(self, signer: Signer) -> None:
        """Refuse an attestation that this vault has not signed."""
        said = {"sequence": self.sequence, "head": self.head, "spent": self.spent}
        known = self.vault == signer.vault_id
        signed = (self.public_key, self.signature, _message(self.vault, said), self.sequence)
        if not known or not signer.has_signed(*signed):
            why = "this vault has not signed it" if known else "it is of another vault"
            fix = "show a receipt as this vault gave it: the file that discreet ask --save wrote"
            raise BadParameter("receipt", self.sequence, why=why, fix=fix)

    @property
    def place(self) -> Head:
        """The head that it vouches for."""
        return Head(self.sequence, self.head)

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {name: getattr(self, name) for name in _FIELDS} | {"spent": {**self.spent}}

    @classmethod
    def from_record(cls, record: object) -> Self:
        """Read what `record` returned, or a receipt that has it, or an answer that has that."""
        found = getattr(record, "receipt", record)
        found = getattr(found, "attested", found)
        for outer in ("answer", "receipt", "attested"):
            if isinstance(found, Mapping) and outer in found:
                found = found[outer]
        made = cls(**records.fields("attestation", found, _FIELDS))
        texts = (made.vault, made.head, made.public_key, made.signature)
        amounts = made.spent.values() if isinstance(made.spent, dict) else [None]
        if type(made.sequence) is not int or not all(isinstance(text, str) for text in texts) or None in amounts:
            why, fix = "a field has another type than a vault writes", "show the receipt as the vault gave it"
            raise BadParameter("receipt", str(made.sequence), why=why, fix=fix)
        return made


def statement(transaction: Transaction, accounts: Iterable[str]) -> dict[str, Any]:
    """Return what can be attested now: the head, and what accounts have spent, as their filters count."""
    head = transaction.head()
    spent = {name: [*limit.account_filter(transaction, name).spent.texts()] for name in sorted(accounts)}
    return {"sequence": head.sequence, "head": head.hash, "spent": spent}


def _message(vault: str, said: Mapping[str, Any]) -> bytes:
    return f"discreet attestation\n{vault}\n{canonical(dict(said))}".encode()
