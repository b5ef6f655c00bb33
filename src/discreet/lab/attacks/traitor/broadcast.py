"""Broadcasts: a bit for each user, sealed with AES-GCM under that user's own key."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.account.numeric.checks import whole
from discreet.lab.attacks.tracing.people import Matrix

_KEY, _NONCE = 32, 12  # bytes

Packets = tuple[tuple[bytes, ...], ...]  # a row for each session, a sealed packet for each user


@dataclass(frozen=True, slots=True)
class BroadcastSender:
    """Whoever gave the users their keys."""

    keys: tuple[bytes, ...]

    @classmethod
    def make(cls, users: int) -> BroadcastSender:
        """Draw a key for each user."""
        return cls(tuple(secrets.token_bytes(_KEY) for _ in range(whole("users", users))))

    def seal(self, bits: Matrix, session: int) -> Packets:
        """Encrypt broadcasts, a row each, with a bit for each user; a packet holds `session` bits of one user.

        The number of the session is the nonce, unique for each key, which belongs to one sender and one call.
        """
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        ciphers = [AESGCM(key) for key in self.keys]
        rows = np.ascontiguousarray(bits.astype(np.uint8))
        return tuple(
            tuple(
                cipher.encrypt(number.to_bytes(_NONCE, "big"), rows[start : start + session, user].tobytes(), None)
                for user, cipher in enumerate(ciphers)
            )
            for number, start in enumerate(range(0, len(rows), session))
        )


def unsealed(packets: Packets, keys: Sequence[tuple[int, bytes]]) -> Matrix:
    """Decrypt what the holders of keys can: a row for each broadcast, a column for each key, every packet once.

    A packet that was sealed for someone else does not open: AES-GCM refuses it.
    """
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    ciphers = [(user, AESGCM(key)) for user, key in keys]
    columns = [
        b"".join(
            cipher.decrypt(number.to_bytes(_NONCE, "big"), session[user], None)
            for number, session in enumerate(packets)
        )
        for user, cipher in ciphers
    ]
    return np.array([np.frombuffer(column, np.uint8) for column in columns]).T.astype(bool)
