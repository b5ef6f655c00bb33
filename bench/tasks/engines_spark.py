"""Tasks of engines for Spark: a session's release over 50 million rows, and the same question in plain Spark SQL.

Both run on a cluster of two executors with a core and a gigabyte each, in processes of their own.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MASTER = "local-cluster[2,1,1024]"
PLAIN = "SELECT region, count(*), sum(income) FROM people GROUP BY region"


def folder(rows: int, people: int, path: str) -> Path:
    """The table as a folder with a Parquet file, made on first use by another process, whose memory is not ours."""
    found = Path(path)
    if not found.exists():
        draft = found.with_suffix(f".{os.getpid()}")
        draft.mkdir(parents=True)
        script = Path(__file__).with_name("query_table.py")
        made = [sys.executable, script, str(rows), str(people), str(draft / "people.parquet")]
        subprocess.run(made, check=True, stdin=subprocess.DEVNULL)
        draft.rename(found)
    return found


def ask(
    rows: int, people: int, path: str, max_rows: int | None = None, max_groups: int | None = None
) -> Callable[[], object]:
    """A release of a session, paid for again at every call."""
    import discreet as dp

    os.environ.setdefault("SPARK_WORKER_DIR", str(Path(path).parent / "spark-work"))
    tasks = runpy.run_path(str(Path(__file__).with_name("query_discreet.py")))
    source = dp.spark(folder(rows, people, path), master=MASTER)
    call: Callable[[], object] = tasks["released"](
        "count and sum", source, rows, tasks["unit_of"](max_rows, max_groups)
    )
    return call


def plain(rows: int, people: int, path: str, **_: object) -> Callable[[], object]:
    """The same question without any privacy."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_WORKER_DIR", str(Path(path).parent / "spark-work"))
    session = SparkSession.builder.master(MASTER).config("spark.ui.enabled", False).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    session.read.parquet(str(folder(rows, people, path))).createOrReplaceTempView("people")
    return lambda: session.sql(PLAIN).collect()


def peak(**arguments: Any) -> Callable[[], float]:
    """The most memory that one Java process had: the driver, or an executor of a gigabyte and what Java adds."""
    call = ask(**arguments)

    def measured() -> float:
        call()
        return float(max(_most_memory(process) for process in _descendants(os.getpid())))

    return measured


def _descendants(process: int) -> list[int]:
    """The processes that this one started, and theirs."""
    parents: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:  # it ended
            continue
        parents.setdefault(int(fields[1]), []).append(int(status.parent.name))
    found, rest = [], [process]
    while rest:
        found += (children := parents.get(rest.pop(), []))
        rest += children
    return found


def _most_memory(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return max((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")), default=0)


if __name__ == "__main__":  # one look at all of it, without the harness: rows, people, folder
    given: dict[str, Any] = {"rows": int(sys.argv[1]), "people": int(sys.argv[2]), "path": sys.argv[3]}
    units: dict[str, dict[str, int]] = {
        "per row": {},
        "3 groups": {"max_rows": 10, "max_groups": 3},
        "10 rows": {"max_rows": 10},
    }
    for name, unit in units.items() if len(sys.argv) < 5 else [("plain", {})]:
        call = plain(**given) if name == "plain" else ask(**given, **unit)
        for _ in range(2):
            began = time.perf_counter()
            call()
            print(
                name,
                f"{time.perf_counter() - began:.2f} s",
                f"{max(map(_most_memory, _descendants(os.getpid()))) / 1e6:.0f} MB",
            )
