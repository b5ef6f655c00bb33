"""Keys of a vault: one random secret, from which every purpose has its own key, and a key that signs."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


# The document that says which keys a vault has signed with.
KIND, NAME = "keys", "vault"


class Signer:
    """The vault's key that signs, loaded when it is first needed, and the public keys that it had before.

    `retired` has for each of these the last entry that it signed for. Every kind of message begins with words of its
    own, so that a signature of one is never one of another.
    """

    def __init__(self, vault_id: str, private: bytes, retired: Mapping[str, int] | None = None) -> None:
        self.vault_id = vault_id
        self.retired = dict(retired or {})
        self._private = private
        self._key: Ed25519PrivateKey | None = None
        self._public = ""
        self._last = (b"", "")

    def __repr__(self) -> str:
        return "Signer(hidden)"

    @property
    def public_key(self) -> str:
        """The key by which anyone can check a signature, in hexadecimal."""
        self._load()
        return self._public

    def sign(self, message: bytes) -> str:
        """Return the signature of a message, in hexadecimal."""
        if self._last[0] != message:  # one head goes to several places
            self._last = (message, self._load().sign(message).hex())
        return self._last[1]

    def has_signed(self, public: str, signature: str, message: bytes, sequence: int) -> bool:
        """Whether this vault signed a message about an entry, with its key of today or with the one it had then.

        Guarantee: a key that was exchanged signs nothing about entries after that, whoever has it.
        """
        return self.is_key_of(public, sequence) and is_signed(public, signature, message)

    def is_key_of(self, public: str, sequence: int) -> bool:
        """Whether a public key is the vault's of today, or was when the entry of that number was made."""
        return public == self.public_key or sequence <= self.retired.get(public, -1)

    def may_be_key_of(self, public: str, sequence: int) -> bool:
        """Whether a public key is the vault's for an entry of that number, or one that it may have been given since."""
        return sequence <= self.retired[public] if public in self.retired else True

    def _load(self) -> Ed25519PrivateKey:
        if self._key is None:
            self._key = signing_key(self._private)
            self._public = self._key.public_key().public_bytes_raw().hex()
        return self._key


def rotated(signer: Signer, private: bytes, until: int) -> tuple[Signer, dict[str, Any]]:
    """Return the signer of a new key, and what the chain says of it: signed by the old one, which signs up to `until`.

    The signature says that whoever had the old key has chosen the new one.
    """
    new = Signer(signer.vault_id, private, {**signer.retired, signer.public_key: until})
    proof = signer.sign(_rotation(signer.vault_id, new.public_key, until))
    return new, {"public_key": new.public_key, "former": signer.public_key, "until": until, "signature": proof}


def retired_keys(vault: str, first: str, rotations: Iterable[Mapping[str, Any]]) -> tuple[str, dict[str, int]]:
    """Return the key that a vault signs with and those that it had before, given the first and what the chain says.

    Guarantee: each key was chosen by the one before it; else this raises ValueError.
    """
    public, retired = first, dict[str, int]()
    for each in rotations:
        message = _rotation(vault, each["public_key"], each["until"])
        if each["former"] != public or not is_signed(public, each["signature"], message):
            raise ValueError(public)
        retired[public], public = each["until"], each["public_key"]
    return public, retired


def _rotation(vault: str, public: str, until: int) -> bytes:
    return f"discreet rotation\n{vault}\n{public}\n{until}".encode()


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
