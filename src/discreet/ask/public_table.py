"""Public tables of a vault: a dimension, where its rows lie, and which state of them questions are about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any

from discreet.ask.declaration import column_rows, grid
from discreet.core import record as records
from discreet.core.schema import Table
from discreet.core.unit import row
from discreet.core.value import dataclass, replace
from discreet.engines.source import Source, home_of
from discreet.plan.dimension import Dimension
from discreet.plan.to_sql.scalar import Relation

_FIELDS = ("dimension", "source", "inferred")


@dataclass(frozen=True, slots=True, repr=False)
class PublicTable:
    """A public table in a vault: nobody's rows, no budget, and open to every grant of the vault.

    `revision` counts every edit. `inferred` says that its columns were read off its rows, as they are again when it is
    refreshed. `notes` are what a look at its rows found, just now.
    """

    dimension: Dimension
    source: Source
    physical: Mapping[str, str]
    revision: int = 0
    inferred: bool = False
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        lines = [self.name, f"public, version {self.version}, {reuse_words(self.dimension)}", ""]
        return "\n".join([*lines, *grid(column_rows(self.dimension.columns)), *(f"\nnote: {n}" for n in self.notes)])

    @property
    def name(self) -> str:
        """The name it is joined by."""
        return self.dimension.name

    @property
    def version(self) -> int:
        """How many states of its source it has had."""
        return self.dimension.version

    @property
    def engine(self) -> str:
        """The name of the engine that reads it."""
        return self.source.engine

    @property
    def from_sql(self) -> str:
        """What stands after FROM to read its rows."""
        return home_of(self.source).from_sql(self.source)

    def at(self, source: Source) -> PublicTable:
        """Return the same table with its rows found there."""
        return replace(self, source=source)

    def relation(self) -> Relation:
        """Return how it is read."""
        table = Table(self.name, row(), self.dimension.columns)
        return Relation(table, self.physical, self.from_sql, is_public=True)

    def record(self) -> dict[str, Any]:
        """Return what the ledger chains."""
        return {"dimension": self.dimension.record(), "source": self.source.record(), "inferred": self.inferred}

    @classmethod
    def from_record(cls, record: object, physical: Mapping[str, str], revision: int) -> PublicTable:
        """Read what `record` returned, checking it again."""
        found = records.fields("public", record, _FIELDS)
        dimension, source = Dimension.from_record(found["dimension"]), Source.from_record(found["source"])
        return cls(dimension, source, MappingProxyType(dict(physical)), revision, bool(found["inferred"]))


def reuse_words(dimension: Dimension) -> str:
    """Say how often values of columns may occur: one row for each p_partkey, up to 4 rows for each ps_partkey."""
    words = []
    for columns, most in dimension.reuses:
        many = "one row" if most == 1 else f"up to {most:,} rows"
        words.append(f"{many} for each {' and '.join(columns)}")
    return ", ".join(words)
