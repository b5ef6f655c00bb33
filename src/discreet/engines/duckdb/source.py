"""Files: the home of CSV and Parquet files, read without guessing; see `discreet.engines.source.Home`.

Nothing about a source is inferred from its records. A CSV file is read as text throughout, in a dialect that is
declared; Parquet files say their types in their schemas, which have to agree. So no record decides a type, a name or
a dialect, and no record makes reading fail.
"""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.errors import BadParameter
from discreet.core.value import replace
from discreet.engines.duckdb import csv_dialect
from discreet.engines.duckdb.csv_dialect import header_of, lines_options, records_sql
from discreet.engines.duckdb.engine import DuckDBEngine, connect, literal
from discreet.engines.duckdb.files import check_unchanged as check_unchanged
from discreet.engines.duckdb.files import files
from discreet.engines.duckdb.files import fingerprint as fingerprint
from discreet.engines.duckdb.files import is_untouched as is_untouched
from discreet.engines.duckdb.files import same_files as same
from discreet.engines.duckdb.options import Csv
from discreet.engines.engine import Allotment
from discreet.engines.physical import MILLISECONDS
from discreet.engines.source import Constraints, Sibling, Source, missing

if TYPE_CHECKING:
    import duckdb

__all__ = [
    "ENGINE",
    "SHARES",
    "check_unchanged",
    "constraints",
    "describe",
    "fingerprint",
    "from_sql",
    "holds_unique",
    "is_untouched",
    "opened",
    "same",
    "settle",
    "siblings",
]

ENGINE = "duckdb"
SHARES: frozenset[str] = frozenset()


def settle(source: Source) -> Source:
    """Return the source as it is stored: an absolute path, and the names of a CSV file's columns as they are now.

    What is read later is read by these names, so that the header is looked at once, by the custodian.
    """
    found = source.resolved()
    files(found)
    if not isinstance(found.options, Csv):
        return found
    return replace(
        found, options=replace(found.options, columns=found.options.names or header_of(files(found)[0], found.options))
    )


def describe(source: Source) -> dict[str, str]:
    """Return the physical type of every column, in the order of the file; no record is looked at.

    Parquet files whose schemas differ are refused: casting one to the other could fail on a record. Moments in
    milliseconds have a type of their own, which nothing is read from.
    """
    if isinstance(source.options, Csv):
        files(source)
        return dict.fromkeys(_columns(source), "VARCHAR")
    with connect() as engine:
        found = {file: _schema(engine, file) for file in files(source)}
    first, schema = next(iter(found.items()))
    for file, other in found.items():
        if list(other.items()) != list(schema.items()):
            why = f"its columns, their order or their types differ from those of {first.name}"
            fix = "write all files of one table with one schema, or register them as tables of one group"
            raise BadParameter("source", str(file), why=why, fix=fix)
    return schema


def from_sql(source: Source) -> str:
    """Return what stands after FROM to read the rows.

    A record of a CSV file is one line, and what is read of it follows from that line alone: see `csv_dialect`.
    """
    if not isinstance(source.options, Csv):
        # Partition names in paths would be columns whose types are guessed from which folders there are.
        return f"read_parquet({_paths(source)}, hive_partitioning=false{_utf8_option()})"
    return records_sql(source.options, _columns(source), _lines(source, source.options))


def left_out(source: Source) -> int:
    """Return how many lines of a CSV file are left out of what is read; for its custodian alone."""
    options = source.options
    return sum(csv_dialect.left_out(file, options) for file in files(source)) if isinstance(options, Csv) else 0


def _lines(source: Source, dialect: Csv) -> str:
    options = lines_options(dialect, packed=source.path.lower().endswith(".gz"))
    return f"read_csv({_paths(source)}, {options})"


def _paths(source: Source) -> str:
    return "[" + ", ".join(literal(glob.escape(str(file))) for file in files(source)) + "]"


def _schema(engine: duckdb.DuckDBPyConnection, file: Path) -> dict[str, str]:
    import duckdb

    try:
        rows = engine.execute(
            "DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning=false)", [glob.escape(str(file))]
        )
        schema = {str(name): str(kind) for name, kind, *_ in rows.fetchall()}
        return {name: MILLISECONDS if name in _in_milliseconds(engine, file) else kind for name, kind in schema.items()}
    except duckdb.Error:
        # The engine's text might quote a value; a file that is no Parquet is all there is to say.
        raise missing(str(file), "it cannot be read as Parquet") from None


def _in_milliseconds(engine: duckdb.DuckDBPyConnection, file: Path) -> set[str]:
    """Return the columns of moments in milliseconds; what lies inside nested columns is never read."""
    asked = "SELECT name, num_children, converted_type, logical_type FROM parquet_schema(?)"
    _, *nodes = engine.execute(asked, [glob.escape(str(file))]).fetchall()
    found, inside = set(), 0
    for name, children, converted, logical in nodes:
        if not inside and (converted == "TIMESTAMP_MILLIS" or "MILLIS=Milli" in str(logical)):
            found.add(str(name))
        inside += (children or 0) - (1 if inside else 0)
    return found


def _utf8_option() -> str:
    """Let text that is not UTF-8 be replaced, where the engine knows how; older ones would raise on such a record."""
    import duckdb

    return ", utf8_validation='replace'" if int(duckdb.__version__.partition(".")[0]) >= 2 else ""


def _columns(source: Source) -> tuple[str, ...]:
    assert isinstance(source.options, Csv)
    return source.options.columns or source.options.names or header_of(files(source)[0], source.options)


def holds_unique(source: Source, column: str) -> bool:  # noqa: ARG001  (files have no constraints)
    """Whether what stores the rows guarantees that no two of them have equal values of a column: files never do."""
    return False


def constraints(source: Source) -> Constraints:  # noqa: ARG001  (files have none)
    """Return what a catalogue says of keys and references: of files nothing."""
    return Constraints()


def siblings(source: Source) -> Sequence[Sibling]:  # noqa: ARG001  (files have no catalogue)
    """Return the tables beside one in its catalogue: files have none."""
    return ()


def opened(
    sources: Sequence[Source],  # noqa: ARG001  (files need nothing to be opened)
    secret: bytes,
    allotment: Allotment | None = None,
) -> DuckDBEngine:
    """Return an engine, to be entered, that can read all of these."""
    if allotment is None:
        return DuckDBEngine(secret)
    return DuckDBEngine(secret, memory=allotment.memory, threads=allotment.threads)
