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

from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.ledger.entry import Head
from discreet.ledger.integrity.keys import Signer, is_signed
from discreet.ledger.refusals import Tampered, Unavailable

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
    def signed(cls, head: Head, signer: Signer) -> Anchor:
        """Return the anchor of a head, signed."""
        vault = signer.vault_id
        return cls(vault, head.sequence, head.hash, signer.public_key, signer.sign(_message(vault, head)))

    def is_of(self, signer: Signer) -> bool:
        """Whether that vault signed it, or may have: a copy from before a rotation does not know the later key.

        Guarantee: a key that was exchanged vouches for nothing after that; one that was never heard of is believed,
        since only a copy that holds still before it cannot go on beside the vault that was given it.
        """
        if self.vault != signer.vault_id or not signer.may_be_key_of(self.public_key, self.sequence):
            return False
        return is_signed(self.public_key, self.signature, _message(self.vault, self.place))

    @property
    def place(self) -> Head:
        """The head that it vouches for."""
        return Head(self.sequence, self.head)

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
    """A file that holds a vault's anchors, outside the vault; `kind` says why it lies where it lies."""

    def __init__(self, path: Path, signer: Signer, kind: str = "given") -> None:
        self.path = path
        self.kind = kind
        self._signer = signer

    @property
    def absent(self) -> bool:
        """Whether nothing was ever written to it, or it is not there."""
        try:
            return self.path.stat().st_size == 0
        except FileNotFoundError:
            return True
        except OSError:  # which reading it will tell
            return False

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
        anchor = Anchor.signed(head, self._signer).to_slot()
        with self._alone() as file:
            found = self._slots_of(file, lambda each: each == head or on_chain(each))
            older = found.index(min(found))
            if found[older] < head.sequence:  # another process may have come by with a newer one
                os.lseek(file, older * SLOT, os.SEEK_SET)
                os.write(file, anchor)

    def put(self, head: Head) -> None:
        """Sign a head and put it into both slots, whatever they held."""
        anchor = Anchor.signed(head, self._signer).to_slot()
        with self._alone() as file:
            os.write(file, anchor + anchor)
            os.ftruncate(file, 2 * SLOT)

    def anchors(self) -> list[Anchor]:
        """Return what this vault signed, none if there is no file; a file in which it signed nothing is refused."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            why, fix = (
                f"it cannot be read ({error.strerror})",
                "make it readable: without it an old copy of the vault is not detected",
            )
            raise Unavailable(f"the anchor {self.path}", why=why, fix=fix, value=str(self.path)) from None
        valid = [each for each in map(self._signed, _slots(content)) if each]
        if content and not valid:
            why = "it has no head that this vault signed"
            fix = "put back the anchor that belongs to this vault, or the newest copy of the vault"
            raise Tampered(f"the anchor {self.path}", why=why, fix=fix)
        return valid

    def discard(self) -> None:
        """Remove it, with a vault that could not be finished."""
        self.path.unlink(missing_ok=True)

    def _slots_of(self, file: int, on_chain: Callable[[Head], bool]) -> list[int]:
        """Return the numbers in both slots, -1 for what this vault has not signed; refuse a head of another chain."""
        found = []
        for slot in _slots(os.read(file, 2 * SLOT)):
            head = self._head(slot)
            if head is not None and not on_chain(head):
                if self._signed(slot):
                    raise forked(self.path, head)
                head = None
            found.append(-1 if head is None else head.sequence)
        return found

    @contextmanager
    def _refused(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise unwritten(self.path, error) from None

    @contextmanager
    def _alone(self) -> Iterator[int]:
        """Open the file by its name, every time, and keep other writers out: it may have been moved meanwhile."""
        with self._refused():
            file = opened(self.path, _HOW)
            try:
                with locked(file):
                    yield file
            finally:
                os.close(file)

    def _head(self, slot: bytes) -> Head | None:
        """Return the head in a slot of this vault; its signature matters only where it is not on the chain."""
        number, head = _NUMBER.search(slot), _HEAD.search(slot)
        if number is None or head is None or self._signer.vault_id.encode() not in slot:
            return None
        return Head(int(number[1]), head[1].decode())

    def _signed(self, slot: bytes) -> Anchor | None:
        """Return the anchor in a slot if this vault has signed it."""
        found = Anchor.from_slot(slot)
        return found if found and found.is_of(self._signer) else None


def opened(path: Path, how: int) -> int:
    """Open a file of anchors to write to it; the first one also makes its folder."""
    try:
        return os.open(path, how | os.O_CREAT, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(path, how | os.O_CREAT, 0o600)


@contextmanager
def locked(file: int) -> Iterator[None]:
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


def forked(path: Path, head: Head) -> Tampered:
    """Return the refusal of a chain that an anchor does not know."""
    why = (
        f"it was signed over an entry {head.sequence} that this vault does not have: another program has charged"
        " the same vault under another name or in other files, or the vault was put back as it once was"
    )
    fix = "end both programs, keep the vault under one name with its -wal file, open the one that verifies"
    return Tampered(f"the anchor {path}", why=why, fix=fix, sequence=head.sequence)


def unwritten(path: Path, error: OSError) -> Unavailable:
    """Return the refusal of a vault whose head cannot be written outside it."""
    why = f"the head of the chain cannot be written outside the vault ({error.strerror})"
    fix = "make the anchor file writable and ask again: what was charged is kept, and not charged twice"
    return Unavailable(f"the anchor {path}", why=why, fix=fix, value=str(path))


def _slots(content: bytes) -> list[bytes]:
    return [content[:SLOT], content[SLOT : 2 * SLOT]]


def _message(vault: str, head: Head) -> bytes:
    return f"discreet anchor\n{vault}\n{head.sequence}\n{head.hash}".encode()
