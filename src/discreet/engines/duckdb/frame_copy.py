"""Copies: rows that live in memory, written beside the vault as a Parquet file that only its owner may read.

Columns keep the types their frame declares. A column of Python objects declares none, and a dict of lists has none
at all, so that these become text: to look at the values and choose would let one record decide. No value makes copying
fail: moments beyond what microseconds since 1970 can count are nulls, and columns of times of day, durations and nested
values, which no declaration can read, are copied without their values.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

from discreet.core.errors import BadParameter, Refusal
from discreet.core.value import dataclass
from discreet.engines.duckdb.engine import connect, literal
from discreet.engines.source import Source

# How copies are named; kept rows and drafts are named otherwise.
_COPY = re.compile(r"[0-9A-Za-z]{1,40}-[0-9a-f]{16}[.]parquet")
# Types of which nothing is read, and whose values may fail to be converted.
_UNREAD = re.compile(r"TIME(_NS| WITH TIME ZONE)?|INTERVAL|.*\]|(STRUCT|MAP|UNION)\(.*", re.DOTALL)
# Of what begins so in the name of a column that we make, the unit in microseconds follows.
_COUNTED = "~instant "
# Smaller floats that are whole are spelled as whole numbers, as identifiers are (`engines.dialect.WIDE`).
_WIDE = 1 << 126
# Exact numbers of so many digits are written without an exponent.
_MOST_DIGITS = 400
# The seconds since 1970 between which the engine counts microseconds.
_FIRST_SECOND, _LAST_SECOND = -9_223_372_022_400, 9_223_372_036_854
_NO_MOMENT = 775_807  # microseconds of the last second that are the largest integer


@dataclass(frozen=True, slots=True)
class _Capsule:
    """Shows of a frame its Arrow stream alone, which the engine then reads without any other package."""

    frame: Any

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


def is_memory(data: object) -> bool:
    """Whether this is rows in memory, rather than the path of a file."""
    return isinstance(data, Mapping) or is_pandas(data) or hasattr(data, "__arrow_c_stream__")


def copy(data: object, folder: Path, *, name: str = "table") -> Source:
    """Write rows from memory into the folder and return their source; its path is the file's name in the folder.

    The folder has mode 0700 and the file 0600, from their first byte on.
    """
    relation = _relation(data)
    with new_copy(folder, name) as file:
        _write(relation, file)
    return Source("memory-copy", file.name)


@contextmanager
def new_copy(folder: Path, name: str) -> Iterator[Path]:
    """Make the file of a new copy for the rows of a table, readable by its owner alone; it goes if the block fails."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    # The name tells nothing and is never used twice, so that an old version is not overwritten while it is read.
    file = folder / f"{_safe(name)}-{secrets.token_hex(8)}.parquet"
    os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        yield file
        file.chmod(0o600)
    except BaseException:
        file.unlink(missing_ok=True)
        raise


def copies_in(folder: Path) -> list[Path]:
    """Return the files of a folder that have names of copies."""
    return [each for each in sorted(folder.glob("*.parquet")) if _COPY.fullmatch(each.name)]


def _write(relation: object, file: Path) -> None:
    import duckdb

    with connect() as engine:
        try:
            engine.register("frame", relation)
            columns = ", ".join(_column(name, kind) for name, kind, *_ in engine.execute("DESCRIBE frame").fetchall())
            chosen = f"SELECT {columns} FROM frame"  # noqa: S608
            engine.execute(f"COPY ({chosen}) TO {literal(str(file))} (FORMAT parquet, USE_TMP_FILE false)")
        except duckdb.Error:
            # The engine's text might quote a value of the data.
            why, fix = "the frame cannot be written as Parquet", "turn nested or foreign columns into plain ones first"
            raise Refusal("source in memory", why=why, fix=fix, value=type(relation).__name__) from None
    file.chmod(0o600)


def _column(name: str, kind: str) -> str:
    """Write how a column is copied; what depends on its type alone."""
    quoted = _quoted(name)
    if name.startswith(_COUNTED):
        unit, _, found = name.removeprefix(_COUNTED).partition(" ")
        moment = f"make_timestamp(TRY_CAST(CAST({quoted} AS HUGEINT) * {int(unit)} AS BIGINT))"
        return f"TRY({moment} AT TIME ZONE 'UTC') AS {_quoted(found)}"
    if kind in ("TIMESTAMP_S", "TIMESTAMP_MS"):
        return f"TRY_CAST({quoted} AS TIMESTAMP) AS {quoted}"
    if kind.startswith("TIMESTAMP"):  # the largest integer stands for no moment, and has no text either
        return f"CASE WHEN isfinite({quoted}) THEN {quoted} END AS {quoted}"
    return f"CAST(NULL AS {kind}) AS {quoted}" if _UNREAD.fullmatch(kind) else quoted


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _relation(data: object) -> object:
    """Return what the engine may register: a pandas frame, an Arrow stream, or arrays of text."""
    if is_pandas(data):
        return _from_pandas(data)
    if isinstance(data, Mapping):
        return _as_text(data)
    if hasattr(data, "__arrow_c_stream__"):
        return arrow_stream(data)
    why, fix = "rows come from a file or a data frame", "use a path, pandas, Polars, Arrow, or a dict of lists"
    raise BadParameter("source", type(data).__name__, why=why, fix=fix)


def arrow_stream(data: object) -> object:
    """Return an Arrow frame as the engine may register it."""
    return _Capsule(_from_polars(data) if _is_of(data, "polars") else _from_arrow(data))


def _from_pandas(data: Any) -> object:  # noqa: ANN401
    """Return a pandas frame whose objects are texts, and whose coarse moments with a zone count from 1970.

    With columns of Arrow types the frame becomes an Arrow table, by its types alone.
    """
    frame = data.copy(deep=False)
    names = [str(name) for name in frame.columns]
    arrow = False
    for place in range(len(names)):
        column = _without_categories(frame.iloc[:, place])
        kind = column.dtype
        arrow = arrow or hasattr(kind, "pyarrow_dtype")
        if str(kind).startswith("datetime64[ns"):
            column = column.dt.as_unit("us")  # rounded down: the engine would round up, into the next day
            kind = column.dtype
        if _is_spelled(kind):
            column = type(column)(_texts(column), index=column.index, dtype="string")
        elif getattr(kind, "tz", None) is not None and kind.unit in ("s", "ms"):
            # Without a zone it is in UTC; what is missing is the least integer, which becomes null in microseconds.
            column = column.to_numpy(f"datetime64[{kind.unit}]").view("int64")
            names[place] = _counted(names[place], kind.unit)
        frame.isetitem(place, column)
    frame.columns = names
    if not arrow:
        return frame
    import pyarrow as pa

    return _Capsule(_from_arrow(pa.Table.from_pandas(frame, preserve_index=False)))


def _without_categories(column: Any) -> Any:  # noqa: ANN401
    """Return a column of categories as one of their values, whose type alone then decides how it is copied."""
    if not hasattr(column.dtype, "categories"):
        return column
    from pandas.api.extensions import take

    kinds = column.cat.categories.values
    if getattr(kinds.dtype, "kind", "") in "iub" and type(kinds.dtype).__module__.startswith("numpy"):
        # In a type that has nulls, whether there is one or not: NumPy would make floats of large numbers for one null.
        import pandas as pd

        kinds = pd.array(kinds, dtype=_NULLABLE.get(kinds.dtype.name, "boolean"))
    values = take(kinds, column.cat.codes.to_numpy(), allow_fill=True)
    return type(column)(values, index=column.index)


_NULLABLE = {f"{sign}int{bits}": f"{sign.upper()}Int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


def _is_spelled(kind: Any) -> bool:  # noqa: ANN401
    """Whether a column of pandas is copied as texts: objects, strings, and decimals, of which one row makes objects."""
    if kind.kind == "O" and type(kind).__module__.startswith("numpy"):
        return True
    return kind.name in ("string", "str") or "decimal" in str(getattr(kind, "pyarrow_dtype", ""))


def _texts(values: Iterable[object]) -> Any:  # noqa: ANN401
    import numpy as np

    found = [_written(value) for value in values]
    texts = np.empty(len(found), dtype=object)
    texts[:] = found
    return texts


def _from_polars(frame: Any) -> Any:  # noqa: ANN401
    """Return a Polars frame whose coarse moments with a zone count from 1970, and whose fine ones are rounded down."""
    fine = [
        name for name, kind in dict(getattr(frame, "schema", {})).items() if getattr(kind, "time_unit", None) == "ns"
    ]
    moments = [name for name in fine if hasattr(frame.schema[name], "time_zone")]
    frame = frame.with_columns(*(frame[name].dt.cast_time_unit("us") for name in moments)) if moments else frame
    coarse = {
        name: _counted(name, "ms")
        for name, kind in dict(getattr(frame, "schema", {})).items()
        if getattr(kind, "time_zone", None) is not None and kind.time_unit == "ms"
    }
    return frame.with_columns(*(frame[name].to_physical() for name in coarse)).rename(coarse) if coarse else frame


def _from_arrow(frame: Any) -> Any:  # noqa: ANN401
    """Return an Arrow stream whose coarse moments with a zone count from 1970: the engine would fail on some."""
    try:
        import pyarrow as pa
    except ImportError:  # then it is nobody's table of pyarrow
        return frame
    reader = pa.RecordBatchReader.from_stream(frame)
    fields = [field.with_type(_plain(field.type)) for field in reader.schema]
    coarse = {
        place: pa.field(_counted(field.name, field.type.unit), pa.int64())
        for place, field in enumerate(fields)
        if pa.types.is_timestamp(field.type) and field.type.tz is not None and field.type.unit in ("s", "ms")
    }
    coarse |= {
        place: pa.field(field.name, pa.float32())  # the engine knows no shorter floats
        for place, field in enumerate(fields)
        if pa.types.is_float16(field.type)
    }
    coarse |= {
        place: pa.field(field.name, pa.timestamp("us", field.type.tz))
        for place, field in enumerate(fields)
        if pa.types.is_timestamp(field.type) and field.type.unit == "ns"
    }
    schema = pa.schema([coarse.get(place, field) for place, field in enumerate(fields)])
    if schema.types == reader.schema.types:
        return reader

    def batches() -> Any:  # noqa: ANN401
        for batch in reader:
            arrays = [
                array if array.type == field.type else _cast(_decoded(array), field.type)
                for array, field in zip(batch.columns, schema, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _plain(kind: Any) -> Any:  # noqa: ANN401
    """Return the type of the values behind dictionaries, texts apart, and runs: the engine fails on some of them."""
    import pyarrow as pa

    if pa.types.is_run_end_encoded(kind):
        return _plain(kind.value_type)
    texts = pa.types.is_string, pa.types.is_large_string
    if pa.types.is_dictionary(kind) and not any(is_text(kind.value_type) for is_text in texts):
        return _plain(kind.value_type)
    return kind


def _decoded(array: Any) -> Any:  # noqa: ANN401
    import pyarrow as pa
    from pyarrow import compute

    while _plain(array.type) != array.type:
        is_run = pa.types.is_run_end_encoded(array.type)
        array = compute.run_end_decode(array) if is_run else array.dictionary_decode()
    return array


def _cast(array: Any, kind: Any) -> Any:  # noqa: ANN401
    """Return an array in another type; nanoseconds are rounded down, where a cast would round towards 1970."""
    import pyarrow as pa
    from pyarrow import compute

    if not (pa.types.is_timestamp(array.type) and array.type.unit == "ns" and pa.types.is_timestamp(kind)):
        return array.cast(kind)
    whole = array.cast(pa.int64())
    towards = compute.divide(whole, 1000)
    below = compute.less(whole, compute.multiply(towards, 1000)).cast(pa.int64())
    return compute.subtract(towards, below).cast(kind)


def _counted(name: str, unit: str) -> str:
    return f"{_COUNTED}{({'s': 10**6, 'ms': 10**3})[unit]} {name}"


def _as_text(data: Mapping[Any, Any]) -> dict[str, Any]:
    import numpy as np

    lengths = set()
    columns: dict[str, Any] = {}
    for name, values in data.items():
        if not isinstance(name, str) or isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
            why, fix = "a dict of lists has a name and a list for every column", "write {'age': [41, 7], ...}"
            raise BadParameter("source", name, why=why, fix=fix)
        columns[name] = _texts(values)
        lengths.add(len(columns[name]))
    if len(lengths) != 1:
        why, fix = "its columns have to be lists of one length", "give every column a value, or None, for every row"
        raise BadParameter("source", sorted(columns), why=why, fix=fix)
    return columns


def _written(value: object) -> str | None:
    """Write a value as a CSV file would have it; what is missing, or no text that an engine can store, is null.

    Nothing is raised: a signalling NaN and a number of too many digits are nulls, too.
    """
    try:
        text = value if type(value) is str else None if _is_missing(value) else _spelled(value)
    except Exception:  # whatever an object of somebody's does
        return None
    return None if text is None or "\0" in text or not _is_text(text) else text


def _is_text(text: str) -> bool:
    """Whether a text has no halves of characters, which no engine can store."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _spelled(value: object) -> str | None:
    """Spell a value as columns of its type are read: one row may turn a column of a type into one of objects.

    Whole numbers have neither point nor exponent up to where identifiers have none; truth values are 1 and 0, since one
    number in their column makes numbers of them; moments are in UTC.
    """
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "1" if value else "0"
    if type(value).__name__.startswith("float"):
        number = float(value)  # type: ignore[arg-type]
        return str(int(number)) if number.is_integer() and abs(number) < _WIDE else repr(number)
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) < _MOST_DIGITS:
        plain = f"{value:f}"
        return (plain.rstrip("0").rstrip(".") if "." in plain else plain) if value else "0"
    return _moment(value) if isinstance(value, dt.datetime) else str(value)


def _moment(value: dt.datetime) -> str | None:
    """Spell a moment in UTC, one before our era as engines do; what microseconds since 1970 cannot count is null."""
    if value.utcoffset() is not None:
        with suppress(OverflowError):  # at the ends of time, where every declared day is nearer than the next one
            value = value.astimezone(dt.UTC)
    if hasattr(value, "to_datetime64"):  # of pandas, which knows years that Python does not
        seconds = int(value.to_datetime64().astype("datetime64[s]").astype("int64"))
        if not _FIRST_SECOND <= seconds <= _LAST_SECOND:
            return None
        if seconds == _LAST_SECOND and value.microsecond >= _NO_MOMENT:
            return None
    if value.year < 1:
        return f"{1 - value.year:04}-{value.month:02}-{value.day:02} (BC)"
    return str(value)


def _is_missing(value: object) -> bool:
    """Whether this is None, or what NumPy and pandas write for it: NaN, NaT and NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or str(value) == "NaT":
        return True
    return type(value).__name__.startswith(("float", "Decimal")) and value != value


def is_pandas(data: object) -> bool:
    """Whether this is a frame of pandas."""
    # By its name, so that nobody has to have pandas.
    return _is_of(data, "pandas") and hasattr(data, "columns")


def _is_of(data: object, package: str) -> bool:
    return type(data).__module__.partition(".")[0] == package


def _safe(name: str) -> str:
    return "".join(character for character in name if character.isascii() and character.isalnum())[:40] or "table"
