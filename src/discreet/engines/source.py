"""Sources: where the rows of a table lie, as a value, and how files are read without guessing.

Nothing about a source is inferred from its records. A CSV file is read as text throughout, in a dialect that is
declared; Parquet files say their types in their schemas, which have to agree. So no record decides a type, a name or
a dialect, and no record makes reading fail.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, get_args

from discreet.core import record as records
from discreet.core.column import check_name
from discreet.core.errors import BadParameter, UnknownName
from discreet.engines import csv_dialect
from discreet.engines.csv_dialect import Csv as Csv
from discreet.engines.csv_dialect import SourceMissing as SourceMissing
from discreet.engines.csv_dialect import header_of, lines_options, missing, records_sql
from discreet.engines.duckdb.engine import was_interrupted
from discreet.engines.duckdb.options import BARRIER
from discreet.engines.postgres.options import Server
from discreet.engines.spark.options import Cluster

if TYPE_CHECKING:
    import duckdb

Kind = Literal["csv", "parquet", "memory-copy", "postgres", "spark"]
Options = Csv | Server | Cluster

_PARQUET = (".parquet", ".pq")
_CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_WILD = frozenset("*?[")
_OPTIONS: dict[str, type[Options]] = {"csv": Csv, "postgres": Server, "spark": Cluster}
# Moments in milliseconds, in a Parquet file: the engine converts them to microseconds and fails on those too far away,
# whatever is asked, so that they are never read.
MILLISECONDS = "TIMESTAMP (MILLISECONDS)"
_SERVERS = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class Source:
    """Where rows lie: one CSV file, or Parquet files (a file, a folder or a pattern such as visits/*.parquet).

    A `memory-copy` is Parquet that Discreet wrote from a data frame, beside the vault. `postgres` is a table of a
    database, whose path is "schema.table"; `spark` is a folder of Parquet files, or a catalog table, that Spark reads.
    """

    kind: Kind
    path: str
    options: Options | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise UnknownName("kind of source", str(self.kind), get_args(Kind))
        check_name("path", self.path)
        wanted = _OPTIONS.get(self.kind)
        if not isinstance(self.options, wanted or type(None)):
            why = f"a {self.kind} source has {'none' if wanted is None else f'those of {wanted.__name__}'}"
            fix = "write csv(path, ...), parquet(path), postgres(table, url) or spark(path)"
            raise BadParameter("options", self.options, why=why, fix=fix)

    @property
    def is_file(self) -> bool:
        """Whether DuckDB reads its files, here."""
        return self.kind in ("csv", "parquet", "memory-copy")

    def resolved(self, folder: Path | None = None) -> Source:
        """Return the source with an absolute path, relative ones being meant from `folder` (or the working folder).

        What no file system of ours leads to stays as it is.
        """
        if not self.is_file:
            return self
        return replace(self, path=str(Path(folder or Path.cwd(), Path(self.path).expanduser()).resolve()))

    @property
    def unsettled(self) -> Source:
        """The source as it was described, before a header was read."""
        return replace(self, options=replace(self.options, columns=None)) if isinstance(self.options, Csv) else self

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        options = None if self.options is None else asdict(self.options)
        return {"kind": self.kind, "path": self.path, "options": options}

    @classmethod
    def from_record(cls, record: object) -> Source:
        """Read what `record` returned, checking it anew."""
        found = records.fields("source", record, (field.name for field in fields(cls)))
        kind = _OPTIONS.get(found["kind"])
        if kind is None or found["options"] is None:
            return cls(found["kind"], found["path"], found["options"])
        options = records.fields("options", found["options"], (field.name for field in fields(kind)))
        listed = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
        made: Callable[..., Options] = kind
        return cls(found["kind"], found["path"], made(**listed))

    def to_json(self) -> str:
        """Write the source as versioned JSON."""
        return records.write("source", self.record())

    @classmethod
    def from_json(cls, text: str) -> Source:
        """Read what `to_json` wrote."""
        return cls.from_record(records.read("source", text))


def csv(
    path: str | Path,
    *,
    delimiter: str = ",",
    quote: str | None = '"',
    header: bool = True,
    names: tuple[str, ...] | None = None,
) -> Source:
    """Describe a CSV file (.gz too); every column is read as text, whatever the records look like."""
    return Source("csv", str(path), Csv(delimiter, quote, header, None if names is None else tuple(names)))


def parquet(path: str | Path) -> Source:
    """Describe a Parquet file, a folder of them, or a pattern."""
    return Source("parquet", str(path))


def postgres(table: str, url: str) -> Source:
    """Describe a table of a PostgreSQL database, in the schema "public" unless it says "schema.table".

    The URL has no password: libpq finds it in PGPASSWORD, in ~/.pgpass or in a service file.
    """
    return Source("postgres", table if "." in table else f"public.{table}", Server(url))


def spark(where: str | Path, *, master: str | None = None, catalog: bool = False) -> Source:
    """Describe a folder of Parquet files that Spark reads, or, with `catalog=True`, a table of its catalog.

    `master` is where Spark runs, as in "local[2]" or "spark://host:7077"; without one, where it runs already.
    """
    return Source("spark", str(where), Cluster(master, catalog))


def locate(where: str | Path | Source) -> Source:
    """Return the source that a path means, by its ending; a folder holds Parquet files.

    A table of a database is written postgresql://host/database#schema.table, what Spark reads spark:folder or
    spark-table:name.
    """
    if isinstance(where, Source):
        return where
    text = str(where)
    lower = text.lower()
    if lower.startswith(_SERVERS):
        url, _, table = text.partition("#")
        if not table:
            why, fix = "it says which database and not which table", f"write {url}#schema.table"
            raise BadParameter("source", url, why=why, fix=fix)
        return postgres(table, url)
    if lower.startswith(("spark:", "spark-table:")):
        scheme, _, path = text.partition(":")
        return spark(path, catalog=scheme.lower() == "spark-table")
    if lower.endswith(_CSV):
        return csv(text, delimiter="\t" if ".tsv" in lower[-7:] else ",")
    if lower.endswith(_PARQUET) or Path(text).is_dir():
        return parquet(text)
    if not files_of(text) and not _WILD & set(text):
        raise missing(text, "there is no such file")
    why = f"its ending is none of {', '.join((*_CSV, *_PARQUET))}"
    raise BadParameter("source", text, why=why, fix="say what it is: csv(path, delimiter=...) or parquet(path)")


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


def files(source: Source) -> list[Path]:
    """Return the files of a source, in the order of their names, or refuse a source without any."""
    found = files_of(source.path, pattern=source.kind != "csv")
    if source.kind == "csv" and (not found or not found[0].is_file()):
        raise missing(source.path, "a CSV source is one file, and there is none")
    if not found:
        raise missing(source.path, "there are no Parquet files")
    return found


def files_of(path: str, *, pattern: bool = True) -> list[Path]:
    """Return the files a path means: itself, the Parquet files of a folder, or what fits a pattern."""
    if pattern and Path(path).resolve() == Path(Path(path).resolve().anchor):
        raise missing(path, "this is all that there is on the machine, and not the folder of one table")
    try:
        return _files_of(Path(path), path, pattern)
    except OSError:  # a folder that may not be entered, or one that is gone while it is looked through
        raise missing(path, "it cannot be looked through") from None


def _files_of(whole: Path, path: str, pattern: bool) -> list[Path]:
    if not pattern or whole.is_file():
        return [whole] if whole.is_file() else []
    if whole.is_dir():
        # Files whose names begin with . or _ are the notes of other programs (_SUCCESS, .crc).
        return sorted(
            file for file in whole.rglob("*") if file.name.lower().endswith(_PARQUET) and file.name[0] not in "._"
        )
    return sorted(Path(found) for found in glob.glob(path, recursive=True) if Path(found).is_file())  # noqa: PTH207


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


def relation_sql(source: Source) -> tuple[str, list[object]]:
    """Return what stands after FROM to read the source in DuckDB, and its parameters (none: all is quoted).

    A record of a CSV file is one line, and what is read of it follows from that line alone: see `csv_dialect`.
    """
    if not isinstance(source.options, Csv):
        # Partition names in paths would be columns whose types are guessed from which folders there are.
        return f"read_parquet({_paths(source)}, hive_partitioning=false{_utf8_option()})", []
    return records_sql(source.options, _columns(source), _lines(source, source.options)), []


def left_out(source: Source) -> int:
    """Return how many lines of a CSV file are left out of what is read; for its custodian alone."""
    options = source.options
    return sum(csv_dialect.left_out(file, options) for file in files(source)) if isinstance(options, Csv) else 0


def _lines(source: Source, dialect: Csv) -> str:
    options = lines_options(dialect, packed=source.path.lower().endswith(".gz"))
    return f"read_csv({_paths(source)}, {options})"


def _paths(source: Source) -> str:
    return "[" + ", ".join(literal(glob.escape(str(file))) for file in files(source)) + "]"


@contextmanager
def connect() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a fresh engine in memory that fetches no extension and decides no type by a sample of records.

    What it has to spill goes into a folder that only its owner can read, and that is gone afterwards.
    """
    import duckdb

    options: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    try:
        with TemporaryDirectory(prefix="discreet-") as folder, duckdb.connect(config=options) as engine:
            engine.execute(BARRIER)
            engine.execute("SET pandas_analyze_sample = 0")
            engine.execute("SET enable_progress_bar = false")
            engine.execute(f"SET temp_directory = {literal(folder)}")
            yield engine
    except RuntimeError as error:
        if was_interrupted(error):
            raise KeyboardInterrupt from None
        raise


def literal(text: str) -> str:
    """Quote text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


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


def same_files(one: Source, other: Source) -> bool:
    """Whether two sources share a file, by whatever paths they reach it."""
    identities = [{_identity(file) for file in files_of(source.path)} for source in (one, other)]
    return one.path == other.path or bool(identities[0] & identities[1])


def _identity(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_dev, status.st_ino
