"""A program of its own: Spark's Java process is killed in the middle of a question, which is asked again, and afresh.

Prints, as one line of JSON, what the analyst was told, what was spent before, after and at the end, and what was
printed meanwhile.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import discreet as dp
from discreet.engines.spark import session as spark_session
from discreet.engines.spark.engine import SparkEngine
from discreet.ledger import QuestionFailed
from tests.engines.spark.large import COLUMNS, written

VAULT = "vault.discreet"


def main(folder, again):
    """Ask while the process dies, or once more in another process."""
    curator = dp.Curator(folder / VAULT)
    if not again:
        written(folder / "visits", 80_000, 1)
        source = dp.spark(folder / "visits", master="local[1]")
        curator.register(
            "visits", source, unit=dp.person("id", max_rows=5), columns=COLUMNS, budget=dp.Budget(epsilon=5)
        )
    session = curator.session(curator.grant("root", role="custodian"))
    found = {"before": spent(curator)}
    if not again:
        killed_soon()
    report = session.table("visits").group_by("ward").agg(n=dp.count())
    try:
        report.release(epsilon=1)
    except QuestionFailed as failure:
        found["told"] = str(failure)
    found["after"] = spent(curator)
    if again:
        found["cells"] = len(report.release(epsilon=1, fresh=True).column("n").cells)
    sys.stdout.write(json.dumps(found) + "\n")


def spent(curator):
    """What the account has paid, as a text."""
    return str(curator.ledger.spent("visits"))


def killed_soon():
    """Kill the Java process as soon as the first statement about the rows has been sent."""
    plain = SparkEngine.rows

    def rows(engine, sql, parameters=()):
        if "GROUP BY" in sql:
            threading.Thread(target=kill).start()
        return plain(engine, sql, parameters)

    SparkEngine.rows = rows


def kill():
    time.sleep(0.05)
    os.kill(spark_session._launched[0].proc.pid, signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]), again=sys.argv[2] == "again")
