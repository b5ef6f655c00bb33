"""Certificates: what a release was and what it cost, signed by the vault, for anyone who has its public key."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.core import record as records
from discreet.core.errors import BadParameter, Refusal
from discreet.core.value import dataclass
from discreet.ledger.entry import canonical
from discreet.ledger.integrity import keys
from discreet.ledger.refusals import Conflict, Tampered

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss
    from discreet.ledger.store import Transaction

VERSION = 1

# The deltas at which the epsilon of every loss is stated, beside that of each account's own budget.
DELTAS = (Fraction(1, 10**5), Fraction(1, 10**6), Fraction(1, 10**9))

CLAIMS = (
    "accounts",
    "assumptions",
    "code",
    "entry",
    "files",
    "invariants",
    "protects",
    "public_key",
    "question",
    "settled",
    "tables",
    "unit",
    "vault",
)

_SIGNATURE, _KEY = re.compile("[0-9a-f]{128}"), re.compile("[0-9a-f]{64}")

_NEW = "ask whoever gave it to you for the file as discreet certificate make wrote it"


@dataclass(frozen=True, slots=True)
class Certificate:
    """What one release was: claims, as plain JSON values, and the vault's Ed25519 signature over all of them.

    Guarantee: the claims are computed from the question, the declarations and the ledger alone, none from a record;
    the only hashes are those of entries and of what was published.
    """

    claims: Mapping[str, Any]
    signature: str

    @classmethod
    def signed(cls, claims: Mapping[str, Any], sign: Callable[[bytes], str]) -> Certificate:
        """Return the certificate of some claims."""
        return cls(records.fields("certificate", dict(claims), CLAIMS), sign(_message(claims)))

    def to_json(self) -> str:
        """Write the certificate in the one way in which it is read: canonical JSON, one line."""
        return canonical({"certificate": self.claims, "discreet": VERSION, "signature": self.signature}) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read what `to_json` wrote, byte for byte; whether to believe it is for `check` to say."""
        try:
            found = json.loads(text)
            envelope = records.fields("certificate", found, ("certificate", "discreet", "signature"))
            claims = records.fields("certificate", envelope["certificate"], CLAIMS)
            made = cls(claims, envelope["signature"])
            same = type(envelope["discreet"]) is int and made.to_json() == text and bool(text.encode())
        except (TypeError, ValueError, RecursionError):  # refusals of fields are values that make no sense as well
            raise _unread("it is no certificate, or more was changed in it than one can tell") from None
        if envelope["discreet"] != VERSION:
            raise _unread(f"this release reads format {VERSION}")
        if not same or not isinstance(made.signature, str) or not _SIGNATURE.fullmatch(made.signature):
            raise _unread("it is not written in the one way in which certificates are, so it was changed")
        return made

    def check(self, public_keys: Collection[str], vault: str | None = None) -> None:
        """Refuse a certificate that was not signed by one of the keys, that was changed, or is of another vault.

        Guarantee: what passes was signed, in every byte, by the holder of one of these keys.
        """
        mine = self.claims["public_key"]
        if vault is not None and self.claims["vault"] != vault:
            why, fix = "it is of another vault", "compare it with the public key of the vault that it names"
            raise Conflict("the certificate", why=why, fix=fix, value=str(self.claims["vault"]))
        if mine not in public_keys:
            why, fix = "it names another public key than yours", "ask the custodian for the public key of this vault"
            raise Conflict("the certificate", why=why, fix=fix, value=str(mine))
        if not keys.is_signed(mine, self.signature, _message(self.claims)):
            raise Tampered("the certificate", why="the signature is not that of its claims", fix=_NEW)

    def check_chain(self, transaction: Transaction) -> None:
        """Refuse a certificate whose entries are not those of the chain."""
        for name, kind in (("entry", "charge"), ("settled", "settle")):
            claimed = self.claims[name]
            there = transaction.entry(claimed["sequence"])
            if there is None or not there.sealed or (there.kind, there.hash) != (kind, claimed["hash"]):
                why = f"entry {claimed['sequence']} of the vault is not the one that it names"
                raise Tampered("the certificate", why=why, fix="verify the vault", sequence=claimed["sequence"])


def checked(text: str, public_keys: Collection[str], vault: str | None = None) -> Certificate:
    """Read a certificate and check it against public keys that were come by elsewhere; needs no vault."""
    certificate = Certificate.from_json(text)
    certificate.check(public_keys, vault)
    return certificate


def public_key_of(text: str) -> str:
    """Return a public key as certificates write it, or refuse what is none."""
    key = text.strip().lower()
    if _KEY.fullmatch(key) is None:
        why, fix = "a public key is 64 hexadecimal digits", "copy it from the last line of discreet verify"
        raise BadParameter("key", text, why=why, fix=fix)
    return key


def epsilons(loss: PrivacyLoss, deltas: Iterable[Fraction]) -> list[dict[str, Any]]:
    """Return the epsilon of a loss by every accountant that supports it, rounded up, at each delta.

    A figure of the numerical accountant is that of mechanisms fixed in advance, as those of one release are.
    """
    found = []
    for delta in sorted(set(deltas), reverse=True):
        by = {method: _figure(loss.epsilon(delta, method=method)) for method in loss.methods()}
        found.append({"delta": str(delta), "epsilon": _figure(_tightest(loss, delta)), "accountants": by})
    return found


def _tightest(loss: PrivacyLoss, delta: Fraction) -> float:
    try:
        return loss.epsilon(delta)
    except Refusal:  # a loss that no accountant supports
        return math.inf


def _figure(epsilon: float) -> float | None:
    """Return an epsilon as JSON has it; None where none holds."""
    return float(epsilon) if math.isfinite(epsilon) else None


def _message(claims: Mapping[str, Any]) -> bytes:
    return f"discreet certificate\n{VERSION}\n{canonical(claims)}".encode()


def _unread(why: str) -> Tampered:
    return Tampered("the certificate", why=why, fix=_NEW)
