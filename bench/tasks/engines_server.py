"""The PostgreSQL of the benches of engines: a server that is kept with them, and its table of people."""

from __future__ import annotations

import io
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

PLACE = Path(__file__).resolve().parents[2] / ".bench" / "engines" / "postgres"


def served(rows: int, people: int) -> tuple[object, str, str]:
    """Whom to keep for as long as the server is needed, its URL, and the name of the table, filled on first use."""
    import psycopg

    script = Path(__file__).with_name("ledger_server.py")
    process = subprocess.Popen(
        [sys.executable, script, str(PLACE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    url, name = process.stdout.readline().strip(), f"people_{rows}_{people}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(1)")  # whoever comes second waits until it is filled
        if connection.execute("SELECT to_regclass(%s) IS NULL", [name]).fetchall()[0][0]:
            _fill(connection, name, rows, people)
    return process, url, name


def _fill(connection: Any, name: str, rows: int, people: int) -> None:
    import pyarrow.csv

    table = runpy.run_path(str(Path(__file__).with_name("query_table.py")))["table"](rows, people)
    columns = "user_id bigint, region text, category text, age integer, income double precision"
    connection.execute(f"DROP TABLE IF EXISTS draft; CREATE TABLE draft ({columns})")
    with connection.cursor().copy("COPY draft FROM STDIN (FORMAT csv)") as copy:
        for batch in table.to_batches(max_chunksize=100_000):
            written = io.BytesIO()
            pyarrow.csv.write_csv(batch, written, pyarrow.csv.WriteOptions(include_header=False))
            copy.write(written.getvalue())
    connection.execute("VACUUM (ANALYZE, FREEZE) draft")
    connection.execute(f"ALTER TABLE draft RENAME TO {name}")
