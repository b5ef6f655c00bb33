"""Sources ever registered: whose rows they are or were, so what a table has moved on from gets no new budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from discreet.core.value import dataclass
from discreet.curator.identifier_sketch import TableSketches
from discreet.engines.source import Source

if TYPE_CHECKING:
    from discreet.ask.registered import Registered
    from discreet.ledger.ledger import Ledger

_KIND, _NAME = "registry", "sources"


@dataclass(frozen=True, slots=True)
class Past:
    """A source that a table has, or once had, the account that pays for its rows, and what tells its people apart."""

    name: str
    account: str
    identifier: str | None
    source: Source

    @property
    def whom(self) -> str | None:
        """What told its people apart: a column, or a link in words; None where single rows were protected."""
        return self.identifier

    def record(self) -> dict[str, object]:
        """Return the fields as plain JSON values."""
        return {
            "name": self.name,
            "account": self.account,
            "identifier": self.identifier,
            "source": self.source.record(),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Past:
        """Read what `record` returned."""
        return cls(**{**record, "source": Source.from_record(record["source"])})


@dataclass(frozen=True, slots=True)
class Sources:
    """The list of sources at one edition, which every new source counts on, and whose rows have which digest.

    Digests and sketches are computed from rows, so they lie beside the chain. Copies of rows from memory, which
    nobody can name again, are known by these alone.

    Guarantee: a source is on the list before its table answers anything, and is never taken off it.
    """

    edition: int
    past: tuple[Past, ...]
    digests: Mapping[str, tuple[str, str]]
    sketches: Mapping[str, TableSketches] = field(default_factory=dict)

    @classmethod
    def of(cls, ledger: Ledger) -> Sources:
        """Read the list, before anything else: what is registered later than this is noticed by `claim`."""
        found = next(iter(ledger.list(_KIND)), None)
        listed = [] if found is None else found.record.get("sources", [])
        past = map(Past.from_record, listed)
        digests = {} if found is None else dict(found.private.get("digests", {}))
        for table in ledger.list("table"):  # a vault of an earlier release lists none
            digests.setdefault(table.private["fingerprint"]["digest"], (table.name, table.record["account"]))
        known = {digest: (name, account) for digest, (name, account) in digests.items()}
        sketches = {} if found is None else found.private.get("sketches", {})
        people = {name: TableSketches.from_record(record) for name, record in sketches.items()}
        return cls(0 if found is None else found.revision, tuple(past), known, people)

    def has(self, registered: Registered, digest: str, sketches: TableSketches | None) -> bool:
        """Whether the source, the rows and the people of a table are on the list already."""
        people = sketches is None or self._known(registered.name, sketches) == self.sketches.get(registered.name)
        return digest in self.digests and people and self._with(registered) == self.past

    def claim(
        self,
        ledger: Ledger,
        tables: list[Registered],
        registered: Registered,
        digest: str,
        sketches: TableSketches | None,
    ) -> None:
        """Put a source on the list, unless someone has changed that since: they might have given the rows a budget."""
        listed = self
        for each in (*tables, registered):
            listed = Sources(self.edition, listed._with(each), self.digests)
        record = {"edition": self.edition + 1, "sources": [each.record() for each in listed.past]}
        digests = {digest: (registered.name, registered.account), **self.digests}
        people = {name: each.record() for name, each in self.sketches.items()}
        if sketches is not None:
            people[registered.name] = self._known(registered.name, sketches).record()
        private = {"digests": digests, "sketches": people}
        ledger.put(_KIND, _NAME, record, private=private, expected=self.edition)

    def _known(self, name: str, sketches: TableSketches) -> TableSketches:
        """Return what is known of a table's people, those of earlier versions included."""
        return self.sketches[name] | sketches if name in self.sketches else sketches

    def _with(self, registered: Registered) -> tuple[Past, ...]:
        new = Past(registered.name, registered.account, registered.whom, registered.source.unsettled)
        known = any((each.account, each.source) == (new.account, new.source) for each in self.past)
        return self.past if known or new.source.kind == "memory-copy" else (*self.past, new)
