"""Witnesses: where the head of a vault is kept outside it, and what the custodian wants of these places."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.ledger.entry import Head
from discreet.ledger.integrity.anchor import Anchor, AnchorFile
from discreet.ledger.integrity.anchor_log import AnchorLog
from discreet.ledger.integrity.keys import Signer
from discreet.ledger.place import Place, state_anchor

KIND, NAME = "anchors", "vault"


@dataclass(frozen=True, slots=True)
class AnchorPolicy:
    """What a custodian wants of a vault's anchors, beyond those beside it and in the user's state folder.

    `path` is a second file, `log` an append-only log; a vault of which an anchor is missing is frozen if they are
    `required`, and otherwise opens with an entry that says so.
    """

    required: bool = False
    path: str | None = None
    log: str | None = None

    FIELDS: ClassVar[tuple[str, ...]] = ("required", "path", "log")

    def __post_init__(self) -> None:
        if not isinstance(self.required, bool):
            why, fix = "anchors are required or not", 'write anchor = "required", or required = true'
            raise BadParameter("required", self.required, why=why, fix=fix)
        named = [("path", self.path), ("log", self.log)]
        for name, place in named:
            if place is not None and (not isinstance(place, str) or not Path(place).is_absolute()):
                why = "every process has to find the same file, whatever folder it runs in"
                raise BadParameter(name, place, why=why, fix="give a whole path, such as /mnt/other/visits.anchor")
        if self.path is not None and self.path == self.log:
            why = "an anchor is written over in its place, and a log never is"
            raise BadParameter("log", self.log, why=why, fix="give each a file of its own")

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {name: getattr(self, name) for name in self.FIELDS}

    @classmethod
    def from_record(cls, record: object) -> AnchorPolicy:
        """Read what `record` returned."""
        return cls(**records.fields(KIND, record, cls.FIELDS))

    def with_changes(self, changes: Mapping[str, Any]) -> AnchorPolicy:
        """Return the policy with what is given changed; None leaves a field as it is, "" ends a place."""
        given = {name: value or None if name != "required" else value for name, value in changes.items()}
        left = {name: getattr(self, name) for name in self.FIELDS if changes.get(name) is None}
        return AnchorPolicy(**{**given, **left})


class AnchorPlace(Protocol):
    """A place for heads outside the vault; see `AnchorFile` and `AnchorLog`."""

    path: Path
    kind: str

    @property
    def absent(self) -> bool:
        """Whether nothing was ever written to it, or it is not there."""

    def check(self, on_chain: Callable[[Head], bool]) -> None:
        """Refuse if it cannot be written, or holds a head that is not on the chain."""

    def write(self, head: Head, on_chain: Callable[[Head], bool]) -> None:
        """Keep a new head; refuse if an older one is not on the chain."""

    def put(self, head: Head) -> None:
        """Keep a head, whatever was there."""

    def anchors(self) -> list[Anchor]:
        """Return the heads that it vouches for."""

    def discard(self) -> None:
        """Remove it, where it is one that may be removed."""


class Witnesses:
    """All places of one vault's heads, used as one.

    Guarantee: a head that any of them holds is on the chain of whatever goes on as this vault, or it was forfeited.
    """

    def __init__(self, places: Sequence[AnchorPlace], signer: Signer) -> None:
        self.places = tuple(places)
        self.signer = signer

    @classmethod
    def of(cls, place: Place, signer: Signer, given: str | Path | None, policy: AnchorPolicy) -> Witnesses:
        """Return those of a vault: one that was given, or those beside it and in the state folder; and the policy's."""
        found: list[AnchorPlace]
        if given is not None:
            found = [AnchorFile(Path(given).absolute(), signer)]
        else:
            usual = {place.anchor(signer.vault_id): "usual", state_anchor(signer.vault_id): "state"}
            found = [AnchorFile(path, signer, kind) for path, kind in usual.items()]
        if policy.path is not None:
            found.append(AnchorFile(Path(policy.path), signer, "path"))
        if policy.log is not None:
            found.append(AnchorLog(Path(policy.log), signer))
        return cls(found, signer)

    @property
    def path(self) -> Path:
        """The first of the places, beside which the key of unsettled draws lies."""
        return self.places[0].path

    @property
    def public_key(self) -> str:
        """The key by which anyone can check an anchor."""
        return self.signer.public_key

    def sign(self, message: bytes) -> str:
        """Return the signature of a message by the vault's key; each kind of message begins with words of its own."""
        return self.signer.sign(message)

    @property
    def absent(self) -> list[str]:
        """The kinds of places that hold nothing: the vault is new to them, or they were lost."""
        return [each.kind for each in self.places if each.absent]

    def check(self, on_chain: Callable[[Head], bool]) -> None:
        """Refuse before a commit if a place cannot be written, or holds a head that is not on the chain."""
        for each in self.places:
            each.check(on_chain)

    def write(self, head: Head, on_chain: Callable[[Head], bool]) -> None:
        """Write a head to all places; refuse if one of them holds a head that is not on the chain."""
        for each in self.places:
            each.write(head, on_chain)

    def put(self, head: Head) -> None:
        """Write a head to all places, whatever they held."""
        for each in self.places:
            each.put(head)

    def heads(self) -> list[Head]:
        """Return all heads that the places vouch for, the newest first."""
        found = {each.place for place in self.places for each in place.anchors()}
        return sorted(found, key=lambda head: (-head.sequence, head.hash))

    def discard(self) -> None:
        """Remove the places of a vault that could not be finished."""
        for each in self.places:
            each.discard()
