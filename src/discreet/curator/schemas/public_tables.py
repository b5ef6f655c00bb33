"""Public tables as the vault keeps them: documents of their own, beside those of the private tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.ask.public_table import PublicTable
from discreet.ask.registered import check_columns
from discreet.core.column import Column
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.schema import Table
from discreet.core.unit import row
from discreet.core.value import replace
from discreet.curator.accounts import PUBLIC, payer
from discreet.curator.schemas.inference import PublicLook
from discreet.curator.source_history import Sources
from discreet.engines.dialect import dialect_of
from discreet.engines.duckdb.options import Csv
from discreet.engines.source import Source, SourceChanged, home_of
from discreet.ledger.refusals import Conflict
from discreet.plan.dimension import Dimension, Reuse

if TYPE_CHECKING:
    from discreet.curator.tables import Tables
    from discreet.ledger.document import Document
    from discreet.ledger.ledger import Ledger

FanOut = Mapping[Any, int] | None  # by a column, or a tuple of them
Columns = Mapping[str, Column] | Iterable[Column] | None


class PublicTables:
    """The public tables of one vault. They have no unit, no account and no budget: nothing in them is protected."""

    def __init__(self, ledger: Ledger, tables: Tables) -> None:
        self._ledger = ledger
        self._tables = tables
        self._read: dict[str, PublicTable] = {}

    def names(self) -> list[str]:
        """Return the names of all public tables."""
        return sorted(document.name for document in self._ledger.list(PUBLIC))

    def get(self, name: str) -> PublicTable:
        """Return a public table, or refuse a name that is none."""
        found = {document.name: document for document in self._ledger.list(PUBLIC)}
        if name not in found:
            raise UnknownName("public table", name, found)
        return self._of(found[name])

    def add(self, name: str, source: Source, reuses: tuple[Reuse, ...], columns: Columns) -> PublicTable:
        """Store a new public table; one whose rows are protected, or whose key is not unique, is refused."""
        if name in self._tables.names():
            why = "a private table has that name"
            raise BadParameter("name", name, why=why, fix="use another name")
        return self._put(name, source, reuses, columns, 1, 0)

    def same(self, before: PublicTable, reuses: tuple[Reuse, ...], columns: Columns) -> bool:
        """Whether a declaration is the registered one."""
        declared = None if columns is None else Table(before.name, row(), columns).columns
        known = None if before.inferred else before.dimension.columns
        return (reuses, declared) == (before.dimension.reuses, known)

    def holds(self, before: PublicTable, data: object) -> bool:
        """Whether rows from memory are those that were copied for a public table."""
        if before.source.kind != "memory-copy":
            return False
        stored = next(each for each in self._ledger.list(PUBLIC) if each.name == before.name).private["fingerprint"]
        with self._tables.copied(data, before.name) as copied:
            digest = home_of(copied).fingerprint(copied, self._tables.key)["digest"]
        Path(copied.path).unlink(missing_ok=True)
        return bool(digest == stored["digest"])

    def refresh(self, before: PublicTable, source: Source, expected: int | None) -> PublicTable:
        """Store other rows as the next version; columns that were read off the rows are read again."""
        columns = None if before.inferred else before.dimension.columns
        revision = before.revision if expected is None else expected
        stored = self._put(before.name, source, before.dimension.reuses, columns, before.version + 1, revision)
        if before.source.kind == "memory-copy" and before.source != stored.source:
            with suppress(OSError):  # rows that no question reads again
                Path(before.source.path).unlink()
        return stored

    def _put(
        self, name: str, source: Source, reuses: tuple[Reuse, ...], columns: Columns, version: int, revision: int
    ) -> PublicTable:
        home = home_of(source)
        physical = home.describe(source)
        self._check_private(name, source)
        for column in sorted({column for names, _ in reuses for column in names}):
            if column not in physical:
                raise UnknownName("key column of the source", column, physical)
        found = home.fingerprint(source, self._tables.key)
        self._check_digest(name, found["digest"])
        with home.opened([source], self._ledger.secret("order")) as engine, engine.question():
            look = PublicLook(engine, dialect_of(engine.name), home.from_sql(source), physical, _is_untyped(source))
            table = Table(name, row(), look.columns() if columns is None else columns)
            check_columns(table, physical)
            made = PublicTable(Dimension(name, table.columns, (), reuses, version), source, physical, revision)
            made = replace(made, inferred=columns is None, notes=_checked_keys(made, look))
        found = home.check_unchanged(name, source, found, self._tables.key) or found
        if home.settle(source.unsettled) != source or home.describe(source) != physical:
            why, fix = "it changed while it was looked at", "repeat this once nobody writes to it"
            raise SourceChanged(f"the source of {name!r}", why=why, fix=fix, value=name)
        stored = replace(source, path=Path(source.path).name) if source.kind == "memory-copy" else source
        private = {"physical": dict(physical), "fingerprint": found}
        self._ledger.put(PUBLIC, name, made.at(stored).record(), private=private, expected=revision)
        return replace(self.get(name), notes=made.notes)

    def _of(self, document: Document) -> PublicTable:
        known = self._read.get(document.name)
        if known is None or known.revision != document.revision:
            found = PublicTable.from_record(document.record, document.private["physical"], document.revision)
            known = self._read[document.name] = found.at(self._tables.found(found.source))
        return known

    def _check_private(self, name: str, source: Source) -> None:
        """Refuse rows that a private table has, or once had: whoever may join them would be shown people."""
        other = payer(source, [*self._tables.all(), *Sources.of(self._ledger).past])
        if other is not None:
            raise _protected(name, other.name)

    def _check_digest(self, name: str, digest: str) -> None:
        other, _ = Sources.of(self._ledger).digests.get(digest, (None, None))
        if other is not None:
            raise _protected(name, other)


def reuses_of(key: str | Iterable[str] | None, fan_out: FanOut) -> tuple[Reuse, ...]:
    """Return what a custodian says of how often values occur: a key, and fan-outs by their columns."""
    found: dict[tuple[str, ...], int] = {}
    if key is not None:
        found[(key,) if isinstance(key, str) else tuple(key)] = 1
    if fan_out is not None and not isinstance(fan_out, Mapping):
        why = "it is not said of which columns"
        raise BadParameter("fan_out", fan_out, why=why, fix='write fan_out={"ps_partkey": 4}')
    for columns, most in (fan_out or {}).items():
        found[(columns,) if isinstance(columns, str) else tuple(columns)] = most
    return tuple(sorted(found.items()))


def _checked_keys(made: PublicTable, look: PublicLook) -> tuple[str, ...]:
    """Refuse keys that more rows share than was declared; return what else to tell of them."""
    notes = []
    for columns, most in made.dimension.reuses:
        names = " and ".join(columns)
        more, largest, without = look.reuse(made, columns, most)
        if more:
            times = "1 of its values is" if more == 1 else f"{more:,} of its values are"
            why = f"{times} in more than {'one row' if most == 1 else f'{most:,} rows'}, at most in {largest:,}"
            declared = columns[0] if len(columns) == 1 else columns
            fix = f"correct these rows, name all columns of the key, or say so: fan_out={{{declared!r}: {largest}}}"
            raise Conflict(f"the key {names} of {made.name!r}", why=why, fix=fix, value=names)
        if without:
            many = "1 row has" if without == 1 else f"{without:,} rows have"
            notes.append(f"{many} no value of {names}, and are never joined by it")
        if not made.inferred:
            look.check_bounds(made, columns)
    return tuple(notes)


def _is_untyped(source: Source) -> bool:
    return source.kind == "memory-copy" or isinstance(source.options, Csv)


def _protected(name: str, other: str) -> Conflict:
    why = f"its rows are those of {other!r}, which are protected"
    fix = "write the columns that are public, without those of people, to a file of their own, and register that"
    return Conflict(f"the public table {name!r}", why=why, fix=fix, value=name)
