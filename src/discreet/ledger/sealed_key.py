"""Sealed keys: the randomness of a debit until it is settled, stored under a key that lies outside the database.

Anyone who has both, the row in the vault and the file on this machine, can draw the noise of a question that is still
being worked on, and so take it off the answer. Neither tells anything without the other, and the row is removed when
the debit is settled. A copy of the vault without the file has debits that nobody can draw for: they settle as failed.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import Any

from discreet.core.value import dataclass
from discreet.core.version import __version__
from discreet.ledger.charge import Charge
from discreet.ledger.entry import canonical, digest
from discreet.ledger.refusals import Unavailable
from discreet.ledger.store import StoredDraw

_BYTES = 32
_NONCE = 12
_TRIES = 5


@dataclass(frozen=True, slots=True)
class NewKey:
    """The key of a new debit: itself, what the chain says of it, and the row that keeps it."""

    key: bytes
    commitment: str
    row: StoredDraw

    def __repr__(self) -> str:
        return "NewKey(hidden)"


class OutsideKey:
    """The file beside the anchor whose key seals those of debits; made when it is first needed, mode 0600.

    Guarantee: a sealed key opens on the machine that sealed it, for the same vault, debit, programme, table versions,
    code, sampler and engine, and otherwise not at all.
    """

    def __init__(self, anchor: Path, vault_id: str) -> None:
        self.path = anchor.with_name(anchor.name.removesuffix(".anchor") + ".draws")
        self._vault_id = vault_id

    @property
    def runs(self) -> Path:
        """The folder beside it for the private states of running releases, which it seals."""
        return self.path.with_name(self.path.name.removesuffix(".draws") + ".runs")

    def new(self, charge: Charge, engine: str) -> NewKey:
        """Draw the key of a debit from the operating system, and seal it."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        from discreet.noise.draws import new_key

        key, bound, nonce = new_key(), binding(charge, engine), token_bytes(_NONCE)
        sealed = AESGCM(self._made()).encrypt(nonce, key, self._context(charge.key, bound))
        return NewKey(key, commitment(key), StoredDraw(charge.key, nonce + sealed, bound))

    def opened(self, charge: Charge, engine: str, row: StoredDraw | None, committed: str | None) -> bytes | None:
        """Return the key of a debit that has no answer yet; None where it may not, or cannot, be drawn for again."""
        if row is None or row.binding != binding(charge, engine):
            return None
        key = self._decrypted(row.sealed, self._context(charge.key, row.binding))
        return key if key is not None and commitment(key) == committed else None

    def new_run(self, charge: Charge) -> NewKey:
        """Draw the key of a running release, and seal it for its charge alone: its parts are bound one by one."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        from discreet.noise.draws import new_key

        key, bound, nonce = new_key(), _run_binding(charge.identity, charge.loss_records()), token_bytes(_NONCE)
        sealed = AESGCM(self._made()).encrypt(nonce, key, self._context(charge.key, bound))
        return NewKey(key, commitment(key), StoredDraw(charge.key, nonce + sealed, bound))

    def opened_run(self, charged: Mapping[str, Any], row: StoredDraw | None) -> bytes | None:
        """Return the key of a running release, by the body of its charge; None where it is not on this machine."""
        if row is None:
            return None
        identity = digest(charged["question"], canonical(charged["tables"]))
        bound = _run_binding(identity, charged["losses"])
        if row.binding != bound:
            return None
        key = self._decrypted(row.sealed, self._context(row.key, bound))
        return key if key is not None and commitment(key) == charged.get("draws") else None

    def sealed(self, name: str, content: bytes) -> bytes:
        """Seal what belongs to a running release, such as its private state."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = token_bytes(_NONCE)
        return nonce + AESGCM(self._made()).encrypt(nonce, content, self._context(name, "state"))

    def unsealed(self, name: str, content: bytes) -> bytes | None:
        """Return what was sealed here under that name; None if it was not."""
        return self._decrypted(content, self._context(name, "state"))

    def _decrypted(self, content: bytes, context: bytes) -> bytes | None:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        outside = self._read()
        if outside is None:
            return None
        try:
            return AESGCM(outside).decrypt(content[:_NONCE], content[_NONCE:], context)
        except (InvalidTag, ValueError):
            return None

    def _context(self, key: str, bound: str) -> bytes:
        return canonical([self._vault_id, key, bound]).encode()

    def forget(self) -> None:
        """Remove the file where no debit waits for its answer, so copies of rows that were removed are of no use.

        The next debit makes another. Someone who charges just now may lose theirs: should they die, it has failed.
        """
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _read(self) -> bytes | None:
        try:
            found = self.path.read_bytes()
        except OSError:
            return None
        return found if len(found) == _BYTES else None

    def _made(self) -> bytes:
        """Return the key; make the file if there is none, whole or not at all, for the first of those who try."""
        for _ in range(_TRIES):  # it may be forgotten as soon as it is made
            if (found := self._read()) is not None:
                return found
            self._make()
        raise self._unavailable("it cannot be read, or is no key")

    def _make(self) -> None:
        new = self.path.with_name(f"{self.path.name}.{token_hex(8)}")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)
            try:
                whole = os.write(file, token_bytes(_BYTES)) == _BYTES  # not flushed: what a power cut takes has failed
            finally:
                os.close(file)
            if whole:  # and else the disk is full
                with suppress(FileExistsError):  # someone was faster, or something else has its name
                    os.link(new, self.path)
        except OSError as error:
            raise self._unavailable(f"it cannot be written ({error.strerror})") from None
        finally:
            with suppress(OSError):
                new.unlink(missing_ok=True)

    def _unavailable(self, why: str) -> Unavailable:
        fix = "make it readable and writable for this user alone, or remove it: nothing was charged"
        return Unavailable(f"the key {self.path}", why=why, fix=fix, value=str(self.path))


def commitment(key: bytes) -> str:
    """Return what the chain says of a key: enough to know it again, of no use to find its 256 random bits."""
    return sha256(b"discreet draws commitment\0" + key).hexdigest()


def binding(charge: Charge, engine: str) -> str:
    """Return all that has to be the same when a debit is drawn for again, as one text.

    The same draws on other rows, by another programme or through another sampler would tell the difference exactly.
    Floats choose which cells of a grid are looked at, and so how many bits are read: so numpy and the processor.
    """
    return canonical({"programme": charge.identity, "price": charge.price, "engine": engine, **made_by()})


def made_by() -> dict[str, object]:
    """Return what turns bits into values here: the releases of Discreet and of its samplers, numpy, the processor."""
    from discreet.noise.arrays import numpy_version
    from discreet.noise.draws import SAMPLER_VERSION

    return {
        "discreet": __version__,
        "sampler": SAMPLER_VERSION,
        "numpy": f"{numpy_version()} {platform.machine()} {os.environ.get('NPY_DISABLE_CPU_FEATURES', '')}",
    }


def _run_binding(identity: str, losses: Mapping[str, Any]) -> str:
    return canonical({"running": identity, "price": digest(canonical(losses))})
