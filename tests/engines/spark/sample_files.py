"""Files for tests of what Spark reads, and their rows as it reads them."""

import os

import duckdb

from discreet.engines.spark import source as home
from discreet.engines.spark.engine import SparkEngine
from discreet.engines.spark.options import spark
from tests.spark import MASTER

SECRET = b"s" * 32


def written(path, sql="SELECT 1 AS x"):
    """Write a query as a Parquet file that looks a minute old, so that nobody waits for clocks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({sql}) TO '{str(path).replace(chr(39), chr(39) * 2)}' (FORMAT parquet)")
    aged(path)
    return path


def aged(path):
    then = path.stat().st_mtime - 60
    os.utime(path, (then, then))


def here(path):
    return home.settle(spark(path, master=MASTER))


def read(source, columns="*"):
    with SparkEngine([source], SECRET) as engine:
        return sorted(engine.rows(f"SELECT {columns} FROM {home.from_sql(source)}"), key=repr)
