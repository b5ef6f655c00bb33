"""Spark sessions: one Spark for each process, and in it sessions of our own, whose settings fix what SQL means."""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, local
from typing import TYPE_CHECKING

from discreet.core.errors import MissingExtra, Refusal
from discreet.engines.engine import EngineFailed

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

# Of every session of ours, whatever the cluster says: with others a statement would mean something else, or a record
# could make it fail.
SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    # Texts are literal: neither ${...} is replaced, nor do two texts beside each other become one.
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.legacy.consecutiveStringLiterals.enabled": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.adaptive.enabled": "true",
    # What follows from conditions is worked out in a time that doubles with every column that is grouped by.
    "spark.sql.constraintPropagation.enabled": "false",
    # No condition and no aggregate reaches the statistics of a file, which leave NaN out and belong to many records.
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.parquet.aggregatePushdown": "false",
    "spark.sql.orc.filterPushdown": "false",
    # Parquet as it is written: no schema is put together, no old calendar looked for, no file passed over in silence.
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.int96AsTimestamp": "true",
    "spark.sql.parquet.int96TimestampConversion": "false",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.legacy.parquet.nanosAsLong": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
# Of a Spark that we start ourselves; memory, executors and the like stay those of spark-defaults.conf.
STARTED = {
    "spark.app.name": "discreet",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.log.level": "ERROR",
    # Questions may be deeply nested, and so are then the trees that Spark walks over.
    "spark.driver.extraJavaOptions": "-Xss16m",
    "spark.executor.extraJavaOptions": "-Xss16m",
}
OLDEST_JAVA = 17
# What PySpark would write about an exception, with its words and those of the statement.
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
# Where Py4J writes that Java does not answer any more; the nameless one is the root.
_CONNECTION_LOGGERS = ("", "py4j.clientserver", "py4j.java_gateway")
_PY4J = ("clientserver", "java_gateway")

_lock = Lock()
_here = local()
_launched: list[object] = []


class _Hushed(logging.Filter):
    """Lets nothing pass that is written while a statement of ours runs."""

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002
        """Say whether a line may be written."""
        return not getattr(_here, "ours", False)


class _Disconnected(logging.Filter):
    """Lets nothing of Py4J's pass about a Java process that is ours.

    When it dies, whatever is collected or closed afterwards, in whichever thread, would print a trace.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether a line may be written."""
        return not (_launched and record.module in _PY4J)


_HUSHED, _DISCONNECTED = _Hushed(), _Disconnected()


@contextmanager
def withheld() -> Iterator[None]:
    """Turn whatever Spark raises inside the block into the one text of `EngineFailed`; refusals of ours pass."""
    before, _here.ours = getattr(_here, "ours", False), True
    try:
        yield
    except (Refusal, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        # PySpark's and Py4J's own errors have several roots, and a JVM that is gone raises those of sockets.
        raise EngineFailed from None
    finally:
        _here.ours = before


def session(master: str | None) -> SparkSession:
    """Return a session of our own in the Spark of this process, which is started if there is none."""
    with _lock:
        spark = _running(master)
    _check_master(spark, master)
    with withheld():
        found = spark.newSession()
        for name, value in SETTINGS.items():
            found.conf.set(name, value)
    return found


def _running(master: str | None) -> SparkSession:
    try:
        from pyspark.logger import PySparkLogger
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("Spark", "spark", "pyspark") from None
    for name in _LOGGERS:
        # Adding a filter again changes nothing.
        PySparkLogger.getLogger(name).addFilter(_HUSHED)
    for name in _CONNECTION_LOGGERS:
        logging.getLogger(name).addFilter(_HUSHED)
        logging.getLogger(name).addFilter(_DISCONNECTED)
    with withheld():
        if found := SparkSession.getActiveSession():
            return found
    return _started(master or "local[*]")


def _started(master: str) -> SparkSession:
    """Start a Spark whose Java process writes nowhere: what it has to say might reveal a record."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    check_java()
    with withheld():
        conf = _configured(SparkConf().setMaster(master))
        if _launched:
            # Only the thread that started our context sees it as active; where it was stopped, Java outlives it.
            SparkContext.getOrCreate(conf)
            return SparkSession.builder.getOrCreate()
        gateway = launch_gateway(conf, dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL))  # type: ignore[no-untyped-call]
        try:
            SparkContext(conf=conf, gateway=gateway)
        except ValueError:  # someone's context runs, which this thread did not see
            gateway.shutdown()
        else:
            _launched.append(gateway)
        return SparkSession.builder.getOrCreate()


def _configured(conf: SparkConf) -> SparkConf:
    for name, value in STARTED.items():
        conf.set(name, value)
    return conf


def _check_master(spark: SparkSession, master: str | None) -> None:
    with withheld():
        found = spark.sparkContext.master
    if master is not None and found != master:
        why = f"this process runs Spark at {found} already, and there is one for each process"
        raise Refusal(f"Spark at {master}", why=why, fix="leave master out, or ask in another process", value=master)


def check_java() -> None:
    """Refuse to start Spark without Java, or with one that is too old for it."""
    home = os.environ.get("JAVA_HOME")
    command = shutil.which("java", path=str(Path(home, "bin"))) if home else shutil.which("java")
    found = _java_version(command) if command else None
    if found is None or found < OLDEST_JAVA:
        where = "where JAVA_HOME points" if home else "on the path"
        there = "no Java" if found is None else f"Java {found}"
        why = f"Spark needs Java {OLDEST_JAVA} or later, and there is {there} {where}"
        fix = f"install a Java runtime (openjdk-{OLDEST_JAVA}-jre-headless on Debian), or set JAVA_HOME to one"
        raise Refusal("Java", why=why, fix=fix, value=found)


def _java_version(command: str) -> int | None:
    try:
        said = subprocess.run([command, "-version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    version = re.search(r'version "(\d+)(?:\.(\d+))?', said.stderr + said.stdout)
    if version is None:
        return None
    # Until 8 it was called 1.8.
    return int(version[2] or 1) if version[1] == "1" else int(version[1])
