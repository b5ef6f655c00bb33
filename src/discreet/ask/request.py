"""Requests: what a verb of a session is asked: verb, question, spec, price; and what a desk returns for one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from discreet.account.budgets.price import Price
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass

if TYPE_CHECKING:
    from discreet.ask.registered import Registered

# How a fresh answer is asked for: pay again, or pay again once for each text, so that a retry under it is a replay.
Fresh = bool | str
# A name for a fresh charge: long enough for any identifier that a program makes.
_LONGEST_NAME = 200


def charge_name(name: str) -> str:
    """Return a text that names a fresh charge, or refuse it."""
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        why = f"a name of a charge is a line of 1 to {_LONGEST_NAME} visible characters"
        raise BadParameter("fresh", name, why=why, fix="use True, or a text of your own such as 'run 7'")
    return name


def part_of(fresh: Fresh, part: str) -> Fresh:
    """Return how a part of a question is asked for that is charged beside it: under a name that is its own."""
    return charge_name(f"{charge_name(fresh)} ({part})") if isinstance(fresh, str) else fresh


@dataclass(frozen=True, slots=True)
class DeskRequest:
    """One thing that is asked: by which verb, about what, with which terms, for how much.

    Question and spec are values of the verb; `discreet.ask.verbs.request_text` writes and reads all of it as JSON. The
    price is None where the text of a question in SQL names it.
    """

    verb: str
    question: Any
    spec: Any
    price: Price | None


@dataclass(frozen=True, slots=True)
class Released:
    """What a desk returns for a request: the answer of its verb, the receipt of its charge, and what is left.

    `registered` are the tables that were asked about, where the desk is that of a vault.
    """

    answer: Any
    receipt: Mapping[str, Any]
    remaining: str
    registered: Mapping[str, Registered] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class AskTerms:
    """Terms of a question: `max_rows` lowers what a person counts for; `rows` and `sql` are for its preview."""

    max_rows: Any = None
    rows: int | None = None
    sql: bool = False

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {"max_rows": self.max_rows, "rows": self.rows, "sql": self.sql}

    @classmethod
    def from_record(cls, record: object) -> AskTerms:
        """Read what `record` returned; what is left out stays as usual."""
        found = some_fields("spec", record, ("max_rows", "rows", "sql"))
        rows, most, sql = found.get("rows"), found.get("max_rows"), found.get("sql", False)
        if rows is not None and (type(rows) is not int or rows < 1):
            raise BadParameter("rows", rows, why="it is a number of rows", fix="use a positive integer")
        if most not in (None, "auto") and type(most) is not int:
            raise BadParameter("max_rows", most, why="it is a number of rows", fix="use an integer, or auto")
        if type(sql) is not bool:
            raise BadParameter("sql", sql, why="it is true or false", fix="leave it out")
        return cls(most, rows, sql)


@dataclass(frozen=True, slots=True)
class SynthesisTerms:
    """Terms of synthetic data, as `Query.synthesize` takes them."""

    method: str
    workload: int | Sequence[Sequence[str]] | None
    bins: int
    columns: Iterable[str] | None
    zeros: Sequence[Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class TrainingTerms:
    """Terms of a model: what it minimizes, which column it learns, from which others, and in how many bins."""

    objective: str
    target: str
    columns: Sequence[str] | None = None
    bins: int | None = 16


def some_fields(kind: str, record: object, known: tuple[str, ...], needed: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return an object all of whose fields are known, and that has those needed."""
    if isinstance(record, dict):
        unknown, missing = sorted(set(record) - set(known)), [name for name in needed if name not in record]
        if not unknown and not missing:
            return record
        why = f"it has no field {unknown[0]!r}" if unknown else f"the field {missing[0]!r} is missing"
        raise BadParameter(kind, sorted(record), why=why, fix=f"use {', '.join(known)}")
    raise BadParameter(kind, type(record).__name__, why="it must be an object", fix=f"use {', '.join(known)}")
