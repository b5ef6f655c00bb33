"""What Spark reads, for the suite of neighbours: folders of Parquet files."""

import os

from discreet.engines.duckdb.files import files
from discreet.engines.spark.options import spark
from discreet.engines.spark.source import settle
from tests.engines.duckdb.neighbours import Parquet
from tests.neighbours.sources import ARROW, without
from tests.spark import INTERPRETED, MASTER, opened

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
    checked = 1
    brief = frozenset({"a person"})

    def started(self):
        return opened(b"s" * 32)

    def hurry(self, engine):
        for name, value in INTERPRETED.items():
            engine._session.conf.set(name, value)

    def made(self, columns, folder):
        found = super().made(columns, folder)
        for file in files(found):
            os.utime(file, (file.stat().st_mtime - 60,) * 2)
        return settle(spark(found.path, master=MASTER))


class SparkAll(Spark):
    """The same with every type that it knows; these are no nanoseconds and no halves."""

    types = without(ARROW, "s", "ns", "float16")
    identifiers = ("int64", "float64", "text word")
    checked = 0


KINDS = {"spark": Spark(), "spark all": SparkAll()}
