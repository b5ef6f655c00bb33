"""Sessions of Spark: one Spark in a process, settings of our own, and what is said where Java or PySpark lacks."""

import stat
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from discreet.core.errors import MissingExtra, Refusal
from discreet.engines.spark import source as home
from discreet.engines.spark.options import spark
from discreet.engines.spark.session import check_java, session
from tests.spark import INTERPRETED

pytestmark = pytest.mark.xdist_group("spark")


def test_settings_of_ours_hold_in_our_sessions_alone(ours):
    others = session(None)
    others.conf.set("spark.sql.ansi.enabled", "false")
    assert ours._session.conf.get("spark.sql.ansi.enabled") == "true"
    assert ours._session.conf.get("spark.sql.codegen.factoryMode") == INTERPRETED["spark.sql.codegen.factoryMode"]
    assert ours.rows("SELECT '${spark.app.name}'") == [("${spark.app.name}",)]


def test_a_thread_that_did_not_start_spark_has_sessions_of_the_same_one(ours):
    with ThreadPoolExecutor(1) as pool:
        theirs = pool.submit(session, None).result()
    assert theirs.sparkContext is ours._session.sparkContext
    with ThreadPoolExecutor(1) as pool, pytest.raises(Refusal, match="one for each process"):
        pool.submit(session, "spark://elsewhere:7077").result()


def test_a_second_spark_is_refused(ours):
    with pytest.raises(Refusal, match="one for each process"):
        home.describe(spark("x", master="spark://elsewhere:7077", catalog=True))


@pytest.mark.parametrize(
    ("said", "found"), [('openjdk version "11.0.2"', "Java 11"), ('java version "1.8.0_392"', "Java 8")]
)
def test_an_old_java_is_refused(tmp_path, monkeypatch, said, found):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(Refusal, match=f"{found} where JAVA_HOME points.*openjdk-17"):
        check_java()


def test_no_java_is_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refusal, match="no Java on the path"):
        check_java()


def test_without_pyspark_the_pip_line_is_given(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyspark"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingExtra, match=r"pip install .discreet\[spark\]"):
        session(None)
