"""Sources: the same rows as every kind of source holds them, each with all the physical types that it knows."""

import csv
import gzip
import io
import os
import warnings
from itertools import count

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engines import source as sources
from discreet.engines.duckdb import frame_copy
from tests.neighbours import values as v

_NAMES = count()

BITS = (8, 16, 32, 64)
WHOLES = {f"int{bits}": v.whole(-(1 << bits - 1), (1 << bits - 1) - 1) for bits in BITS}
NATURALS = {f"uint{bits}": v.whole(0, (1 << bits) - 1) for bits in BITS}
FLOATS = {
    "float16": v.floats(*v.HALF),
    "float16 missing": v.floats(*v.HALF, v.MISSING),
    "float32": v.floats(*v.SINGLE),
    "float32 missing": v.floats(*v.SINGLE, v.MISSING),
    "float64": v.floats(*v.DOUBLE),
    "float64 missing": v.floats(*v.DOUBLE, v.MISSING),
}
DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
MOMENTS = {f"{unit}{zone}": v.moments(per_day) for unit, per_day in DAY.items() for zone in ("", " UTC")}
TEXTS = {f"text {name}": v.texts(name) for name in v.WORDS}
ARROW = {
    **WHOLES, **NATURALS, **FLOATS, **MOMENTS, **TEXTS, "bool": v.FLAGS, "date32": v.DAYS, "date64": v.DAYS,
    "decimal 5 2": v.decimals(5, 2), "decimal 18 0": v.decimals(18, 0), "decimal 36 9": v.decimals(36, 9),
    "large text": v.texts("word"), "dictionary": v.texts("key"),
}  # fmt: skip


def without(types, *words):
    """The types whose names begin with none of these words."""
    return {name: family for name, family in types.items() if name.split()[0] not in words}


def arrow_type(name):
    """The Arrow type that a name of ours means."""
    word = name.split()[0]
    if word in DAY:
        return pa.timestamp(word, "UTC" if name.endswith("UTC") else None)
    if word == "decimal":
        return pa.decimal128(*map(int, name.split()[1:]))
    texts = {"text": pa.string(), "large": pa.large_string(), "dictionary": pa.dictionary(pa.int32(), pa.string())}
    return (
        texts.get(word)
        or {"bool": pa.bool_(), "date32": pa.date32(), "date64": pa.date64()}.get(word)
        or getattr(pa, word)()
    )


def arrow_array(name, found):
    """Values as an Arrow array; moments are given as the integers that they are."""
    kind = arrow_type(name)
    if name.startswith("float16"):
        import numpy as np

        mask = [value is None for value in found]
        return pa.array(
            np.array([0 if value is None else value for value in found], "float16"), kind, mask=np.array(mask)
        )
    return pa.array(found, pa.int64()).cast(kind) if pa.types.is_timestamp(kind) else pa.array(found, kind)


class Kind:
    """A kind of source: the physical types of its columns, those that may tell people apart, and how it is made."""

    types: dict
    identifiers = ("int64", "float64", "text word")

    def made(self, columns, folder):
        """Write columns of values and return their source."""
        raise NotImplementedError

    def hurry(self, engine):
        """Have an engine waste no time on tables of a few rows."""


class Arrow(Kind):
    """Rows in memory, as an Arrow table."""

    types = ARROW

    def table(self, columns):
        return pa.table({name: arrow_array(kind, found) for name, (kind, found) in columns.items()})

    def made(self, columns, folder):
        return frame_copy.copy(self.table(columns), folder).resolved(folder)


class Parquet(Arrow):
    """Parquet files: with and without statistics, of several row groups, in several files.

    They know no seconds; milliseconds, which DuckDB cannot read safely, are refused by the schema alone.
    """

    types = without(ARROW, "s", "ms")

    def __init__(self, files=1, **options):
        self.files, self.options = files, options

    def made(self, columns, folder):
        table, here = self.table(columns), folder / f"p{next(_NAMES)}"
        here.mkdir()
        cut = -(-table.num_rows // self.files)
        for number in range(self.files):
            pq.write_table(table.slice(number * cut, cut), here / f"{number}.parquet", **self.options)
        return sources.settle(sources.parquet(here))


class Csv(Kind):
    """Text files; all that they hold is text. A record is a line: only its last field may have the end of one."""

    types = TEXTS
    identifiers = ("text word", "text spelled")

    def __init__(self, ending="\n", ext=".csv", quote='"'):
        self.ending, self.ext, self.quote = ending, ext, quote

    def made(self, columns, folder):
        path = folder / f"c{next(_NAMES)}{self.ext}"
        with (gzip.open if self.ext.endswith("gz") else open)(path, "wb") as file:
            for row in [[*columns], *zip(*(found for _, found in columns.values()), strict=True)]:
                file.write(self.line(row).encode())
        return sources.settle(sources.csv(path, quote=self.quote))

    def line(self, row):
        *first, last = ["" if each is None else each for each in row]
        fields = [*(each.replace("\n", " ").replace("\r", " ") for each in first), last]
        if self.quote is None:
            return ",".join(each.replace(",", ";") for each in fields) + self.ending
        text = io.StringIO()
        csv.writer(text, lineterminator=self.ending).writerow(fields)
        return text.getvalue()


def lossless(family):
    """Integers that stay what they are when one of them is missing, and a frame turns all of them into floats."""
    return v.Family(
        family.declared,
        family.plain,
        tuple(n if n is None else max(min(n, 1 << 53), -(1 << 53)) for n in family.hostile),
    )


# Engines do not tell names apart by case alone, so that these are told apart by a word.
NULLABLE = {
    f"nullable {name.replace('int', 'Int').replace('uI', 'UI')}": each for name, each in (WHOLES | NATURALS).items()
}
PANDAS = {
    **{name: lossless(family) for name, family in (WHOLES | NATURALS).items()}, **NULLABLE, **FLOATS, **TEXTS,
    "bool": v.FLAGS, "boolean": v.FLAGS,
    "nullable Float32": v.floats(*v.SINGLE), "nullable Float64": v.floats(*v.DOUBLE),
    **{f"datetime64[{each.replace(' ', ', ')}]": family for each, family in MOMENTS.items()},
    "string": v.texts("word"), "category": v.texts("key"), "object": v.texts("day"), **v.MIXED,
}  # fmt: skip
PANDAS_ARROW = {
    **{f"{name}[pyarrow]": family for name, family in (WHOLES | NATURALS).items()}, **TEXTS,
    "double[pyarrow]": FLOATS["float64 missing"], "float[pyarrow]": FLOATS["float32 missing"], "bool[pyarrow]": v.FLAGS,
    **{f"timestamp[{each.replace(' ', ', ')}][pyarrow]": family for each, family in MOMENTS.items()},
    "string[pyarrow]": v.texts("spelled"), "date32[day][pyarrow]": v.DAYS,
}  # fmt: skip


class Pandas(Kind):
    """A pandas frame, of every dtype; what cannot hold a missing value becomes what pandas makes of it."""

    types = PANDAS
    identifiers = ("int64", "nullable Int64", "float64", "uint16", "text word", "category")

    def series(self, kind, found):
        if kind.startswith(("text", "object")):
            return pd.Series(found, dtype=object)
        if kind in v.MIXED:
            return pd.Series(found)
        if kind.startswith(("datetime64", "timestamp")):
            unit = kind[kind.index("[") + 1 :].split("]")[0].replace(", UTC", "")
            moments = pa.array(found, pa.int64()).cast(pa.timestamp(unit, "UTC" if "UTC" in kind else None))
            return pd.Series(moments.to_pandas(types_mapper=pd.ArrowDtype if kind.endswith("[pyarrow]") else None))
        if None in found and kind in (*WHOLES, *NATURALS, "bool"):
            return pd.Series(found)
        return pd.Series(found, dtype=kind.removeprefix("nullable ").split()[0])

    def made(self, columns, folder):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = pd.DataFrame({name: self.series(kind, found) for name, (kind, found) in columns.items()})
        return frame_copy.copy(frame, folder).resolved(folder)


class PandasArrow(Pandas):
    """A pandas frame whose columns are Arrow's."""

    types = PANDAS_ARROW
    identifiers = ("int64[pyarrow]", "double[pyarrow]", "string[pyarrow]")


POLARS = {
    **{name.replace("int", "Int").replace("uI", "UI"): family for name, family in (WHOLES | NATURALS).items()},
    **{name.replace("float", "Float"): family for name, family in FLOATS.items() if "16" not in name}, **TEXTS,
    "Boolean": v.FLAGS, "Date": v.DAYS, **{each: family for each, family in MOMENTS.items() if each.split()[0] != "s"},
    "Categorical": v.texts("key"), "decimal 36 9": v.decimals(36, 9),
}  # fmt: skip


class Polars(Kind):
    """A Polars frame."""

    types = POLARS
    identifiers = ("Int64", "Float64", "text word", "Categorical")

    def series(self, name, kind, found):
        word = kind.split()[0]
        if word in DAY:
            made = pl.Series(name, found, pl.Int64).cast(pl.Datetime(word))
            return made.dt.replace_time_zone("UTC") if "UTC" in kind else made
        kinds = {"text": pl.String, "decimal": pl.Decimal(36, 9)}
        return pl.Series(name, found, kinds.get(word) or getattr(pl, word), strict=False)

    def made(self, columns, folder):
        frame = pl.DataFrame([self.series(name, *each) for name, each in columns.items()])
        return frame_copy.copy(frame, folder).resolved(folder)


SPARK = (
    "int64",
    "float64 missing",
    "ms",
    "us UTC",
    "date32",
    "bool",
    "decimal 36 9",
    "text spelled",
    "text key",
    "text word",
)
FEW = {name: ARROW[name] for name in SPARK}


class Spark(Parquet):
    """A folder of Parquet files that Spark reads, with a few types: it takes its time over many columns."""

    types = FEW
    identifiers = ("text word", "int64")

    def hurry(self, engine):
        from tests.spark import INTERPRETED

        for name, value in INTERPRETED.items():
            engine._session.conf.set(name, value)

    def made(self, columns, folder):
        from discreet.engines.spark.engine import settle
        from tests.spark import MASTER

        found = super().made(columns, folder)
        for file in sources.files(found):
            os.utime(file, (file.stat().st_mtime - 60,) * 2)
        return settle(sources.spark(found.path, master=MASTER))


class SparkAll(Spark):
    """The same with every type that it knows; these are no nanoseconds and no halves."""

    types = without(ARROW, "s", "ns", "float16")
    identifiers = ("int64", "float64", "text word")


def exact(*hostile):
    """Exact numbers of a database, as they are written."""
    return v.Family(v.STEPS, (1, 2.5, 40), (*hostile, "NaN", "0.00", None))


def time(*hostile):
    """Days and moments of a database, as they are written."""
    return v.Family(v.WORDS["day"][0], ("2020-02-03", "2021-01-01"), (*hostile, "infinity", "-infinity", None))


UUIDS = tuple(f"0000000{number}-0000-0000-0000-000000000000" for number in range(3))
POSTGRES = {
    "smallint": WHOLES["int16"], "integer": WHOLES["int32"], "bigint": WHOLES["int64"], "real": v.floats(*v.SINGLE),
    "double precision": v.floats(*v.DOUBLE), "real missing": v.floats(*v.SINGLE, v.MISSING),
    "double precision missing": v.floats(*v.DOUBLE, v.MISSING), "boolean": v.FLAGS,
    "numeric": exact("Infinity", "-Infinity", "9" * 5000, "-0." + "1" * 5000),
    "numeric(9,2)": exact("9999999.99", "-9999999.99"),
    "numeric(1000,500)": exact("9" * 400, "-" + "9" * 400, "1e-400"),
    "date": time("4713-01-01 BC", "5874897-12-31"), "timestamp": time("4713-01-01 BC", "294276-12-31"),
    "timestamptz": time("4713-01-02 BC", "294276-12-31"), **TEXTS,
    "char(7)": v.texts("key"), "varchar": v.texts("place"),
    "mood": v.Family(v.WORDS["key"][0], ("a", "b"), ("c", None)),
    "uuid": v.Family(v.WORDS["word"][0], UUIDS, ("f" * 32, "0" * 32, None)),
}  # fmt: skip


class Postgres(Kind):
    """A table of a database."""

    types = POSTGRES
    identifiers = ("bigint", "double precision", "text word", "numeric", "uuid")

    def __init__(self):
        self.url = None

    def made(self, columns, folder):
        import psycopg

        from discreet.engines.postgres.source import settle
        from tests.postgres import shared

        self.url = self.url or shared().database()
        table = f"t{next(_NAMES)}"
        kinds = [
            kind.removesuffix(" missing") if not kind.startswith("text") else "text" for kind, _ in columns.values()
        ]
        listed = ", ".join(f'"{name}" {kind}' for name, kind in zip(columns, kinds, strict=True))
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(
                "DO $$ BEGIN CREATE TYPE mood AS ENUM ('a', 'b', 'c'); EXCEPTION WHEN OTHERS THEN NULL; END $$"
            )
            connection.execute(f"CREATE TABLE {table} ({listed})")
            with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
                for row in zip(*(found for _, found in columns.values()), strict=True):
                    copy.write_row([cut(value, kind) for value, kind in zip(row, kinds, strict=True)])
        return settle(sources.postgres(table, self.url))


def cut(value, kind):
    """A value as a column of the type can store it."""
    return value[:7] if kind == "char(7)" and value else None if value is None else str(value)


KINDS = {
    "csv": Csv(),
    "csv.gz": Csv(ext=".csv.gz"),
    "csv crlf": Csv("\r\n"),
    "csv lines": Csv(quote=None),
    "csv crlf lines": Csv("\r\n", quote=None),
    "parquet": Parquet(),
    "parquet files": Parquet(3),
    "parquet plain": Parquet(write_statistics=False, use_dictionary=False),
    "parquet groups": Parquet(row_group_size=7, data_page_version="2.0"),
    "arrow": Arrow(),
    "pandas": Pandas(),
    "pandas arrow": PandasArrow(),
    "polars": Polars(),
    "postgres": Postgres(),
    "spark": Spark(),
    "spark all": SparkAll(),
}
