"""The anchor: a signed copy of the chain's head outside the vault, by which a shortened or older vault is found.

It has two slots and the older one is overwritten, in place: a torn write spoils one slot, and the other still holds.
It is not flushed: an anchor that is older than the vault still has to be on its chain, so losing the last
write of it only means that the last few entries are not covered until the next commit.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.ledger.entry import Head
from discreet.ledger.integrity import keys
from discreet.ledger.refusals import Tampered, Unavailable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SLOT = 512
_HEAD = re.compile(rb'"head": "([0-9a-f]*)"')
_NUMBER = re.compile(rb'"sequence": (\d+)[,}]')
_HOW = os.O_RDWR | getattr(os, "O_BINARY", 0)
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
        return keys.is_signed(self.public_key, self.signature, _message(self.vault, Head(self.sequence, self.head)))

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

    def check(self, on_chain: Callable[[Head], bool]) -> None:
        """Refuse if the file cannot be written, or holds a head that is not on the vault's chain; before a commit.

        Guarantee: of two states of one vault that share an anchor, by whatever names, only one goes on.
        """
        with self._refused():
            try:
                file = os.open(self.path, _HOW)
            except FileNotFoundError:  # it is made when it is first written
                return
            try:
                self._slots_of(file, on_chain)
            finally:
                os.close(file)

    def write(self, head: Head, on_chain: Callable[[Head], bool]) -> None:
        """Sign a head and put it into the slot that holds the older one; refuse if one is not on the vault's chain."""
        anchor = Anchor.signed(self._vault_id, head, self._load(), self._public_key).to_slot()
        with self._refused():
            file = self._opened()
            try:
                with _alone(file):
                    found = self._slots_of(file, lambda each: each == head or on_chain(each))
                    older = found.index(min(found))
                    if found[older] < head.sequence:  # another process may have come by with a newer one
                        os.lseek(file, older * SLOT, os.SEEK_SET)
                        os.write(file, anchor)
            finally:
                os.close(file)

    def _slots_of(self, file: int, on_chain: Callable[[Head], bool]) -> list[int]:
        """Return the numbers in both slots, -1 for what this vault has not signed; refuse a head of another chain."""
        found = []
        for slot in _slots(os.read(file, 2 * SLOT)):
            head = self._head(slot)
            if head is not None and not on_chain(head):
                if self._signed(slot):
                    raise self._forked(head)
                head = None
            found.append(-1 if head is None else head.sequence)
        return found

    def _forked(self, head: Head) -> Tampered:
        why = (
            f"it was signed over an entry {head.sequence} that this vault does not have: another program has charged"
            " the same vault under another name or in other files, or the vault was put back as it once was"
        )
        fix = "end both programs, keep the vault under one name with its -wal file, open the one that verifies"
        return Tampered(f"the anchor {self.path}", why=why, fix=fix, sequence=head.sequence)

    @contextmanager
    def _refused(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            why = f"the head of the chain cannot be written outside the vault ({error.strerror})"
            fix = "make the anchor file writable and ask again: what was charged is kept, and not charged twice"
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
        valid = [each for each in map(self._signed, _slots(content)) if each]
        if not valid:
            why = "it has no head that this vault signed"
            raise Tampered(f"the anchor {self.path}", why=why, fix="restore the anchor that belongs to this vault")
        return max(valid, key=lambda slot: slot.sequence)

    def _opened(self) -> int:
        """Open the file by its name, every time: it may have been moved or put back meanwhile."""
        try:
            return os.open(self.path, _HOW | os.O_CREAT, 0o600)
        except FileNotFoundError:  # the folder of a machine's first anchor
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(self.path, _HOW | os.O_CREAT, 0o600)

    def _head(self, slot: bytes) -> Head | None:
        """Return the head in a slot of this vault; its signature matters only where it is not on the chain."""
        number, head = _NUMBER.search(slot), _HEAD.search(slot)
        if number is None or head is None or self._vault_id.encode() not in slot:
            return None
        return Head(int(number[1]), head[1].decode())

    def _signed(self, slot: bytes) -> Anchor | None:
        """Return the anchor in a slot if this vault has signed it."""
        found = Anchor.from_slot(slot)
        mine = found and (found.vault, found.public_key) == (self._vault_id, self.public_key) and found.valid
        return found if mine else None

    def _load(self) -> Ed25519PrivateKey:
        if self._key is None:
            self._key = keys.signing_key(self._private_key)
            self._public_key = self._key.public_key().public_bytes_raw().hex()
        return self._key


@contextmanager
def _alone(file: int) -> Iterator[None]:
    """Keep other writers of the file out, by whatever name they know it, where the system has such locks."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with suppress(OSError):  # a disk without locks
        fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)  # before it is closed: a child of a fork may have it open as well


def _slots(content: bytes) -> list[bytes]:
    return [content[:SLOT], content[SLOT : 2 * SLOT]]


def _message(vault: str, head: Head) -> bytes:
    return f"discreet anchor\n{vault}\n{head.sequence}\n{head.hash}".encode()
