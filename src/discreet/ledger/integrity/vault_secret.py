"""The vault's random secret: the keys that follow from it, and what the chain says when another takes its place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from discreet.core.value import dataclass
from discreet.ledger.integrity import keys
from discreet.ledger.integrity.seal import Sealer
from discreet.ledger.store import Paper, Raw, Secret, Transaction

# The document that says what the secrets of a vault commit to, and the row of the keys that outlive them.
NAME = "secret"
RECOGNITION = "recognition"

# What people and rows are known again by: an exchange that made these anew would know no copy of them any more, and
# rows that are gone cannot be sketched again. So they are those of the first secret, for good.
PURPOSES = ("people sketches", "source fingerprints")


@dataclass(frozen=True, slots=True)
class VaultSecret:
    """A vault's secret as it is now, how often it was exchanged, and the keys that stayed."""

    value: bytes
    recognition: bytes
    exchanges: int
    sealer: Sealer

    def __repr__(self) -> str:
        return "VaultSecret(hidden)"

    @classmethod
    def of(cls, raw: Raw | Transaction) -> VaultSecret:
        """Read it; whether it is the one of the chain is for `check` to say."""
        held, said = raw.get(Secret, "secret"), raw.get(Paper, keys.KIND, NAME)
        kept = raw.get(Secret, RECOGNITION)
        assert held is not None  # whoever opens a vault has seen it
        return cls(held.value, kept.value if kept else b"", said.revision if said else 0, Sealer(held.value))

    def key(self, purpose: str) -> bytes:
        """Return the key for one purpose: that of the secret, or of the first one where rows are known again by it."""
        if purpose in PURPOSES and self.recognition:
            place = 32 * PURPOSES.index(purpose)
            return self.recognition[place : place + 32]
        return keys.derive(self.value, purpose)

    def exchanged(self, new: bytes) -> VaultSecret:
        """Return what holds when another secret has taken its place.

        Guarantee: the keys by which people and rows are known again stay what they were.
        """
        stay = b"".join(self.key(purpose) for purpose in PURPOSES)
        return VaultSecret(new, stay, self.exchanges + 1, Sealer(new))

    def said(self, former: Mapping[str, Any] | None, until: int) -> dict[str, Any]:
        """Return what the chain says of this secret, given what it said of those before: commitments, no key."""
        known = former["secrets"] if former else []
        return {
            "secrets": [*known, {"commitment": keys.commitment(self.value), "until": until}],
            RECOGNITION: _commitment(self.recognition),
        }


def check(live: Raw | Transaction, first: str, held: Mapping[str, bytes]) -> bool:
    """Whether the secret, and the keys that outlive it, are those that the chain names; `first` is in its first entry.

    Guarantee: a vault that was given back a former secret, or other keys to know people by, is not opened.
    """
    there = live.get(Paper, keys.KIND, NAME)
    if there is None:
        return RECOGNITION not in held and keys.commitment(held["secret"]) == first
    said = json.loads(there.record)
    newest = said["secrets"][-1]["commitment"]
    return (keys.commitment(held["secret"]), _commitment(held[RECOGNITION])) == (newest, said[RECOGNITION])


def _commitment(kept: bytes) -> str:
    return sha256(b"discreet recognition commitment\0" + kept).hexdigest()
