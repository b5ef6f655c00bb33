"""Private states of running releases: sealed files beside the key outside the database, one for each release."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from discreet.core.file import flush_folder, flushed
from discreet.ledger.artefacts.draft import unwritten
from discreet.ledger.refusals import Tampered, Unavailable
from discreet.ledger.sealed_key import OutsideKey


class PrivateStates:
    """The folder of one vault's private states, such as noisy thresholds, on this machine.

    Guarantee: a state is sealed (AES-GCM) for its vault and its release; the ledger has the hash of the sealed
    bytes alone; what is read is what was settled last, or it is refused.
    """

    def __init__(self, outside: OutsideKey) -> None:
        self._outside = outside
        self.path = outside.runs

    def read(self, key: str, digest: str) -> bytes:
        """Return the state that was settled with the last part that changed it; empty where there is none."""
        if not digest:
            return b""
        place = self._place(key, digest)
        try:
            sealed = place.read_bytes()
        except OSError:
            why = "its private state is not on this machine, or cannot be read"
            fix = f"go on where it was begun, or put {place.name} back into {self.path}"
            raise Unavailable("the running release", why=why, fix=fix, value=key) from None
        found = self._outside.unsealed(key, sealed) if _digest(sealed) == digest else None
        if found is None:
            why = "its private state is not the one that was settled"
            raise Tampered("the running release", why=why, fix=f"put {place.name} back as it was")
        return found

    def write(self, key: str, state: bytes) -> str:
        """Seal the state after a part, flush it to disk, and return its digest, by which it is settled and found."""
        sealed = self._outside.sealed(key, state)
        digest = _digest(sealed)
        place = self._place(key, digest)
        fresh = place.with_name(f".{token_hex(8)}")
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)
            try:
                os.write(file, sealed)
                flushed(file)
            finally:
                os.close(file)
            fresh.replace(place)
            flush_folder(self.path)
        except OSError as error:
            raise unwritten(self.path, error) from None
        finally:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)
        return digest

    def forget(self, key: str, *, but: str = "") -> None:
        """Remove the states of a release, except for the one of that digest: its parts are settled by now."""
        with suppress(OSError):
            for path in self.path.glob(f"{_named(key)}.*"):
                if not but or not path.name.endswith(but[:16]):
                    path.unlink(missing_ok=True)

    def _place(self, key: str, digest: str) -> Path:
        return self.path / f"{_named(key)}.{digest[:16]}"


def _named(key: str) -> str:
    return sha256(f"discreet run\0{key}".encode()).hexdigest()[:32]


def _digest(sealed: bytes) -> str:
    return sha256(sealed).hexdigest()
