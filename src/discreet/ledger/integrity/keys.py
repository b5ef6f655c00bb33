"""Keys of a vault: one random secret, from which every purpose has its own key, and a key that signs."""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import TYPE_CHECKING

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
