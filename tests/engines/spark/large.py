"""A program of its own: a folder of Parquet larger than the memory that Spark was given, asked of Spark and of DuckDB.

Prints, as one line of JSON, how large the folder is and what both answered; every byte of it is read, since the order
of a person's rows depends on all of their columns.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import duckdb

import discreet as dp
from tests.engines.spark.stories import exact

COLUMNS = {"ward": dp.one_of("A", "B", "C"), "x": dp.between(0, 1000), "note": dp.text()}
ROWS = """
SELECT CAST(hash(i) % {people} AS BIGINT) AS id, chr(CAST(65 + hash(i, 1) % 4 AS INTEGER)) AS ward,
    CAST(hash(i, 2) % 1200 AS INTEGER) AS x, repeat(md5(CAST(i AS VARCHAR)), {long}) AS note
FROM range({first}, {last}) AS t(i)
"""


def written(folder, rows, long):
    """Write the rows into eight files, uncompressed; a person has ten of them on average."""
    folder.mkdir()
    size = rows // 8
    with duckdb.connect() as connection:
        for part in range(8):
            query = ROWS.format(people=rows // 10, first=part * size, last=(part + 1) * size, long=long)
            file = folder / f"part-{part}.parquet"
            connection.execute(f"COPY ({query}) TO '{file}' (FORMAT parquet, COMPRESSION uncompressed)")
    return sum(file.stat().st_size for file in folder.iterdir())


def main(rows, long, memory):
    """Ask both engines the same."""
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--driver-memory {memory} pyspark-shell"
    unit = dp.person("id", max_rows=5, bound="table")
    with tempfile.TemporaryDirectory() as scratch, dp.Curator(Path(scratch) / "vault.discreet") as curator:
        folder = Path(scratch) / "visits"
        size = written(folder, rows, long)
        sources = {"spark": dp.spark(folder, master="local[2]"), "duckdb": folder}
        for name, source in sources.items():
            budget = None if curator.tables() else dp.Budget(epsilon=100)
            curator.register(name, source, unit=unit, columns=COLUMNS, budget=budget, group="people")
        session = curator.session(curator.grant("root", role="custodian"))
        found = {name: answered(session.table(name)) for name in sources}
    sys.stdout.write(json.dumps({"bytes": size, **found}) + "\n")


def answered(table):
    """Return the exact integers that an answer was made from."""
    with exact() as seen:
        table.group_by("ward").agg(n=dp.count(), x=dp.sum("x")).release(epsilon=10)
    return seen


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
