"""Stores: the rows a ledger keeps, and what a database has to do with them (SQLite and PostgreSQL do)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from typing import Any, ClassVar, Protocol, Self, TypeVar

from discreet.core.value import dataclass
from discreet.ledger.entry import Entry, Head
from discreet.ledger.lease import Lease
from discreet.ledger.place import Place


@dataclass(frozen=True, slots=True)
class Secret:
    """A key of the vault: its random secret, its signing key, its identifier."""

    TABLE: ClassVar[str] = "secrets"
    KEY: ClassVar[tuple[str, ...]] = ("name",)

    name: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Limit:
    """A filter and what it has admitted: an account's for life, its window's, or those of one analyst.

    `analyst` is empty for an account's own, `period` for those that hold for life; `label` is the newest period seen.
    """

    TABLE: ClassVar[str] = "limits"
    KEY: ClassVar[tuple[str, ...]] = ("account", "analyst", "period")

    account: str
    analyst: str
    period: str
    label: str
    state: str
    sequence: int


@dataclass(frozen=True, slots=True)
class AnalystTally:
    """What one analyst has spent of an account, in the account's currency."""

    TABLE: ClassVar[str] = "tallies"
    KEY: ClassVar[tuple[str, ...]] = ("account", "analyst")

    account: str
    analyst: str
    loss: str
    delta: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Debit:
    """A charge that was admitted, what its key stands for, and the entry and hash of its answer once settled.

    One that is settled without the hash of an answer has failed, permanently.
    """

    TABLE: ClassVar[str] = "debits"
    KEY: ClassVar[tuple[str, ...]] = ("key",)

    key: str
    identity: str
    price: str
    sequence: int
    settled: int | None = None
    fence: int | None = None
    digest: str | None = None
    seal: str = field(default="", compare=False)

    @property
    def failed(self) -> bool:
        """Whether it was settled as failed."""
        return self.settled is not None and self.digest is None


@dataclass(frozen=True, slots=True)
class Settled:
    """A settled answer, under the number of its charge."""

    TABLE: ClassVar[str] = "answers"
    KEY: ClassVar[tuple[str, ...]] = ("sequence",)

    sequence: int
    answer: str
    seal: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class StoredDraw:
    """The key that an unsettled debit's noise is drawn by, sealed outside the database, and what it is bound to."""

    TABLE: ClassVar[str] = "draws"
    KEY: ClassVar[tuple[str, ...]] = ("key",)

    key: str
    sealed: bytes
    binding: str
    seal: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class StoredArtefact:
    """A file that was settled with an answer: its name, the charge it is for, and the size and hash of its content.

    `part` is the number of the part of a running release that it belongs to, 0 for the answer of a single debit.
    """

    TABLE: ClassVar[str] = "artefacts"
    KEY: ClassVar[tuple[str, ...]] = ("name",)

    name: str
    sequence: int
    part: int
    size: int
    digest: str
    media: str
    seal: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Run:
    """A running release: one charge of many parts, how many of them are settled, and the hash of its sealed state."""

    TABLE: ClassVar[str] = "runs"
    KEY: ClassVar[tuple[str, ...]] = ("key",)

    key: str
    sequence: int
    kind: str
    parts: int
    state: str
    seal: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Part:
    """A settled part of a running release, and the entry that settled it; without the hash of an answer it failed."""

    TABLE: ClassVar[str] = "parts"
    KEY: ClassVar[tuple[str, ...]] = ("key", "number")

    key: str
    number: int
    sequence: int
    digest: str | None = None
    seal: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Attempt:
    """The part that is being worked on: what its draws are bound to, how often it was begun, and by whom at last."""

    TABLE: ClassVar[str] = "attempts"
    KEY: ClassVar[tuple[str, ...]] = ("key",)

    key: str
    number: int
    binding: str
    begun: int
    holder: str
    seal: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Paper:
    """The newest revision of a document."""

    TABLE: ClassVar[str] = "documents"
    KEY: ClassVar[tuple[str, ...]] = ("kind", "name")

    kind: str
    name: str
    revision: int
    record: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Private:
    """What a document keeps beside the chain, under a keyed seal of its own."""

    TABLE: ClassVar[str] = "privates"
    KEY: ClassVar[tuple[str, ...]] = ("kind", "name")

    kind: str
    name: str
    revision: int
    record: str
    seal: str


@dataclass(frozen=True, slots=True)
class Permit:
    """A grant as stored: whose, for which tables, until when, and the salted hash of its token's secret."""

    TABLE: ClassVar[str] = "grants"
    KEY: ClassVar[tuple[str, ...]] = ("id",)

    id: str
    analyst: str
    role: str
    tables: str
    expires: str
    salt: str
    hash: str
    revoked: int | None
    sequence: int


@dataclass(frozen=True, slots=True)
class Check:
    """When the whole vault was last verified, and up to which entry."""

    TABLE: ClassVar[str] = "checks"
    KEY: ClassVar[tuple[str, ...]] = ("name",)

    name: str
    at: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Seal:
    """The keyed hash of a row, or of rows that stand and fall together; `name` is the JSON of their key.

    It lies apart from what it seals, so a row that is lost or put back as it was does not take its seal along.
    """

    TABLE: ClassVar[str] = "seals"
    KEY: ClassVar[tuple[str, ...]] = ("kind", "name")

    kind: str
    name: str
    seal: str


@dataclass(frozen=True, slots=True)
class Root:
    """What binds the seals to the chain: its head, the sum of the seals of all `COUNTED` rows, and the vault's time.

    `at` is the newest moment of any entry, `wall` what the machine's clock showed then; `seal` is its own.
    """

    TABLE: ClassVar[str] = "roots"
    KEY: ClassVar[tuple[str, ...]] = ("one",)

    one: int
    sequence: int
    hash: str
    total: str
    at: str
    wall: str
    seal: str = field(default="", compare=False)


class Row(Protocol):
    """A stored row: a frozen dataclass that names its table and its key."""

    TABLE: ClassVar[str]
    KEY: ClassVar[tuple[str, ...]]
    __dataclass_fields__: ClassVar[dict[str, Any]]


R = TypeVar("R", bound=Row)

# A row that will be needed: its kind and its key; or Limit with an account and an analyst, for what `limits` returns.
# What is known in advance can be fetched with the first look.
Wanted = tuple[Any, ...]

# What follows from the entries alone, and is therefore made again and compared when a vault is verified.
DERIVED: tuple[type[Row], ...] = (Limit, AnalystTally, Debit, Paper, Permit, StoredArtefact, Run, Part)

# Kinds of which there are few rows: they are looked through whenever a vault is opened.
COUNTED: tuple[type[Row], ...] = (Limit, AnalystTally, Paper, Private, Permit, Check)

# Kinds of which every question makes one: they carry their seals, and follow the chain. A lost debit is paid again.
CARRYING: tuple[type[Row], ...] = (Debit, Settled, Lease, StoredDraw, StoredArtefact, Run, Part, Attempt)

# Limits that a charge meets together are sealed together, so none can be missing; other rows each for itself.
SHELVES: dict[str, tuple[str, ...]] = {Limit.TABLE: Limit.KEY[:2]}


class Transaction(Protocol):
    """One consistent look at a store; a writing one is alone, and durable once it has ended without an exception."""

    def head(self) -> Head:
        """Return the end of the chain, this transaction's entries included."""

    def append(self, kind: str, body: str) -> Entry:
        """Seal a new entry to the head and store it."""

    def date(self, at: str) -> str:
        """Return the moment of a new entry: the one given or, where that is later, the newest so far."""

    def entry(self, sequence: int) -> Entry | None:
        """Return the entry of that number."""

    def entries(self, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
        """Return entries in order, those with greater numbers than `after`."""

    def get(self, kind: type[R], *key: str | int) -> R | None:
        """Return the row of that key."""

    def put(self, row: Row) -> None:
        """Store a row in place of the one with the same key, if there is one."""

    def delete(self, row: Row) -> None:
        """Remove the row of that key."""

    def all(self, kind: type[R]) -> Iterator[R]:
        """Return all rows of a kind, in the order of their keys."""

    def limits(self, account: str, analyst: str) -> list[Limit]:
        """Return the limits of an account and those of an analyst on it, the account's for life first."""


class Raw(Transaction, Protocol):
    """A transaction as a database gives it, whose rows nobody has checked; only `integrity.seal` uses it."""

    def seals(self, kind: str) -> Iterator[Seal]:
        """Return all seals of one kind of row."""

    def expect(self, wanted: Sequence[Wanted]) -> None:
        """Fetch rows that will be asked for, where that saves time."""


class Store(Protocol):
    """A database that holds one vault."""

    @property
    def place(self) -> Place:
        """Where that is."""

    def again(self) -> Self:
        """Open the same vault with a connection of its own."""

    def read(self, *wanted: Wanted) -> AbstractContextManager[Raw]:
        """Begin a transaction that sees one state throughout and writes nothing; say which rows it will want."""

    def write(self, *wanted: Wanted) -> AbstractContextManager[Raw]:
        """Begin a transaction with no other writer beside it; an exception undoes it."""

    def at_hand(self) -> AbstractContextManager[bool]:
        """Say whether reading waits for nobody now, no thread and no server; inside the block that stays so."""

    def check_place(self) -> None:
        """Refuse to go on where the place no longer names what is open, or another name does too."""

    def check_schema(self) -> None:
        """Refuse a database whose tables and triggers are not exactly those that were made."""

    def close(self) -> None:
        """Let go of the database; harmless when repeated."""

    def discard(self) -> None:
        """Remove a vault that was made just now and could not be finished."""
