"""Spark for tests: one in a process, and rows put before it without files."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from decimal import Decimal
from functools import cache
from itertools import count
from pathlib import Path

from discreet.engines.spark.dialect import DIALECT as SPARK
from discreet.engines.spark.engine import SparkEngine

MASTER = "local[2]"
ROOT = Path(__file__).parents[1]
# Spark's names of the types that tests declare by DuckDB's.
TYPES = {"TIMESTAMP": "TIMESTAMP_NTZ", "TIMESTAMP WITH TIME ZONE": "TIMESTAMP"}
# Tables of a few rows: most of the time is Spark's own, for plans, tasks and generated code.
SMALL = {"spark.sql.shuffle.partitions": "1", "spark.sql.codegen.wholeStage": "false"}
INTERPRETED = {**SMALL, "spark.sql.codegen.factoryMode": "NO_CODEGEN"}

# A process that ends soon is not worth the compiler's best efforts, nor a collector of garbage with threads.
BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

_names = count()


@cache
def _warehouse():
    """A folder for the tables of Spark's catalog, which would lie in the working folder otherwise."""
    found = tempfile.mkdtemp(prefix="discreet-spark-")
    atexit.register(shutil.rmtree, found, ignore_errors=True)
    return found


@contextmanager
def opened(secret, sources=(), settings=INTERPRETED):
    """An engine with settings for small tables."""
    os.environ.setdefault("JAVA_TOOL_OPTIONS", BRIEF)
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", f"--conf spark.sql.warehouse.dir={_warehouse()} pyspark-shell")
    engine = SparkEngine(sources, secret)
    engine._master = MASTER
    with engine:
        for name, value in settings.items():
            engine._session.conf.set(name, value)
        yield engine


def loaded(engine, physical, rows):
    """Put rows into a view, and return its quoted name; types go by DuckDB's names, and values by their texts."""
    name, bare = f'"raw {next(_names)}"', [f"c{place}" for place in range(len(physical))]
    texts = [tuple(map(text_of, row)) for row in rows]
    found = engine._session.createDataFrame(texts, ", ".join(f"{column} STRING" for column in bare)).coalesce(1)
    named = [
        f"{SPARK.cast(column, TYPES.get(kind, kind))} AS {SPARK.quote(name)}"
        for column, (name, kind) in zip(bare, physical.items(), strict=True)
    ]
    found.selectExpr(*named).createOrReplaceTempView(name.replace('"', "`"))
    return name


def text_of(value):
    """A value as a text from which Spark makes the same one."""
    return None if value is None else format(value, "f") if isinstance(value, Decimal) else str(value)


def alone(program, *arguments, seconds=900):
    """Run a program of the tests in a process of its own, and return what it printed as JSON; the rest is its log."""
    found = subprocess.run(
        [sys.executable, "-m", program, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "JAVA_TOOL_OPTIONS": BRIEF},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert found.returncode == 0, found.stderr[-4000:]
    return json.loads(found.stdout.splitlines()[-1]), found.stderr + found.stdout
