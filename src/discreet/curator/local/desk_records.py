"""The side of a vault's desk that tells what was released: lists, files, certificates, heads; it charges nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.errors import UnknownName
from discreet.ledger.entry import Head

if TYPE_CHECKING:
    from discreet.ask.release_list import Release
    from discreet.curator.local.curator_like import CuratorLike
    from discreet.ledger.artefacts.artefact import Artefact
    from discreet.ledger.artefacts.folder import ArtefactFolder
    from discreet.ledger.charge import Receipt
    from discreet.ledger.grant import Grant
    from discreet.ledger.integrity.certificate import Certificate
    from discreet.ledger.oversight.approval import ApprovalRequest


def files_of(curator: CuratorLike) -> list[str]:
    """Return where the tables of a vault are read from, as far as these are files: nothing is written over them."""
    sources = [
        *(curator.table(name).source for name in curator.tables()),
        *(curator.public_table(name).source for name in curator.public_tables()),
    ]
    return [source.path for source in sources if "/" in source.path or source.is_file]


class DeskRecords(ABC):
    """What the holder of a grant may read of the ledger."""

    __slots__ = ()

    _curator: CuratorLike
    _grant: Grant

    @property
    @abstractmethod
    def analyst(self) -> str:
        """The name the grant was made out to."""

    @abstractmethod
    def admit(self) -> None:
        """Refuse a grant that was revoked or has expired since."""

    def tables(self) -> list[str]:
        """Return the names of the tables the grant covers."""
        return self._curator.tables() if self._grant.role == "custodian" else sorted(self._grant.tables)

    def shared_tables(self) -> list[str]:
        """Return the same for a server, whose caller may have lost the grant meanwhile."""
        self.admit()
        return self.tables()

    def files(self) -> list[str]:
        """Return where tables are read from: for the command line alone, which writes over none of them."""
        return files_of(self._curator)

    def releases(self) -> list[Release]:
        """Return what this analyst has paid for, the newest last."""
        from discreet.ask.release_list import releases_of

        self.admit()
        return releases_of(self._curator.ledger, self.analyst)

    def artefact(self, name: str, place: Path) -> Artefact:
        """Copy a file that was published about tables of the grant to a new place, once it is found to be whole.

        Guarantee: whoever may not ask about its tables is told nothing, not even whether there is a file of that name.
        """
        self.admit()
        ledger = self._curator.ledger
        found, charge = ledger.artefact(name)
        if not all(self._grant.covers(each) for each in charge.record()["tables"]):
            raise UnknownName("file", name, ())
        ledger.artefacts.copy(found, place)
        return found

    def artefacts(self) -> ArtefactFolder:
        """Return where work writes the files that are published with its answer."""
        return self._curator.ledger.artefacts

    def pending(self) -> list[ApprovalRequest]:
        """Return this analyst's questions that wait for approval, or were denied, or may be asked again now."""
        self.admit()
        return [each for each in self._curator.ledger.requests(self.analyst) if each.state != "used"]

    def show(self, receipts: Sequence[object]) -> str | None:
        """Compare the vault with receipts that it gave; return why it is frozen, None if it is not."""
        self.admit()
        return self._curator.ledger.show(receipts)

    def head(self) -> Head:
        """Return the end of the ledger's chain."""
        self.admit()
        return Head(*self._curator.ledger.head)

    def certificate(self, receipt: Receipt | Mapping[str, Any] | None) -> Certificate:
        """Return the signed certificate of the release that a receipt is about."""
        from discreet.curator.disclosure.certificates import certificate_of

        self.admit()
        return certificate_of(self._curator.ledger, self._grant, receipt)
