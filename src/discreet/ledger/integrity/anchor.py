"""The keys of a vault, and its anchor: a signed copy of the chain's head outside, by which an older vault is found.

It has two slots and the older one is overwritten, in place: a torn write spoils one slot, and the other still holds.
It is not flushed: an anchor that is older than the vault still has to be on its chain, so losing the last
write of it only means that the last few entries are not covered until the next commit.
"""

from __future__ import annotations

import hmac
import json
import os
import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.ledger.entry import Head
from discreet.ledger.refusals import Tampered, Unavailable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def derive(secret: bytes, purpose: str) -> bytes:
    """Return 32 bytes for one purpose of a caller (HKDF with SHA-256, RFC 5869, one block).

    Guarantee: keys of different purposes tell nothing about each other or about the secret.
    """
    return _expanded(secret, "purpose " + purpose)


def commitment(secret: bytes) -> str:
    """Return what the first entry says about the secret: enough to notice another one, of no use to find it."""
    return _expanded(secret, "commitment").hex()


def seal(secret: bytes, *fields: str) -> str:
    """Return a keyed hash of several texts, each with its length; it tells nothing without the secret."""
    found = hmac.new(_expanded(secret, "private records"), digestmod=sha256)
    for field in fields:
        content = field.encode()
        found.update(len(content).to_bytes(8, "big") + content)
    return found.hexdigest()


def new_signing_key() -> bytes:
    """Return a new private Ed25519 key, as its 32 bytes."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.generate().private_bytes_raw()


def signing_key(private: bytes) -> Ed25519PrivateKey:
    """Return the key that signs."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(private)


def is_signed(public: str, signature: str, message: bytes) -> bool:
    """Whether the signature of the message is by the public key; all texts are hexadecimal."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _expanded(secret: bytes, info: str) -> bytes:
    extracted = hmac.digest(b"discreet vault", secret, "sha256")
    return hmac.digest(extracted, info.encode() + b"\x01", "sha256")


SLOT = 512
_NUMBER = re.compile(rb'"sequence": (\d+),')
_FIELDS = ("vault", "sequence", "head", "public_key", "signature")


@dataclass(frozen=True, slots=True)
class Anchor:
    """What one slot says: the vault, a head of its chain, and the signature of the vault's key over both."""

    vault: str
    sequence: int
    head: str
    public_key: str
    signature: str

    @classmethod
    def signed(cls, vault: str, head: Head, key: Ed25519PrivateKey, public_key: str) -> Anchor:
        """Return the anchor of a head, signed."""
        return cls(vault, head.sequence, head.hash, public_key, key.sign(_message(vault, head)).hex())

    @property
    def valid(self) -> bool:
        """Whether the signature is by the public key."""
        return is_signed(self.public_key, self.signature, _message(self.vault, Head(self.sequence, self.head)))

    def to_slot(self) -> bytes:
        """Write the anchor as one line of exactly a slot's length."""
        text = records.write("anchor", {name: getattr(self, name) for name in _FIELDS})
        return text.ljust(SLOT - 1).encode() + b"\n"

    @classmethod
    def from_slot(cls, slot: bytes) -> Anchor | None:
        """Read a slot; None if it holds no anchor, as after a torn write."""
        try:
            found = cls(**records.fields("anchor", records.read("anchor", slot.decode()), _FIELDS))
        except (BadParameter, UnicodeDecodeError, json.JSONDecodeError):
            return None
        texts = (found.vault, found.head, found.public_key, found.signature)
        return found if type(found.sequence) is int and all(isinstance(text, str) for text in texts) else None


class AnchorFile:
    """The file that holds a vault's anchors: beside it or, for one in a database, on every machine that uses it."""

    def __init__(self, path: Path, vault_id: str, private_key: bytes) -> None:
        self.path = path
        self._vault_id = vault_id
        self._private_key = private_key
        self._key: Ed25519PrivateKey | None = None
        self._public_key = ""

    @property
    def public_key(self) -> str:
        """The key by which anyone can check an anchor."""
        self._load()
        return self._public_key

    def write(self, head: Head) -> None:
        """Sign a head and put it into the slot that holds the older one."""
        anchor = Anchor.signed(self._vault_id, head, self._load(), self._public_key).to_slot()
        try:
            file = self._opened()
            try:
                found = [self._sequence(slot) for slot in _slots(os.read(file, 2 * SLOT))]
                older = found.index(min(found))
                if found[older] < head.sequence:  # another process may have come by with a newer one
                    os.lseek(file, older * SLOT, os.SEEK_SET)
                    os.write(file, anchor)
            finally:
                os.close(file)
        except OSError as error:
            why = f"the head of the chain cannot be written outside the vault ({error.strerror})"
            fix = "make the anchor file writable and ask again: the charge is kept, and not made twice"
            raise Unavailable(f"the anchor {self.path}", why=why, fix=fix, value=str(self.path)) from None

    def newest(self) -> Anchor | None:
        """Return the newest anchor that this vault signed; None if there is no file."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            why, fix = (
                f"it cannot be read ({error.strerror})",
                "make it readable: without it an old copy of the vault is not detected",
            )
            raise Unavailable(f"the anchor {self.path}", why=why, fix=fix, value=str(self.path)) from None
        slots = [Anchor.from_slot(slot) for slot in _slots(content)]
        mine = [slot for slot in slots if slot and (slot.vault, slot.public_key) == (self._vault_id, self.public_key)]
        valid = [slot for slot in mine if slot.valid]
        if not valid:
            why = "it has no head that this vault signed"
            raise Tampered(f"the anchor {self.path}", why=why, fix="restore the anchor that belongs to this vault")
        return max(valid, key=lambda slot: slot.sequence)

    def _opened(self) -> int:
        """Open the file by its name, every time: it may have been moved or put back meanwhile."""
        how = os.O_CREAT | os.O_RDWR | getattr(os, "O_BINARY", 0)
        try:
            return os.open(self.path, how, 0o600)
        except FileNotFoundError:  # the folder of a machine's first anchor
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(self.path, how, 0o600)

    def _sequence(self, slot: bytes) -> int:
        """Return the number in a slot of this vault, or -1; its signature matters to readers alone."""
        found = _NUMBER.search(slot)
        return int(found[1]) if found and self._vault_id.encode() in slot else -1

    def _load(self) -> Ed25519PrivateKey:
        if self._key is None:
            self._key = signing_key(self._private_key)
            self._public_key = self._key.public_key().public_bytes_raw().hex()
        return self._key


def _slots(content: bytes) -> list[bytes]:
    return [content[:SLOT], content[SLOT : 2 * SLOT]]


def _message(vault: str, head: Head) -> bytes:
    return f"discreet anchor\n{vault}\n{head.sequence}\n{head.hash}".encode()
