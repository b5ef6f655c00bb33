"""Files for tests of what DuckDB reads, and their rows as it reads them."""

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engines.duckdb.engine import connect
from discreet.engines.duckdb.options import csv
from discreet.engines.duckdb.source import from_sql, settle


def rows(source):
    """Return all rows as the engine reads them."""
    with connect() as engine:
        return read(engine, source)


def read(engine, source):
    return engine.execute(f"SELECT * FROM {from_sql(source)}").fetchall()


def written(folder, content, name="t.csv"):
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def read_csv(folder, content, **options):
    return rows(settle(csv(written(folder, content), **options)))


def parquets(folder, **tables):
    folder.mkdir(exist_ok=True)
    for name, table in tables.items():
        pq.write_table(pa.table(table), folder / f"{name}.parquet")
    return folder
