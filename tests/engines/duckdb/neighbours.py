"""What DuckDB reads, for the suite of neighbours: files, and frames of every library and type."""

import csv
import gzip
import io
import warnings
from itertools import count

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engines.duckdb import frame_copy, options
from discreet.engines.duckdb.source import settle
from tests.neighbours import values as v
from tests.neighbours.sources import ARROW, DAY, FLOATS, MOMENTS, NATURALS, TEXTS, WHOLES, Kind, arrow_array, without

_NAMES = count()


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
        return settle(options.parquet(here))


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
        return settle(options.csv(path, quote=self.quote))

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
    checked = 4

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
    checked = 2


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
}
