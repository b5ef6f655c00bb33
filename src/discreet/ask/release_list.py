"""Releases: what one analyst has paid for, as the ledger tells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from discreet.account.losses.loss import PrivacyLoss
from discreet.core import record as records
from discreet.core.value import dataclass, replace
from discreet.ledger.artefacts.artefact import Artefact
from discreet.ledger.charge import read_losses

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger

_FIELDS = ("sequence", "key", "at", "label", "analyst", "tables", "losses", "settled", "parts", "files")

_ENDS = {"settle": "answer", "failure": "failure"}


@dataclass(frozen=True, slots=True)
class Release:
    """One charge: its entry and key, when it was, what for, who asked, the versions of its tables, its loss by account.

    `settled` says how it ended: "answer", "failure", or "waiting" where no answer was settled yet; of a release with
    many answers, which are its `parts`, "running" until it has ended. `files` are those that were published with it.
    """

    sequence: int
    key: str
    at: str
    label: str
    analyst: str | None
    tables: Mapping[str, int]
    losses: Mapping[str, PrivacyLoss]
    settled: str
    parts: int = 0
    files: tuple[Artefact, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        losses = {account: loss.record() for account, loss in self.losses.items()}
        plain = {name: getattr(self, name) for name in _FIELDS}
        files = [each.record() for each in self.files]
        return {**plain, "tables": dict(self.tables), "losses": losses, "files": files}

    @classmethod
    def from_record(cls, record: object) -> Release:
        """Read what `record` returned."""
        found = records.fields("release", record, _FIELDS)
        files = tuple(Artefact.from_record(each) for each in found["files"])
        return cls(**{**found, "losses": read_losses(found["losses"]), "files": files})


def releases_of(ledger: Ledger, analyst: str | None) -> list[Release]:
    """Return the charges of one analyst, or of everybody, in the order of the ledger."""
    found: dict[int, Release] = {}
    for entry in ledger.entries():
        if entry.kind not in ("charge", "part", *_ENDS):
            continue
        body = entry.record()
        if entry.kind == "charge" and analyst in (None, body["analyst"]):
            told = {name: body[name] for name in ("key", "at", "label", "analyst", "tables")}
            settled = "waiting" if body.get("running") is None else "running"
            found[entry.sequence] = Release(entry.sequence, **told, losses=read_losses(body["losses"]), settled=settled)
        elif (release := found.get(body.get("charge", 0))) is not None:
            found[release.sequence] = _after(release, entry.kind, body)
    return [*found.values()]


def _after(release: Release, kind: str, body: Mapping[str, Any]) -> Release:
    """Return a release after an entry that settled a part or all of it."""
    files = release.files + tuple(Artefact.from_record(each) for each in body.get("artefacts", ()))
    if kind == "part":
        return replace(release, parts=release.parts + (body["answer"] is not None), files=files)
    return replace(release, settled=_ENDS[kind], files=files)
