"""Collections: what is asked, of whom and how privately, signed, so clients know what they answer."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import whole
from discreet.core import record as records
from discreet.core.errors import BadParameter, Refusal
from discreet.local.protocol import Protocol, canonical

VERSION = 1
_DOMAIN = b"discreet collection\0"  # a signature of this key over anything else is none of a collection
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_. -]{0,63}")
_MOST_EPOCHS = 1 << 20
_FIELDS = ("version", "name", "revision", "protocol", "epochs", "minimum", "key")


class NotSigned(Refusal, ValueError):
    """A collection whose signature does not fit: changed on the way, or made by someone else."""


@dataclass(frozen=True, slots=True)
class Collection:
    """One question to many people: a protocol, how often it is asked, and how many must answer before one looks.

    `epochs` are numbered from 0; reports of different epochs are added up apart. Estimates wait for `minimum` reports.
    `revision` counts changes of a collection of the same name; another revision is another collection.
    `key` is the public Ed25519 key, in hexadecimal, of who asks.

    Guarantee: `hash` binds all of this; a report sent under it is counted under these parameters or not at all.
    """

    name: str
    protocol: Protocol
    epochs: int = 1
    minimum: int = 1
    revision: int = 1
    key: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            why = "it has 1 to 64 letters, digits, spaces, dots, dashes and underscores"
            raise BadParameter("name", self.name, why=why, fix="use a name such as 'start pages'")
        whole("minimum", self.minimum)
        whole("revision", self.revision)
        if whole("epochs", self.epochs) > _MOST_EPOCHS:
            why = f"a collection has at most {_MOST_EPOCHS} epochs"
            raise BadParameter("epochs", self.epochs, why=why, fix="begin another collection after them")

    def record(self) -> dict[str, Any]:
        """Return all of it as plain JSON values."""
        return {
            "version": VERSION,
            "name": self.name,
            "revision": self.revision,
            "protocol": self.protocol.spec(),
            "epochs": self.epochs,
            "minimum": self.minimum,
            "key": self.key,
        }

    @property
    def loss(self) -> PrivacyLoss:
        """What somebody loses who answers once in every epoch, each time with a report that is drawn afresh.

        Guarantee: an upper bound for the relation "replace", by composition. Clients with a memo are bounded by their
        own ledger, and not by this.
        """
        return self.protocol.loss * self.epochs

    @property
    def hash(self) -> bytes:
        """The SHA-256 of the canonical record: what every batch of reports says it was made for."""
        return hashlib.sha256(canonical(self.record())).digest()

    @staticmethod
    def from_record(record: object) -> Collection:
        """Read a record, checking it again."""
        found = records.fields("collection", record, _FIELDS)
        if type(found["version"]) is not int or found["version"] != VERSION:
            why, fix = f"this release reads version {VERSION}", "read it with the release that wrote it"
            raise BadParameter("version", found["version"], why=why, fix=fix)
        if not isinstance(found["protocol"], Mapping):
            why, fix = "it is no spec of a protocol", "pass the text that was signed, unchanged"
            raise BadParameter("protocol", found["protocol"], why=why, fix=fix)
        if not isinstance(found["key"], str) or not re.fullmatch(r"[0-9a-f]{64}", found["key"]):
            why = "a public Ed25519 key has 64 hexadecimal digits"
            raise BadParameter("key", found["key"], why=why, fix="pass the text that was signed, unchanged")
        return Collection(
            found["name"],
            Protocol.from_spec(found["protocol"]),
            epochs=found["epochs"],
            minimum=found["minimum"],
            revision=found["revision"],
            key=found["key"],
        )


def new_key() -> bytes:
    """Return a new private Ed25519 key, as its 32 bytes."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.generate().private_bytes_raw()


def sign(collection: Collection, private: bytes) -> str:
    """Return the collection as signed JSON text; its `key` becomes the public half of the private one.

    Guarantee: `read` accepts this text and, without the private key, no other.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    signer = Ed25519PrivateKey.from_private_bytes(private)
    record = {**collection.record(), "key": signer.public_key().public_bytes_raw().hex()}
    signature = signer.sign(_DOMAIN + canonical(record)).hex()
    return json.dumps({"collection": record, "signature": signature}, sort_keys=True, indent=1) + "\n"


def read(text: str, *, key: str | None = None) -> Collection:
    """Return the collection that a signed text describes, or refuse it; with `key`, only one signed by that key.

    Without `key` the signature shows that the text is whole, not who wrote it: get the text, or the key, from who asks.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        signed = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        fix = "pass the text that was signed, unchanged"
        raise BadParameter("collection", str(text)[:40], why="it is not JSON", fix=fix) from error
    parts = records.fields("collection", signed, ("collection", "signature"))
    collection = Collection.from_record(parts["collection"])
    if key is not None and collection.key != key.lower():
        fix = "ask the collector for its key, or leave it"
        raise NotSigned(
            f"collection {collection.name!r}", why="it was signed by another key", fix=fix, value=collection.key
        )
    try:
        signature = bytes.fromhex(parts["signature"])
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(collection.key)).verify(
            signature, _DOMAIN + canonical(collection.record())
        )
    except (InvalidSignature, TypeError, ValueError) as error:
        why, fix = "its signature does not fit", "get it again from who asks; do not answer this one"
        raise NotSigned(f"collection {collection.name!r}", why=why, fix=fix, value=parts["signature"]) from error
    return collection
