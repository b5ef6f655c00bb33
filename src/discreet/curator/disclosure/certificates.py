"""Certificates of releases: what the declarations say of one, beside what the ledger says, and where they are kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.ask.registered import Registered, unit_words
from discreet.core import record as records
from discreet.core.errors import BadParameter, Refusal
from discreet.core.file import write_file
from discreet.core.log import logger
from discreet.core.unit import Unit
from discreet.core.value import dataclass
from discreet.ledger.refusals import AccessRefused

if TYPE_CHECKING:
    from discreet.ledger.charge import Receipt
    from discreet.ledger.grant import Grant
    from discreet.ledger.integrity.certificate import Certificate
    from discreet.ledger.ledger import Ledger

KIND, NAME = "certificates", "vault"
# Entries are numbered by 64 bits.
_MOST_ENTRIES = 1 << 63


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something that a promise rests on and that no computation shows: a name, and what is assumed."""

    name: str
    words: str


def certificate(ledger: Ledger, sequence: int) -> Certificate:
    """Return the certificate of the release whose charge is the entry of that number; the same bytes every time.

    Guarantee: nothing in it was computed from a record, but the hash of the answer that was published.
    """
    release = ledger.released(sequence)
    body = release.charge.record()
    tables = {name: _declared(ledger, name, sequence) for name in sorted(body["tables"])}
    unit = _unit(json.loads(body["question"]), tables)
    return ledger.certify(
        release,
        {
            "unit": None if unit is None else unit.record(),
            "protects": "" if unit is None else unit_words(unit),
            "files": release.settled.record().get("artefacts", []),
            "invariants": [],
            "assumptions": [{"name": each.name, "words": each.words} for each in assumptions(tables)],
        },
    )


def certificate_of(ledger: Ledger, grant: Grant, receipt: Receipt | Mapping[str, Any] | None) -> Certificate:
    """Return the certificate of a release to an analyst who has its receipt and may ask about its tables.

    Guarantee: whoever has no receipt is told nothing, not even whether there is a charge of that number.
    """
    number, key, head = _parts(receipt)
    stranger = AccessRefused("this receipt", why="this vault gave no such receipt", fix="pass an answer's own receipt")
    if not 0 < number < _MOST_ENTRIES:  # which no ledger can be asked for
        raise stranger
    try:
        release = ledger.released(number)
    except Refusal:
        raise stranger from None
    body = release.charge.record()
    if (release.charge.hash, body["key"]) != (head, key) or not all(grant.covers(each) for each in body["tables"]):
        raise stranger
    return certificate(ledger, number)


def _parts(receipt: Receipt | Mapping[str, Any] | None) -> tuple[int, str, str]:
    """Return number, key and head of a receipt, or of what an answer shows of its own."""
    try:
        if isinstance(receipt, Mapping):
            return int(receipt["sequence"]), str(receipt["key"]), str(receipt["head"])
        if receipt is not None:
            return receipt.sequence, receipt.key, receipt.head
    except (AttributeError, KeyError, TypeError, ValueError):
        pass
    why, fix = "a certificate is that of a receipt", "pass an answer, or its receipt: certificate(answer)"
    raise BadParameter("receipt", type(receipt).__name__, why=why, fix=fix)


def _declared(ledger: Ledger, name: str, before: int) -> Registered:
    return Registered.from_record(ledger.declared("table", name, before), {}, 0)


def _unit(question: Any, tables: Mapping[str, Registered]) -> Unit | None:  # noqa: ANN401  (what was asked)
    """Return the unit that was protected: the question's own, or that of all tables of a bill."""
    said = question.get("unit") if isinstance(question, dict) else None
    if said is not None:
        return Unit.from_record(said)
    units = {each.table.unit for each in tables.values()}
    return units.pop() if len(units) == 1 else None


def assumptions(tables: Mapping[str, Registered]) -> Iterator[Assumption]:
    """Yield what the promise rests on, in so many words: of every table, then of every release."""
    for name, each in tables.items():
        unit = each.table.unit
        if unit.is_row:
            yield Assumption("rows", f"{name}: each row is about another person or thing, none about two")
        else:
            words = f"all rows of a person have one value of {unit.identifier}, which is nobody else's"
            yield Assumption("people", f"{name}: {words}")
        if each.same:
            words = f"{unit.identifier} identifies the same people as in the other tables of {each.account}"
            yield Assumption("same people", f"{name}: {words}, by the custodian's word")
        for account in each.distinct:
            words = f"its people are others than those of {account}, by the custodian's word"
            yield Assumption("distinct people", f"{name}: {words}")
        if each.table.rows is not None:
            yield Assumption("declared size", f"{name}: that it has {each.table.rows:,} rows is public")
    yield Assumption("code", "the release of Discreet that is named ran unchanged, on a machine that kept its secrets")
    yield Assumption("bits", "the operating system's generator and AES in counter mode cannot be told from coins")


@dataclass(frozen=True, slots=True)
class CertificatePolicy:
    """Where each release's certificate is written as it is settled; None where they are made on request alone."""

    folder: str | None = None

    def __post_init__(self) -> None:
        if self.folder is not None and (not isinstance(self.folder, str) or not self.folder.strip()):
            why, fix = "certificates are written into a folder", 'name one: folder = "certificates"'
            raise BadParameter("folder", self.folder, why=why, fix=fix)

    def record(self) -> dict[str, Any]:
        """Return the policy as plain JSON values."""
        return {"folder": self.folder}

    @classmethod
    def of(cls, ledger: Ledger) -> CertificatePolicy:
        """Return the policy of a vault; the default one where its custodian set none."""
        found = [each for each in ledger.list(KIND) if each.name == NAME]
        return cls(**records.fields("certificates", found[0].record, ("folder",))) if found else cls()

    def keep(self, ledger: Ledger, sequence: int) -> Path | None:
        """Write the certificate of a release, unless it is there, and return its place.

        The answer is paid for by now: what cannot be written is logged, and made again on request.
        """
        if self.folder is None:
            return None
        place = Path(self.folder) / f"{ledger.vault_id}-{sequence}.certificate.json"
        try:
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                write_file(place, certificate(ledger, sequence).to_json())
        except (OSError, Refusal):
            logger.warning("a certificate could not be written, and can be made on request")
        return place
