"""Tasks of the ledger for PostgreSQL alone: two transactions, as durable as ours, that write rows of the same sizes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from secrets import token_hex

import psycopg

PLACE = Path(__file__).resolve().parents[2] / ".bench" / "postgres"

# About what a charge, a settlement and an answer hold.
CHARGE, SETTLEMENT, ANSWER = "c" * 850, "s" * 380, "a" * 490


def written(rows: int) -> Callable[[], object]:
    """One transaction that adds a row under a new key, and one that adds another and its answer."""
    connection = psycopg.connect(_url(), autocommit=True)
    execute, numbers, schema = connection.execute, count(1, 2), f"bare_{token_hex(8)}"
    for line in (
        f"CREATE SCHEMA {schema}",
        f"SET search_path = {schema}",
        "SET synchronous_commit = off",
        "CREATE TABLE entries (sequence bigint PRIMARY KEY, body text NOT NULL)",
        "CREATE TABLE debits (key text PRIMARY KEY, sequence bigint NOT NULL)",
        "CREATE TABLE answers (sequence bigint PRIMARY KEY, answer text NOT NULL)",
    ):
        execute(line)

    def call() -> None:
        number = next(numbers)
        execute("BEGIN")
        execute("INSERT INTO entries VALUES (%s, %s)", (number, CHARGE))
        execute("INSERT INTO debits VALUES (%s, %s)", (os.urandom(32).hex(), number))
        execute("COMMIT")
        execute("BEGIN")
        execute("INSERT INTO entries VALUES (%s, %s)", (number + 1, SETTLEMENT))
        execute("INSERT INTO answers VALUES (%s, %s)", (number, ANSWER))
        execute("COMMIT")

    for _ in range(rows // 2):
        call()
    execute("SET synchronous_commit = on")
    return call


def _url() -> str:
    """Start the server, or join it; it ends when this process does."""
    words = [sys.executable, str(Path(__file__).with_name("ledger_server.py")), str(PLACE)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process.stdout.readline().strip()
