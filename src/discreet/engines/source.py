"""Sources: where the rows of a table lie, as a value; each engine says which kinds of source it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol, Self, cast

from discreet.core import record as records
from discreet.core.column import check_name
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.value import dataclass, fields, replace
from discreet.engines import EMBEDDED, registry
from discreet.engines.engine import Allotment, Engine


class SourceMissing(Refusal, FileNotFoundError):
    """A source whose files are not there, or cannot be read as what they should be."""

    def __str__(self) -> str:
        return Refusal.__str__(self)  # OSError would print an errno


class SourceChanged(Refusal):
    """A source whose files are not those that were registered."""


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What a source says of itself beside its path: a frozen value of plain fields, in each engine's `options`."""

    @property
    def unsettled(self) -> Self:
        """The options as they were described, before the source was looked at."""
        return self


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A kind of source: the options that it has, and how it is written in Python; some are written by nobody."""

    options: type[SourceOptions] | None = None
    written: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Where rows lie: the kind of the source, a path whose meaning the kind decides, and the options of the kind.

    The kinds are those that the engines' `options` declare: files for DuckDB (a `memory-copy` is Parquet that Discreet
    wrote from a data frame, beside the vault), a table of a database, a folder or a catalog table for Spark.
    """

    kind: str
    path: str
    options: SourceOptions | None = None

    def __post_init__(self) -> None:
        known = _kinds()
        if self.kind not in [*known]:  # what is compared may be no text, and have no hash
            raise UnknownName("kind of source", str(self.kind), known)
        check_name("path", self.path)
        wanted = known[self.kind][1].options
        if not isinstance(self.options, wanted or type(None)):
            why = f"a {self.kind} source has {'none' if wanted is None else f'those of {wanted.__name__}'}"
            *most, last = (found.written for _, found in known.values() if found.written)
            raise BadParameter("options", self.options, why=why, fix=f"write {', '.join(most)} or {last}")

    @property
    def engine(self) -> str:
        """The name of the engine that reads it."""
        return _kinds()[self.kind][0]

    @property
    def is_file(self) -> bool:
        """Whether the embedded engine reads its files, here."""
        return self.engine == EMBEDDED

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
        return self if self.options is None else replace(self, options=self.options.unsettled)

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        options = None if self.options is None else asdict(self.options)
        return {"kind": self.kind, "path": self.path, "options": options}

    @classmethod
    def from_record(cls, record: object) -> Source:
        """Read what `record` returned, checking it anew."""
        found = records.fields("source", record, (field.name for field in fields(cls)))
        known = _kinds().get(found["kind"])
        if known is None or known[1].options is None or found["options"] is None:
            return cls(found["kind"], found["path"], found["options"])
        kind = known[1].options
        options = records.fields("options", found["options"], (field.name for field in fields(kind)))
        listed = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
        made: Callable[..., SourceOptions] = kind
        return cls(found["kind"], found["path"], made(**listed))

    def to_json(self) -> str:
        """Write the source as versioned JSON."""
        return records.write("source", self.record())

    @classmethod
    def from_json(cls, text: str) -> Source:
        """Read what `to_json` wrote."""
        return cls.from_record(records.read("source", text))


def locate(where: str | Path | Source) -> Source:
    """Return the source that a text means to the first engine that knows it; the embedded one has the last word."""
    if isinstance(where, Source):
        return where
    for engine in (*(name for name in registry if name != EMBEDDED), EMBEDDED):
        found = registry.part(engine, "options").located(str(where))
        if found is not None:
            return cast(Source, found)
    raise AssertionError("the embedded engine refuses what it does not know")


def missing(path: str, why: str) -> SourceMissing:
    """Return the refusal of a file that is not there or not what it should be."""
    return SourceMissing(f"source {path}", why=why, fix="give the path of a file that can be read", value=path)


@cache
def _kinds() -> Mapping[str, tuple[str, SourceKind]]:
    """Return every kind of source, with the engine that reads it."""
    engines = {name: registry.part(name, "options").KINDS for name in registry}
    return {kind: (engine, found) for engine, kinds in engines.items() for kind, found in kinds.items()}


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns of a table whose values are those of `keys` in one row of another, at a path of the same kind."""

    columns: tuple[str, ...]
    path: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Constraints:
    """What stores a table holds true of it: columns that no two rows share, the primary key first, and foreign keys."""

    unique: tuple[tuple[str, ...], ...] = ()
    foreign: tuple[ForeignKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Sibling:
    """A table of a catalogue: its name there, its source, and how this is written in a policy or on a command line."""

    name: str
    source: Source
    written: str


class Home(Protocol):
    """What each engine's module does; nothing here tells a record, and only `fingerprint` may look at any.

    `ENGINE` is the name of its folder; `SHARES` are the other engines whose sources may be the same rows as its own.
    """

    ENGINE: str
    SHARES: frozenset[str]

    def settle(self, source: Source) -> Source:
        """Return the source as it is stored: resolved, and checked to be there."""

    def describe(self, source: Source) -> dict[str, str]:
        """Return the physical type of every column, in order, by the names that `engines.physical` knows."""

    def from_sql(self, source: Source) -> str:
        """Return what stands after FROM to read the rows in this engine."""

    def fingerprint(self, source: Source, key: bytes) -> dict[str, Any]:
        """Return what tells a later change; it stays inside the vault."""

    def check_unchanged(
        self, name: str, source: Source, stored: Mapping[str, Any], key: bytes
    ) -> dict[str, Any] | None:
        """Refuse a source that changed; return a renewed fingerprint where only the stamp did."""

    def is_untouched(self, source: Source, stored: Mapping[str, Any]) -> bool:
        """Whether a glance tells that a source is unchanged: nothing is read, searched or waited for. If not, check."""

    def same(self, one: Source, other: Source) -> bool:
        """Whether both reach the same rows; one of them is read by this engine, the other by it or one in `SHARES`."""

    def holds_unique(self, source: Source, column: str) -> bool:
        """Whether what stores the rows guarantees that no two of them have equal values of a column, nulls aside."""

    def constraints(self, source: Source) -> Constraints:
        """Return what a catalogue says of keys and references; it says nothing of what columns may contain."""

    def siblings(self, source: Source) -> Sequence[Sibling]:
        """Return the tables beside one in its catalogue, itself among them; none where there is no catalogue."""

    def opened(self, sources: Sequence[Source], secret: bytes, allotment: Allotment | None = None) -> Engine:
        """Return an engine, to be entered, that can read all of these; a server of its own has limits of its own."""


@lru_cache(maxsize=1024)
def home_of(source: Source) -> Home:
    """Return the home of a source; its engine's packages are imported when they are first needed."""
    return cast(Home, registry.part(source.engine, "source"))


def same(one: Source, other: Source) -> bool:
    """Whether two sources are known to reach the same rows, by an engine that can tell of both."""
    for mine, theirs in ((one, other), (other, one)):
        home = home_of(mine)
        if theirs.engine in {home.ENGINE, *home.SHARES}:
            return home.same(mine, theirs)
    return False
