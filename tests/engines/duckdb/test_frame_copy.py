"""Copies of frames: no value decides a type, the reading of others, or whether copying succeeds."""

import datetime as dt
import math
import os
import stat
import subprocess
import sys
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.ask.registered import check_columns
from discreet.core.errors import BadParameter
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.frame_copy import copy, is_memory
from discreet.engines.duckdb.options import parquet
from discreet.engines.duckdb.source import describe, from_sql
from discreet.engines.physical import MILLISECONDS
from discreet.plan.expressions import Name
from discreet.plan.keys import NO_KEYS, Tally, TallyQuery
from discreet.plan.nodes import Scan
from discreet.plan.to_sql.scalar import Relation, is_readable, raw_sql
from discreet.plan.to_sql.statement import tallies_sql
from tests.engines.duckdb.sample_files import rows

SECRET = b"secret" * 8
DAY = dp.date("1990-01-01", "2030-01-01").named("x")
LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
EXTREMES = np.array([0, 10**9, 9_300_000_000_000_000, -9_300_000_000_000_000, MOST, MOST - 1, LEAST + 1, LEAST])
UNITS = ("s", "ms", "us", "ns")
TIMES = [pa.timestamp(unit, zone) for unit in UNITS for zone in (None, "UTC", "Europe/Berlin")]
TIMES += [pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
TIMES += [pa.duration(unit) for unit in UNITS]


def extreme(kind):
    """Put the extremes of integers where an Arrow type stores its values."""
    width = np.iinfo(f"int{kind.bit_width}")
    values = np.clip(EXTREMES, width.min, width.max).astype(width.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values.tobytes())])


def read(source):
    """Read the column x as whatever it can be declared, by an engine of ours; nothing may fail."""
    physical = describe(source)["x"]
    columns = [
        column for column in (DAY, dp.text().named("x"), dp.between(0, 9).named("x")) if is_readable(column, physical)
    ]
    written = [raw_sql(column, physical) for column in columns]
    with DuckDBEngine(SECRET, threads=1) as engine:
        return engine.rows(
            f"SELECT {', '.join(['count(*)', *(f'count({each})' for each in written)])} FROM {from_(source)}"
        )


def from_(source):
    return from_sql(source)


def copied(frame, folder):
    return copy(frame, folder / "v").resolved(folder / "v")


@pytest.mark.parametrize("kind", TIMES, ids=str)
def test_no_moment_is_too_large_to_be_copied_or_read(tmp_path, kind):
    table = pa.table({"k": range(8), "x": extreme(kind)})
    frames = [table, table.to_reader()]
    if kind not in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.date64()):
        frames.append(pd.DataFrame({"k": range(8), "x": pd.Series(pd.arrays.ArrowExtensionArray(extreme(kind)))}))
    kinds = set()
    for frame in frames:
        source = copied(frame, tmp_path)
        kinds.add(describe(source)["x"])
        assert read(source)[0][0] == 8
    assert len(kinds) == 1


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_no_moment_of_pandas_is_too_large(tmp_path, unit, zone):
    column = pd.Series(EXTREMES.view(f"datetime64[{unit}]"))
    if zone is not None:
        column = column.dt.tz_localize("UTC").dt.tz_convert(zone)
    assert read(copied(pd.DataFrame({"k": range(8), "x": column}), tmp_path))[0][0] == 8


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_no_moment_of_polars_is_too_large(tmp_path, unit, zone):
    column = pl.Series("x", EXTREMES).cast(pl.Datetime(unit, zone))
    assert read(copied(pl.DataFrame({"x": column}), tmp_path))[0][0] == 8


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_moments_are_copied_as_they_are(tmp_path, unit, zone):
    # Noon of 2024-03-01, in UTC.
    moments = pd.Series(pd.to_datetime(["2024-03-01 12:00", None])).astype(f"datetime64[{unit}]")
    moments = moments if zone is None else moments.dt.tz_localize("UTC").dt.tz_convert(zone)
    for frame in (pd.DataFrame({"x": moments}), pa.table({"x": pa.array(moments)})):
        source = copied(frame, tmp_path)
        with DuckDBEngine(SECRET) as engine:
            days = engine.rows(f"SELECT {raw_sql(DAY, describe(source)['x'])} FROM {from_(source)}")
        assert days == [(19783,), (None,)]


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_a_parquet_column_in_milliseconds_is_refused_by_its_type_and_never_read(tmp_path, zone):
    table = pa.table({"k": range(8), "x": extreme(pa.timestamp("ms", zone)), "s": pa.array([{"x": 1}] * 8)})
    pq.write_table(table, tmp_path / "t.parquet")
    source = parquet(tmp_path / "t.parquet")
    physical = describe(source)
    assert physical == {"k": "BIGINT", "x": MILLISECONDS, "s": physical["s"]}
    with pytest.raises(BadParameter, match="write the column in microseconds"):
        check_columns(dp.Table("t", dp.person("k", max_rows=1), [DAY]), physical)
    with pytest.raises(BadParameter, match="cannot be identified"):
        check_columns(dp.Table("t", dp.person("x", max_rows=1), {"k": dp.between(0, 1)}), physical)
    relation = Relation(dp.Table("t", dp.person("k", max_rows=1), {"k": dp.between(0, 9)}), physical, from_(source))
    with DuckDBEngine(SECRET) as engine:
        sql = tallies_sql(
            TallyQuery(Scan("t"), NO_KEYS, (Tally("rows"), Tally("sum", (Name("k"),)))), {"t": relation}
        ).sql
        assert engine.rows(sql)[0][-2:] == (8, 28)


@pytest.mark.parametrize("kind", ["TIME", "TIME_NS", "INTERVAL", "BIGINT[]", "STRUCT(a TIMESTAMP)"])
def test_people_are_not_told_apart_by_times(kind):
    with pytest.raises(BadParameter, match="cannot be identified"):
        check_columns(dp.Table("t", dp.person("x", max_rows=1), {"y": dp.flag()}), {"x": kind, "y": "BOOLEAN"})


PEOPLE, ROWS = 200, 4
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NULLABLE = ["Int8", "Int64", "UInt8", "UInt64", "Float32", "Float64", "int64[pyarrow]", "double[pyarrow]", "object"]


def counted(frame, folder):
    """Count rows of each kind, of which one is kept of each person: which one, the secret order decides."""
    source = copied(frame, folder)
    columns = {"x": dp.between(0, 3), "w": dp.one_of("0", "1", "2", "3")}
    relation = Relation(
        dp.Table("t", dp.person("id", max_rows=1, bound="table"), columns), describe(source), from_(source)
    )
    question = TallyQuery(Scan("t"), NO_KEYS, (Tally("rows"), Tally("sum", (Name("x"),))))
    with DuckDBEngine(SECRET, threads=1) as engine:
        return engine.rows(tallies_sql(question, {"t": relation}).sql)[0][-2:]


def frame_of(kind, missing=0):
    """Give everyone rows that differ, and a row without any value; integers are kept as the type says, if it can."""
    people = [*np.repeat(range(100), ROWS).tolist()] * (PEOPLE // 100)
    other = [number % ROWS for number in range(len(people))]
    table = pd.DataFrame({"id": people, "x": other, "w": other}).astype(kind)
    return (
        pd.concat([table, pd.DataFrame([[None] * 3] * missing, columns=table.columns)], ignore_index=True)
        if missing
        else table
    )


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_one_missing_identifier_reorders_nobody(tmp_path):
    rows, total = counted(frame_of("int64"), tmp_path)
    assert (rows, total) == (100, total)
    for kind in [*INTEGERS, "float32", "float64", *NULLABLE]:
        assert counted(frame_of(kind), tmp_path) == (rows, total), kind
        assert counted(frame_of(kind, missing=1), tmp_path) == (rows + 1, total), kind


def test_arrow_polars_and_lists_order_people_alike(tmp_path):
    table = frame_of("int64")
    wanted = counted(table, tmp_path)
    listed = {name: column.tolist() for name, column in table.items()}
    frames = [pa.table(listed), pl.DataFrame(listed), listed, {name: np.array(each) for name, each in listed.items()}]
    frames += [{name: np.array(each, dtype=float) for name, each in listed.items()}]
    for kind in (
        pa.int8(),
        pa.uint16(),
        pa.int32(),
        pa.float16(),
        pa.float32(),
        pa.float64(),
        pa.decimal128(19, 0),
        pa.string(),
    ):
        arrays = {
            name: pa.array(np.array(each, dtype="float16"), kind) if kind == pa.float16() else pa.array(each).cast(kind)
            for name, each in listed.items()
        }
        frames.append(pa.table(arrays))
    for frame in frames:
        assert counted(frame, tmp_path) == wanted


def test_values_in_columns_of_objects_are_spelled_as_engines_spell_them(tmp_path):
    values = [
        1,
        1.0,
        np.float32(2),
        0.5,
        True,
        np.bool_(False),
        math.nan,
        None,
        pd.NA,
        pd.NaT,
        math.inf,
        "1.0",
        "x\0",
        "\ud800",
    ]
    wanted = ["1", "1", "2", "0.5", "1", "0", None, None, None, None, "inf", "1.0", None, None]
    for frame in (pd.DataFrame({"x": pd.Series(values, dtype=object)}), {"x": values}):
        source = copied(frame, tmp_path)
        assert describe(source) == {"x": "VARCHAR"}
        with DuckDBEngine(SECRET) as engine:
            assert engine.rows(f"SELECT x FROM {from_(source)}") == [(each,) for each in wanted]


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_one_object_does_not_decide_the_types_of_a_frame_with_arrow_columns(tmp_path):
    arrow = pd.array([1, 2], dtype="int64[pyarrow]")
    for objects in ([1, 2], [1, "a"], [None, None], [[1], {}]):
        frame = pd.DataFrame({"n": arrow, "x": pd.Series(objects, dtype=object), "c": pd.Categorical(["a", None])})
        assert describe(copied(frame, tmp_path)) == {"n": "BIGINT", "x": "VARCHAR", "c": "VARCHAR"}


class Hostile:
    """Raises whatever is asked of it."""

    def __str__(self):
        raise RuntimeError("a value of the data")


def test_no_object_keeps_a_frame_from_being_copied(tmp_path):
    odd = [Decimal("sNaN"), Decimal("NaN"), 10**5000, Hostile(), "x"]
    for frame in (pd.DataFrame({"x": pd.Series(odd, dtype=object)}), {"x": odd}):
        source = copied(frame, tmp_path)
        with DuckDBEngine(SECRET) as engine:
            assert engine.rows(f"SELECT x FROM {from_(source)}") == [(None,)] * 4 + [("x",)]


FAR = [1e39, -1.5e300, float(2**126), 2.0**125, 1e22, 2.0**53, 1e17 + 64, 3.0]
BERLIN = [pd.Timestamp(f"2024-0{month}-01 00:30", tz="Europe/Berlin") for month in (1, 7)]
COARSE = [9_007_199_254_741_499, 9_007_199_254_741_500, -(2**63), 2**63 - 1, 1500, 499]
# Years before our era, of five and of six digits, and beyond what microseconds count.
ENDLESS = np.array([4 * 10**11, 0, -(10**11), 9 * 10**12, 10**13, -(10**13)])
READ = [
    *(
        dp.text(),
        dp.between(0, 50, step=0.01),
        dp.flag(),
        dp.one_of("1.5", "2", "inf", "1"),
        dp.one_of("true", "false"),
    ),
    *(dp.one_of("1", "true"), dp.one_of("true", "0"), dp.one_of(0, 1, 2)),
]
ALIKE = {
    "booleans": (pd.Series([True, False, True]), [dp.between(-1, 3, step=0.5), dp.one_of(0, 1), dp.flag()]),
    "few booleans": (pd.Series([True, False]), [dp.between(2, 9), dp.one_of(1, 7), dp.one_of("true")]),
    "integers": (pd.Series(COARSE), [dp.between(-(10**18), 10**18, step=1000), dp.between(0, 2**124, step=3)]),
    "wide numbers": (pd.Series(COARSE), [dp.between(0, 10**36, step=1000), dp.between(0, 10**40, step=10**18)]),
    "floats": (pd.Series(FAR), [dp.between(0, 10**19, step=1000), dp.between(-(2**125), 2**125, step=3)]),
    "moments": (pd.Series(BERLIN), [dp.date("2023-01-01", "2025-01-01")]),
    "far moments": (pd.Series(ENDLESS.view("datetime64[s]")), [dp.date("2023-01-01", "2025-01-01")]),
    "far zones": (
        pd.Series(ENDLESS[:1].view("datetime64[s]")).dt.tz_localize("UTC"),
        [dp.date("2023-01-01", "2025-01-01")],
    ),
    "categories": (pd.Series([1.0, 2.5, math.inf, 1.0]).astype("category"), READ),
    "true categories": (pd.Series([True, False]).astype("category"), READ),
    "decimals": (
        pd.Series([Decimal("2.675"), Decimal("1.00"), Decimal("0.00")], dtype=pd.ArrowDtype(pa.decimal128(9, 3))),
        READ,
    ),
    "true and false": (pd.Series([True, False]), READ),
    "nullable flags": (pd.Series([True, False, None], dtype="boolean"), READ),
    "far keys": (pd.Series([1e16, 3.0, 1e300]), [dp.one_of(3, 10**16), dp.one_of(3, 2**100)]),
    **{
        kind: (
            pd.Series([1.0, 1.5, math.inf, -math.inf, 2.5e-7, 0.30000000000000004, -0.0, math.nan], dtype=kind),
            READ,
        )
        for kind in ("float64", "float32", "float16", "Float64", "Float32", "float64[pyarrow]")
    },
}


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ALIKE)
def test_values_are_read_alike_when_one_row_makes_objects_of_them(tmp_path, name):
    column, declared = ALIKE[name]
    found = []
    others = (
        [column.astype(object), pd.Series([*column.astype("float64")], dtype=object)]
        if column.dtype == bool
        else [column.astype(object)]
    )
    for series in (column, *(pd.concat([other, pd.Series(["?"])], ignore_index=True) for other in others)):
        source = copied(pd.DataFrame({"x": series}), tmp_path)
        physical = describe(source)["x"]
        written = ", ".join(raw_sql(each.named("x"), physical) for each in declared)
        with DuckDBEngine(SECRET) as engine:
            found.append(engine.rows(f"SELECT {written} FROM {from_(source)}"))
    assert all(found[0] == other[:-1] for other in found[1:])
    assert any(value is not None for value in found[0][0])


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_no_moment_behind_a_dictionary_or_a_run_is_too_large(tmp_path, unit):
    moments = pa.array([0, 9_300_000_000_000_000, None]).cast(pa.timestamp(unit, "UTC"))
    for column in (
        moments.dictionary_encode(),
        pc.run_end_encode(moments),
        pa.array([1.5, 2.5, None]).dictionary_encode(),
    ):
        assert read(copied(pa.table({"x": column}), tmp_path))[0][0] == 3


@pytest.mark.parametrize("kind", ["string", "category", "object"])
def test_half_a_character_is_null_in_every_type_of_text(tmp_path, kind):
    source = copied(pd.DataFrame({"x": pd.Series(["a", "\ud800", "b\0", None], dtype=kind)}), tmp_path)
    with DuckDBEngine(SECRET) as engine:
        assert engine.rows(f"SELECT x FROM {from_(source)}") == [("a",), (None,), (None,), (None,)]


def test_far_floats_are_the_same_people_as_objects(tmp_path):
    far = [*FAR, math.inf, -math.inf, 0.1, 2.5e-7]
    frames = [pd.DataFrame({"x": pd.Series(far, dtype=kind)}) for kind in (float, object)]
    found = []
    for source in (copied(frame, tmp_path) for frame in frames):
        with DuckDBEngine(SECRET) as engine:
            found.append(engine.rows(f"SELECT {DUCKDB.person('x', describe(source)['x'])} FROM {from_(source)}"))
    assert found[0] == found[1]


def test_a_moment_at_the_ends_of_time_is_a_day_at_the_ends(tmp_path):
    west, east = (dt.timezone(dt.timedelta(hours=hours)) for hours in (-5, 5))
    source = copied({"x": [dt.datetime.max.replace(tzinfo=west), dt.datetime.min.replace(tzinfo=east)]}, tmp_path)
    with DuckDBEngine(SECRET) as engine:
        days = engine.rows(f"SELECT {raw_sql(DAY, 'VARCHAR')} FROM {from_(source)}")
    assert days == [(DAY.steps[1],), (DAY.steps[0],)]


DIGITS = [(4, 0), (5, 0), (5, 2), (9, 2), (10, 4), (18, 0), (18, 9), (19, 2), (30, 2), (38, 0), (38, 2), (38, 20)]


@pytest.mark.parametrize(("digits", "places"), DIGITS)
def test_no_decimal_beyond_its_digits_is_read_beyond_the_bounds_or_fails(tmp_path, digits, places):
    """Writers do not check how many digits a number has; some such numbers would end the engine."""
    wide = 15 if digits < 5 else 31 if digits < 10 else 63 if digits < 19 else 127
    units = [1, 10**digits - 1, 10**digits, -(10**digits), (1 << wide) - 1, 1 - (1 << wide), -(1 << wide), 0]
    stored = b"".join(each.to_bytes(16, "little", signed=True) for each in units)
    array = pa.Array.from_buffers(pa.decimal128(digits, places), len(units), [None, pa.py_buffer(stored)])
    source = copied(pa.table({"x": array}), tmp_path)
    physical = describe(source)["x"]
    most = 10 ** min(digits - places, 37 - places) - 1
    columns = [dp.between(-most, most), dp.between(-2 * most, most), dp.between(0, 1), dp.flag(), dp.one_of(0, 1)]
    written = [raw_sql(column.named("x"), physical) for column in columns]
    with DuckDBEngine(SECRET, threads=1) as engine:
        rows = engine.rows(f"SELECT {', '.join([*written, DUCKDB.person('x', physical)])} FROM {from_(source)}")
        assert engine.rows(f"SELECT {', '.join(written[:2])} FROM {from_(source)}") == [row[:2] for row in rows]
    assert rows[1][0] == most or places
    assert rows[2:-1] == [(None,) * 6] * 5
    assert rows[-1] == (0, 0, 0, False, 0, "0")


FRAME = {"name": ["é", None, "北京"], "age": [41, 7, 12]}


@pytest.fixture(params=["pandas", "polars", "pyarrow", "reader", "dict"])
def frame(request):
    return {
        "pandas": lambda: pd.DataFrame(FRAME),
        "polars": lambda: pl.DataFrame(FRAME),
        "pyarrow": lambda: pa.table(FRAME),
        "reader": lambda: pa.table(FRAME).to_reader(),
        "dict": lambda: FRAME,
    }[request.param]()


def test_frames_of_all_kinds_are_equal(frame, tmp_path):
    assert is_memory(frame)
    source = copy(frame, tmp_path / "v.data")
    found = rows(source.resolved(tmp_path / "v.data"))
    assert [(name, int(age)) for name, age in found] == [("é", 41), (None, 7), ("北京", 12)]


def test_the_copy_is_for_its_owner_alone(frame, tmp_path):
    before = os.umask(0)
    try:
        source = copy(frame, tmp_path / "v.data", name="../visits")
    finally:
        os.umask(before)
    file = tmp_path / "v.data" / source.path
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in (tmp_path / "v.data").iterdir()] == [source.path]
    assert source.kind == "memory-copy"


def test_objects_become_text_whatever_they_are(tmp_path):
    mixed = pd.DataFrame({"o": [1, 2, "x"], "b": [True, None, False], "l": [[1], None, []]}, dtype=object)
    plain = pd.DataFrame({"o": [1, 2, 3], "b": [True, None, False], "l": [[1], None, []]}, dtype=object)
    kinds = [describe(copy(data, tmp_path / "d").resolved(tmp_path / "d")) for data in (mixed, plain)]
    assert kinds[0] == kinds[1] == dict.fromkeys("obl", "VARCHAR")


def test_a_dict_is_text_whatever_its_values_are(tmp_path):
    source = copy({"n": [1, 2.5, None, "x\0"]}, tmp_path / "d").resolved(tmp_path / "d")
    assert describe(source) == {"n": "VARCHAR"}
    assert rows(source) == [("1",), ("2.5",), (None,), (None,)]


@pytest.mark.parametrize("bad", [{"a": [1], "b": [1, 2]}, {}, {"a": "text"}, {1: [2]}, {"a": 3}])
def test_a_dict_that_is_no_table_is_refused_and_leaves_no_file(bad, tmp_path):
    with pytest.raises(BadParameter):
        copy(bad, tmp_path / "d")
    assert not (tmp_path / "d").exists()


def test_a_polars_frame_needs_no_pyarrow(tmp_path):
    script = f"""
from importlib.machinery import PathFinder
found = PathFinder.find_spec
hide = lambda cls, name, path=None, target=None: None if name.startswith("pyarrow") else found(name, path, target)
PathFinder.find_spec = classmethod(hide)
import polars, sys
from pathlib import Path
from discreet.engines.duckdb.frame_copy import copy
folder = Path({str(tmp_path)!r}, "d")
assert copy(polars.DataFrame({{"a": [1]}}), folder).kind == "memory-copy"
assert "pyarrow" not in sys.modules
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def stored(frame, folder, name="x"):
    """The type of a column as it was copied, and its values as texts."""
    folder.mkdir(exist_ok=True)
    file = folder / copy(frame, folder).path
    with duckdb.connect() as engine:
        engine.execute("SET TimeZone = 'UTC'")
        rows = engine.execute(f"SELECT typeof({name}), CAST({name} AS VARCHAR) FROM read_parquet('{file}')").fetchall()
    return {kind for kind, _ in rows}, [text for _, text in rows]


@pytest.mark.parametrize("kind", ["int64", "uint64", "int32", "bool"])
def test_one_null_leaves_categories_of_numbers_as_they_are(tmp_path, kind):
    values = [True, False] if kind == "bool" else [2**31 - 1, 7] if kind == "int32" else [10**17 + 1, 10**17 + 3]
    categories = pd.Index(pd.array(values, dtype=kind).to_numpy())
    without = pd.DataFrame({"x": pd.Categorical.from_codes([0, 1], categories)})
    with_null = pd.DataFrame({"x": pd.Categorical.from_codes([0, 1, -1], categories)})
    kinds, texts = stored(without, tmp_path / "a")
    assert stored(with_null, tmp_path / "b") == (kinds, [*texts, None])
    assert texts == [str(value).lower() for value in values]


MOMENTS = [-1, -1_001, 999, 1_609_459_199_999_999_999]
ROUNDED = [
    "1969-12-31 23:59:59.999999",
    "1969-12-31 23:59:59.999998",
    "1970-01-01 00:00:00",
    "2020-12-31 23:59:59.999999",
]


@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
@pytest.mark.parametrize("way", ["pandas", "arrow", "polars", "pandas beside arrow"])
def test_moments_in_nanoseconds_are_rounded_down_to_their_own_day(tmp_path, zone, way):
    column = pd.Series(np.array(MOMENTS, dtype="M8[ns]"))
    column = column if zone is None else column.dt.tz_localize("UTC").dt.tz_convert(zone)
    frame = pd.DataFrame({"x": column})
    if way == "arrow":
        frame = pa.table({"x": pa.array(MOMENTS, pa.timestamp("ns", zone))})
    elif way == "polars":
        frame = pl.DataFrame({"x": pl.Series(MOMENTS, dtype=pl.Int64).cast(pl.Datetime("ns", zone))})
    elif way == "pandas beside arrow":
        frame["k"] = pd.Series([1] * len(frame), dtype="int64[pyarrow]")
    _, texts = stored(frame, tmp_path)
    assert [text.removesuffix("+00") for text in texts] == ROUNDED


def test_the_largest_integer_is_no_moment(tmp_path):
    frame = pd.DataFrame({"x": np.array([2**63 - 1, 2**63 - 2, 0], dtype="M8[us]")})
    physical = stored(frame, tmp_path / "a")[1]
    spelled = stored(pd.concat([frame, pd.DataFrame({"x": ["?"]})], ignore_index=True), tmp_path / "b")[1]
    assert physical[0] is spelled[0] is None
    assert None not in (physical[1], spelled[1])
