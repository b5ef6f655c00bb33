"""A program of its own: questions over one vault, answered by Spark with real executors and by DuckDB.

Prints, as one line of JSON, the exact integers that noise was added to in each story, and which numbers of the secret
order stand in a log. The Spark is someone's own, who logs all that Spark can log.
"""

import json
import os
import re
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import duckdb

import discreet as dp
from discreet.ask.runner import Runner
from discreet.engines.engine import multipliers
from discreet.plan.nodes import public

PLENTY = dp.Budget(epsilon=1000)
COLUMNS = {
    "ward": dp.one_of("A", "B", "Ü\u0308"),
    "age": dp.between(0, 110),
    "cost": dp.between(-50, 450, step=0.01),
    "big": dp.between(-(2**51), 2**51),
    "day": dp.date("2020-01-01", "2024-12-31"),
    "city": dp.text(),
    "urgent": dp.flag(),
}
ROWS = """
SELECT {first} + CAST(hash(i) % {people} AS BIGINT) AS id,
    ['A', 'B', 'Ü\u0308', 'Z', NULL][CAST(1 + hash(i, 1) % 5 AS BIGINT)] AS ward,
    CAST(hash(i, 2) % 130 AS INTEGER) AS age,
    CASE WHEN i % 50 = 0 THEN 'NaN'::DOUBLE ELSE (hash(i, 3) % 60000) / 100.0 - 80 END AS cost,
    CAST(hash(i, 4) // 2048 AS BIGINT) - 4503599627370496 AS big,
    DATE '2019-06-01' + CAST(hash(i, 5) % 2200 AS INTEGER) AS day,
    ['Zürich', 'Bern', '東京', 'O''Neil\\', NULL][CAST(1 + hash(i, 6) % 5 AS BIGINT)] AS city,
    hash(i, 7) % 3 = 0 AS urgent
FROM range({rows}) AS t(i)
"""
UNITS = {
    "by_row": dp.row(),
    "by_person": dp.person("id", max_rows=5, max_groups=2),
    "shared": dp.person("id", max_rows=4),
    "kept": dp.person("id", max_rows=3, bound="table"),
}

STORIES = {
    "rows by ward": lambda of: of("by_row").group_by("ward").agg(n=dp.count(), cost=dp.sum("cost")),
    "very large numbers": lambda of: of("by_row").agg(total=dp.sum("big"), cost=dp.variance("cost")),
    "a filter and a derived column": lambda of: _urgent(of("by_row")).group_by("urgent").agg(x=dp.sum("x")),
    "people by ward": lambda of: of("by_person").group_by("ward").agg(n=dp.people(), cost=dp.mean("cost")),
    "which rows of a person count": lambda of: of("by_person").group_by("ward").agg(n=dp.count(), a=dp.sum("age")),
    "rows shared among groups": lambda of: of("shared").group_by("ward", "urgent").agg(n=dp.count(), b=dp.sum("big")),
    "rows kept for the table": lambda of: of("kept").group_by("ward").agg(n=dp.count(), cost=dp.sum("cost")),
    "bins of days": lambda of: of("by_person").agg(
        days=dp.histogram("day", edges=["2020-01-01", "2021-07-01", "2024-12-31"])
    ),
    "a distribution": lambda of: of("by_person").agg(age=dp.cdf("age", [18, 40, 65, 90])),
    "a public table joined": lambda of: _floors(of),
}


def _urgent(query):
    return query.where((query.age >= 18) & ~query.city.is_null()).derive(x=query.age * 3 - query.day.month())


def _floors(of):
    floors = public("floors", {"ward": ["A", "B", "B"], "floor": [1, 2, 3]})
    return of("by_person").join(floors, on="ward").group_by("floor").agg(n=dp.count(), cost=dp.sum("cost"))


def written(folder, rows, people, parts, first=0):
    """Write the rows into Parquet files, of people who are numbered from `first` on."""
    folder.mkdir(parents=True)
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        query = ROWS.format(rows=rows, people=people, first=first)
        for part in range(parts):
            file = folder / f"part-{part}.parquet"
            connection.execute(f"COPY (SELECT * FROM ({query}) WHERE id % {parts} = {part}) TO '{file}'")


def told(folder, master):
    """Ask everything of both engines, and return the answers by story, and the secret of the order."""
    found = {}
    with dp.Curator(folder / "vault.discreet") as curator:
        for name, unit in UNITS.items():
            for engine, source in (("spark", dp.spark(folder / name, master=master)), ("duckdb", folder / name)):
                group = "rows" if unit.is_row else "people"
                budget = None if any(curator.table(each).account == group for each in curator.tables()) else PLENTY
                curator.register(f"{name}_{engine}", source, unit=unit, columns=COLUMNS, budget=budget, group=group)
        session = curator.session(curator.grant("root", role="custodian"))
        for story, ask in STORIES.items():
            found[story] = {engine: _answer(session, ask, engine) for engine in ("spark", "duckdb")}
        return found, curator.ledger.secret("order")


def _answer(session, ask, engine):
    """Release a question, and return the exact integers that its answer was made from."""
    with exact() as seen:
        answer = ask(lambda name: session.table(f"{name}_{engine}")).release(epsilon=10)
    assert len(answer)
    return seen


@contextmanager
def exact():
    """Note what runners give to the mechanisms."""
    seen, usual = [], Runner.in_order

    def noted(self, *arguments):
        found = usual(self, *arguments)
        seen.append(found)
        return found

    Runner.in_order = noted
    try:
        yield seen
    finally:
        Runner.in_order = usual


def started(master, folder):
    """Start a Spark as its owner might, with every log there is, and executors of their own."""
    from pyspark.sql import SparkSession

    logs = folder / "events"
    logs.mkdir()
    os.environ["SPARK_WORKER_DIR"] = str(folder / "work")
    settings = {"spark.eventLog.enabled": True, "spark.eventLog.dir": logs.as_uri(), "spark.log.level": "INFO"}
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", False)
    for name, value in {**settings, "spark.eventLog.compress": False, "spark.sql.shuffle.partitions": 2}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def shown(secret, *folders):
    """The numbers of the secret order that stand in files, how many bytes these have, and whether plans are there."""
    order = {str(number) for row in multipliers(secret) for number in row[:40]}
    texts = [file.read_text(errors="replace") for folder in folders for file in folder.rglob("*") if file.is_file()]
    found = order & {word for text in texts for word in re.findall(r"\d+", text)}
    return {"shown": sorted(found), "bytes": sum(map(len, texts)), "plans": any("~order" in text for text in texts)}


def main(master, rows, people):
    """Tell the stories, and look through the logs."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, unit in UNITS.items():  # the same people have one budget, and so one unit
            written(folder / "vault" / name, rows, people, parts=3, first=10**6 * unit.is_row)
        spark = started(master, folder)
        answers, secret = told(folder / "vault", master)
        spark.stop()
        logs = shown(secret, folder / "events", folder / "work")
    order = [row[:40] for row in multipliers(secret)]
    sys.stdout.write(json.dumps({"answers": answers, "logs": logs, "order": order}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
