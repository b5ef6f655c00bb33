"""Answers: values with their error bars, the loss they cost, and arithmetic that costs nothing.

A query builds one from quantities, one for every row of every column (see `discreet.answers.quantity` and `moments`):

    Answer(
        keys=("ward",),
        rows=(("A",), ("B",)),                      # in the order of the keys; a single () without groups
        columns=(
            AnswerColumn("n", quantities=(linear(noisy_a), linear(noisy_b)), kind="count", words="number of rows",
                         mechanism="count", noise="Laplace, scale 2", price="epsilon 0.5"),
        ),
        loss=loss,                                  # PrivacyLoss, or None
        asked={"epsilon": "0.5"},                   # what the analyst offered, as text
        unit="one person (patient_id), at most 20 rows, added or removed",
        notes=("cost: values above 50,000 count as 50,000",),
        receipt={"sequence": 7, "head": "..."},     # or later: answer.received(receipt, remaining="epsilon 0.5 of 3")
        remaining="epsilon 2.5 of 3",
    )

`to_json` and `Answer.from_json(text, receipt=, remaining=)` are what the ledger stores and replays.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.account.losses.loss import PrivacyLoss
from discreet.answers.arithmetic import AnswerArithmetic
from discreet.answers.column import AnswerColumn as AnswerColumn
from discreet.answers.column import Cell as Cell
from discreet.answers.quantity import Plain, noises, read_key, read_noises, write_key
from discreet.core import record as records
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.value import dataclass, replace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from discreet.answers.text_table import Blocks

Key = tuple[Any, ...]


# How a note begins that says what the intervals do not hold.
NOT_HELD = "not in the intervals: "


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Answer(AnswerArithmetic):
    """A table of values with intervals of 95% or more; a value, which holds neither data nor a ledger.

    Guarantee: `loss` bounds what was revealed; whatever is computed from an answer reveals nothing more
    (post-processing), so arithmetic, export and drawing are free.
    """

    keys: tuple[str, ...]
    rows: tuple[Key, ...]
    columns: tuple[AnswerColumn, ...]
    loss: PrivacyLoss | None = None
    asked: Mapping[str, str] = field(default_factory=dict)
    unit: str = ""
    notes: tuple[str, ...] = ()
    receipt: Mapping[str, Any] | None = None
    remaining: str = ""
    sampling: bool = False  # whether intervals hold the sampling of rows as well as the noise
    cut: Answer | None = None  # the least that bounding cut, where that was bought: people and rows

    def __post_init__(self) -> None:
        rows = tuple(tuple(row) for row in self.rows)
        for name, value in (("keys", self.keys), ("rows", rows), ("columns", self.columns), ("notes", self.notes)):
            object.__setattr__(self, name, tuple(value))
        names = [*self.keys, *(name for column in self.columns for name in _exported(column.name))]
        if not self.columns or len(set(names)) != len(names):
            why = "an answer has columns, and every key, column, low and high a name of its own"
            raise BadParameter("columns", names, why=why, fix="rename one of them")
        for column in self.columns:
            if len(column.quantities) != len(rows):
                why = f"there are {len(rows)} rows and {len(column.quantities)} quantities"
                raise BadParameter("columns", column.name, why=why, fix="give one quantity for every row")
        if any(len(row) != len(self.keys) for row in rows):
            raise BadParameter(
                "rows", rows, why="every row has one value for each key", fix="give () where nothing is grouped"
            )

    # Looking at it ---------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield every row by the names of its columns: keys, then value, low and high of each column."""
        names, values = self._plain()
        return (dict(zip(names, row, strict=True)) for row in zip(*values, strict=True))

    def __getitem__(self, name: str) -> Answer:
        """Return one column, with the keys."""
        return replace(self, columns=(self.column(name),))

    def column(self, name: str | None = None) -> AnswerColumn:
        """Return a column by its name; without one, the only column."""
        if name is None:
            if len(self.columns) != 1:
                names = ", ".join(column.name for column in self.columns)
                raise BadParameter("column", None, why="there are several columns", fix=f"name one of {names}")
            return self.columns[0]
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownName("column", str(name), [column.name for column in self.columns])

    @property
    def not_held(self) -> tuple[str, ...]:
        """What the intervals do not hold: a line each wherever the answer is shown, the same for whatever rows."""
        return tuple(note for note in self.notes if note.startswith(NOT_HELD))

    def arranged(self, names: Iterable[str]) -> Answer:
        """Return the same columns in this order: who asks again may name them in another than who asked first."""
        return replace(self, columns=tuple(self.column(name) for name in names))

    def cell(self, *key: object, column: str | None = None) -> Cell:
        """Return value, low and high in the row of a key; without one, in the only row."""
        if not key and len(self.rows) == 1:
            return self.column(column).cells[0]
        if tuple(key) not in self.rows:
            fix = "use a row such as " + repr(self.rows[0]) if self.rows else "the answer has no rows"
            raise BadParameter("key", tuple(key), why="no row has that key", fix=fix)
        return self.column(column).cells[self.rows.index(tuple(key))]

    def value(self, column: str | None = None) -> Plain | str | None:
        """Return the one value of an answer without groups."""
        self._single()
        return self.column(column).cells[0].value

    def interval(self, column: str | None = None, *, sampling: bool = False) -> tuple[Any, Any]:
        """Return the ends of the one interval of an answer without groups.

        With `sampling` it is that of the population that the rows were drawn from (see `sampled`).
        """
        self._single()
        cell = (self.sampled() if sampling else self).column(column).cells[0]
        return cell.low, cell.high

    def sampled(self) -> Answer:
        """Return the answer with intervals of sampling plus noise, for rows that were drawn from a population.

        What cannot have one has no ends, and a note says which. Arithmetic comes first: what is computed from such
        intervals is computed from their ends.
        """
        from discreet.answers.population import of_population

        return self if self.sampling else of_population(self)

    def _single(self) -> None:
        if len(self.rows) != 1:
            raise BadParameter(
                "rows", len(self.rows), why="there are many values, not one", fix="use cell(key), or iterate"
            )

    def __str__(self) -> str:
        from discreet.answers.text_table import text

        return text(self)

    __repr__ = __str__

    def __rich__(self) -> Blocks:
        from discreet.answers.text_table import Blocks

        return Blocks(self)

    def _repr_html_(self) -> str:
        from discreet.answers.html import html

        return html(self)

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw the answer with its error bars; into a file, if one is named (png, svg, pdf)."""
        from discreet.answers.plots.answer_plot import plot

        return plot(self, None if path is None else Path(path))

    def explain(self) -> str:
        """Say in plain words what was protected, at what price, what the bounds did and what may be done freely."""
        from discreet.answers.explain import explain

        return explain(self)

    # Taking it elsewhere ---------------------------------------------------------------------------------------------

    def _plain(self) -> tuple[list[str], list[list[Any]]]:
        names, values = (
            list(self.keys),
            [list(each) for each in zip(*self.rows, strict=True)] or [[] for _ in self.keys],
        )
        for column in self.columns:
            names += _exported(column.name)
            values += [[getattr(cell, end) for cell in column.cells] for end in ("value", "low", "high")]
        return names, values

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table to whatever reads Arrow (Polars, DuckDB, pyarrow, ...), without needing pyarrow."""
        from discreet.answers.export import capsule

        return capsule(self, requested_schema)

    def to_pandas(self) -> Any:  # noqa: ANN401  (pandas is not needed to install Discreet)
        """Return a pandas DataFrame: keys, then every column with its low and high."""
        from discreet.answers.export import pandas

        return pandas(self)

    def to_polars(self) -> Any:  # noqa: ANN401  (Polars is not needed to install Discreet)
        """Return a Polars DataFrame: keys, then every column with its low and high."""
        from discreet.answers.export import polars

        return polars(self)

    def to_arrow(self) -> Any:  # noqa: ANN401  (pyarrow is not needed to install Discreet)
        """Return a pyarrow Table: keys, then every column with its low and high."""
        from discreet.answers.export import arrow

        return arrow(self)

    def to_csv(self, path: str | Path) -> None:
        """Write a CSV file with a header; a text that a spreadsheet would run gets an apostrophe in front.

        Parquet, Arrow and JSON keep texts as they are.
        """
        from discreet.answers.export import csv_file

        csv_file(self, Path(path))

    def to_parquet(self, path: str | Path) -> None:
        """Write a Parquet file."""
        from discreet.answers.export import parquet_file

        parquet_file(self, Path(path))

    def to_json(self) -> str:
        """Write the answer, noise laws included, as versioned JSON that `from_json` reads back."""
        record = {
            "keys": list(self.keys),
            "rows": [[write_key(value) for value in row] for row in self.rows],
            "noises": noises([quantity for column in self.columns for quantity in column.quantities]),
            "columns": [column.record() for column in self.columns],
            "loss": None if self.loss is None else json.loads(self.loss.to_json()),
            "asked": dict(self.asked),
            "unit": self.unit,
            "notes": list(self.notes),
            "receipt": None if self.receipt is None else dict(self.receipt),
            "remaining": self.remaining,
            "sampling": self.sampling,
            **({} if self.cut is None else {"cut": self.cut.to_json()}),
        }
        return records.write("answer", record)

    @classmethod
    def from_json(cls, text: str, *, receipt: Mapping[str, Any] | None = None, remaining: str | None = None) -> Answer:
        """Read what `to_json` wrote; a receipt and what remains may be added, since they are known later."""
        record = records.read("answer", text)
        if isinstance(record, dict) and "sampling" not in record:  # as it was before intervals of sampling
            record = {**record, "sampling": False}
        has_cut = isinstance(record, dict) and "cut" in record
        given = records.fields("answer", record, (*_FIELDS, "cut") if has_cut else _FIELDS)
        try:
            answer = cls._read(given)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, Refusal):
                raise
            why = "it is not an answer"
            raise BadParameter("json", text, why=why, fix="pass the text that to_json returned, unchanged") from error
        receipt = answer.receipt if receipt is None else receipt
        return answer.received(receipt, answer.remaining if remaining is None else remaining)

    @classmethod
    def _read(cls, given: dict[str, Any]) -> Answer:
        known = read_noises(given["noises"])
        return cls(
            keys=tuple(given["keys"]),
            rows=tuple(tuple(read_key(value) for value in row) for row in given["rows"]),
            columns=tuple(AnswerColumn.from_record(column, known) for column in given["columns"]),
            loss=None if given["loss"] is None else PrivacyLoss.from_json(json.dumps(given["loss"])),
            asked=given["asked"],
            unit=given["unit"],
            notes=tuple(given["notes"]),
            receipt=given["receipt"],
            remaining=given["remaining"],
            sampling=given["sampling"] is True,
            cut=cls.from_json(given["cut"]) if "cut" in given else None,
        )

    def received(self, receipt: Mapping[str, Any] | None, remaining: str) -> Answer:
        """Return the answer with the receipt of its charge and what the budget has left."""
        return replace(self, receipt=receipt, remaining=remaining)


def _exported(name: str) -> list[str]:
    """Return the names under which a column leaves."""
    return [name, f"{name}_low", f"{name}_high"]


_FIELDS = ("keys", "rows", "noises", "columns", "loss", "asked", "unit", "notes", "receipt", "remaining", "sampling")
