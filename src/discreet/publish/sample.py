"""Samples: rows drawn from synthetic data, as values; for pandas, Polars, Arrow, CSV and Parquet."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.core.column import Column
from discreet.core.errors import BadParameter, MissingExtra
from discreet.core.file import new_file
from discreet.core.printable import spreadsheet_cell
from discreet.engines.dialect import select
from discreet.noise.uniform import uniform

Codes = NDArray[np.int64]
Kind = Literal["whole", "number", "date", "flag", "key"]

_EPOCH = dt.date(1970, 1, 1)
# Integers beyond this are given as floating-point ones: no column of another library would hold them exactly.
_WIDE = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class SampledColumn:
    """One column of a sample. Dates are days since 1970-01-01, and keys are places among `keys`."""

    kind: Kind
    values: NDArray[Any]
    missing: NDArray[np.bool_] | None = None
    keys: tuple[str | int, ...] = ()

    def listed(self) -> list[Any]:
        """Return the column as Python's own values, None where it is null."""
        plain: list[Any]
        match self.kind:
            case "key":
                plain = [self.keys[place] for place in self.values.tolist()]
            case "date":
                plain = [_EPOCH + dt.timedelta(day) for day in self.values.tolist()]
            case _:
                plain = self.values.tolist()
        if self.missing is None:
            return plain
        return [None if gone else value for value, gone in zip(plain, self.missing.tolist(), strict=True)]


def decoded(column: Column, starts: Sequence[int] | None, codes: Codes) -> SampledColumn:
    """Return values for the codes of a column; `starts` are the first steps of its bins, where it has bins."""
    missing = None
    if column.nullable:
        values = len(starts) if starts is not None else 2 if column.kind == "flag" else len(column.keys or ())
        missing = codes == values
        codes = np.where(missing, 0, codes)
    if column.kind == "flag":
        return SampledColumn("flag", codes == 1, missing)
    if starts is None:
        keys = column.keys or ()
        if all(isinstance(key, int) and abs(key) < _WIDE for key in keys):
            return SampledColumn("whole", np.array(keys, np.int64)[codes], missing)
        return SampledColumn("key", codes, missing, keys)
    steps = _within(starts, column.steps[1] + 1, codes)
    if column.kind == "date":
        return SampledColumn("date", steps, missing)
    step = column.step or Fraction(1)
    if step.denominator == 1 and steps.dtype != object and max(map(abs, column.steps)) * step < _WIDE:
        return SampledColumn("whole", steps * step.numerator, missing)
    # One division rounds once, so three tenths are 0.3 and not a little more.
    return SampledColumn("number", (steps.astype(np.float64) * step.numerator) / step.denominator, missing)


def _within(starts: Sequence[int], end: int, codes: Codes) -> NDArray[Any]:
    """Draw a step of each code's bin, every one of them with the same probability."""
    kind = np.int64 if max(abs(starts[0]), abs(end)) < _WIDE else object
    first = np.array(starts, kind)
    width = np.array([*starts[1:], end], kind) - first
    found: NDArray[Any] = first[codes]
    wide = width[codes]
    for each in sorted({*width.tolist()}):
        here = np.flatnonzero(wide == each)
        if each > 1 and len(here):
            found[here] += np.asarray(uniform(int(each), len(here)), kind)
    return found


_TYPES = {"whole": "BIGINT", "number": "DOUBLE", "flag": "BOOLEAN"}
_FORMATS = {".csv": "(FORMAT csv, HEADER)", ".parquet": "(FORMAT parquet)"}
_PANDAS = {"whole": ("int64", "Int64"), "number": ("float64", "float64"), "flag": ("bool", "boolean")}


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A synthetic table: `columns` as lists, `to_pandas()`, `write("synthetic.parquet")`, or anything that reads Arrow.

    Guarantee: it follows from the synthetic data alone, so it may be published.
    """

    drawn: Mapping[str, SampledColumn]

    def __len__(self) -> int:
        return max((len(each.values) for each in self.drawn.values()), default=0)

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The columns by name, as Python's own values."""
        return {name: each.listed() for name, each in self.drawn.items()}

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._relation().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:  # noqa: ANN401  (pandas is no dependency)
        """Return a pandas DataFrame; integers with gaps are pandas' own nullable ones."""
        pandas = _module("pandas")
        found = {}
        for name, each in self.drawn.items():
            kind = _PANDAS.get(each.kind, ("object", "object"))[each.missing is not None and bool(each.missing.any())]
            plain = each.values if kind in ("int64", "bool") else each.listed()
            found[name] = pandas.array(plain, dtype=kind) if kind != "object" else np.array(plain, object)
        return pandas.DataFrame(found)

    def to_polars(self) -> Any:  # noqa: ANN401  (Polars is no dependency)
        """Return a Polars DataFrame."""
        return _module("polars").DataFrame(self)

    def to_arrow(self) -> Any:  # noqa: ANN401  (pyarrow is no dependency)
        """Return a pyarrow Table."""
        return _module("pyarrow").table(self)

    def write(self, path: str | Path) -> None:
        """Write a CSV or a Parquet file, whichever the name ends in.

        In CSV a text that a spreadsheet would run as a formula gets an apostrophe in front; Parquet keeps it as it is.
        """
        import duckdb

        target = Path(path)
        options = _FORMATS.get(target.suffix.lower())
        if options is None:
            why = "a sample is written as CSV or as Parquet"
            raise BadParameter("path", str(path), why=why, fix="end the name in .csv or .parquet")
        try:
            with new_file(target, force=True) as place:
                quoted = "'" + str(place).replace("'", "''") + "'"
                rows = self._relation(safe=target.suffix.lower() == ".csv")
                rows.query("sample", f"COPY sample TO {quoted} {options}")
        except duckdb.Error as error:
            fix = "use a folder that exists and may be written to"
            raise BadParameter("path", str(path), why="the file could not be written", fix=fix) from error

    def _relation(self, *, safe: bool = False) -> Any:  # noqa: ANN401  (duckdb has no types)
        """Return the sample as a DuckDB relation, which reads our arrays where they are; `safe` for a spreadsheet."""
        import duckdb

        arrays: dict[str, Any] = {}
        texts, keys = [], []
        for place, (name, each) in enumerate(self.drawn.items()):
            value, gone = f"v{place}", f"m{place}"
            arrays[value] = np.ascontiguousarray(each.values)
            if each.kind == "key":
                keys.append([spreadsheet_cell(key) for key in each.keys] if safe else [*each.keys])
                kind = "VARCHAR" if isinstance(each.keys[0], str) else "BIGINT"
                sql = f"(${len(keys)}::{kind}[])[{value} + 1]"
            elif each.kind == "date":
                sql = f"DATE '1970-01-01' + {value}::INTEGER"
            else:
                sql = f"{value}::{_TYPES[each.kind]}"
            if each.missing is not None:
                arrays[gone] = np.ascontiguousarray(each.missing)
                sql = f"CASE WHEN NOT {gone} THEN {sql} END"
            texts.append(f"{sql} AS {_quoted(str(spreadsheet_cell(name)) if safe else name)}")
        engine = duckdb.connect()
        engine.register("drawn", arrays)
        return engine.sql(select(texts, "drawn"), params=keys)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _module(name: str) -> Any:  # noqa: ANN401  (modules that are no dependency)
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        refusal = MissingExtra(f"a sample for {name}", name, name)
        refusal.fix = f"pip install {name}"
        raise refusal from error
