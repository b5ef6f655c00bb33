"""Erasure: a person's rows are taken out of the copies that a vault keeps; for its custodian alone, who owns them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.engines.dialect import MOST_BYTES
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.duckdb.engine import DuckDBEngine, literal
from discreet.engines.duckdb.frame_copy import copies_in, new_copy
from discreet.engines.duckdb.kept_rows import Ranks
from discreet.engines.source import Source

if TYPE_CHECKING:
    from discreet.ask.registered import Registered

# A file that nobody named in a vault for so long is what a process left that was killed.
_LEFT_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased: rows of each copied table, files of kept rows, and the tables whose rows lie elsewhere.

    Guarantee: it is shown to custodians alone; neither it nor the person is part of an entry or a log.
    """

    rows: Mapping[str, int]
    files: int
    elsewhere: tuple[str, ...]


def check_person(person: object) -> str:
    """Return an identifier as the text that tells people apart, or refuse what is none."""
    if isinstance(person, int) and not isinstance(person, bool):
        return str(person)
    if isinstance(person, str) and 0 < len(person.encode(errors="replace")) <= MOST_BYTES:
        return person
    why, fix = "it does not tell anybody apart", "give the identifier as a text or a whole number"
    raise BadParameter("person", type(person).__name__, why=why, fix=fix)


@contextmanager
def without_person(table: Registered, person: str, folder: Path, secret: bytes) -> Iterator[tuple[int, Source | None]]:
    """Give how many rows a copy has of a person, and a copy without them; None where there are none, or no people.

    The new copy goes if the block fails; identifiers are compared as everywhere: 7 is 7.0 and 7.00.
    """
    from discreet.ask.runner import relation_of

    if table.table.unit.is_row:
        yield 0, None
        return
    with DuckDBEngine(secret, folder=folder if folder.is_dir() else None) as engine:
        relation = relation_of(table, engine, DUCKDB)
        via = table.table.unit.via
        if relation.owners is None or via is None:
            theirs = f"CAST({relation.person_sql(DUCKDB)} AS VARCHAR) = ?"
        else:
            owned = f'SELECT "~referred" FROM {relation.owners.from_sql} WHERE CAST("~owner" AS VARCHAR) = ?'  # noqa: S608
            theirs = f"{relation.owners.reference(via.column, relation.physical[via.column], DUCKDB)} IN ({owned})"
        ((many,),) = engine.rows(f"SELECT count(*) FROM {relation.from_sql} WHERE {theirs}", [person])  # noqa: S608
        if not many:
            yield 0, None
            return
        with new_copy(folder, table.name) as file:
            others = f"SELECT * FROM {relation.from_sql} WHERE ({theirs}) IS NOT TRUE"  # noqa: S608
            to = f"{literal(str(file))} (FORMAT parquet, USE_TMP_FILE false)"
            engine.run(f"COPY ({others}) TO {to}", [person])
            yield int(many), Source("memory-copy", file.name)


def forgotten(tables: Sequence[Registered], folder: Path, secret: bytes, others: Sequence[Registered]) -> int:
    """Remove the kept rows of tables, and copies that no table has and nobody is about to use; return how many.

    Rows that were kept in an order which the vault has no more go as well: whose they are, no name of a file says.
    """
    mine = {each.name for each in tables}
    found = Ranks(folder, secret).remove(but=[each.name for each in others if each.name not in mine])
    names = {Path(each.source.path).name for each in others}
    left = [*copies_in(folder), *folder.glob("draft-*.parquet")]
    for file in (each for each in left if each.name not in names):
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _LEFT_SECONDS:
                file.unlink()
                found += 1
    return found
