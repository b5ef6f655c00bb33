"""Tasks of the server for Discreet: the real command over a vault, and the same questions without it."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import httpx

import discreet as dp

sys.path.insert(0, str(Path(__file__).resolve().parent))
from serve_clients import asked as sent
from serve_clients import started, up, worked
from serve_fastapi import LENGTHS

CLIENTS, ASKERS = 64, 8
ROWS = 200_000
SQL = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits WHERE age >= {} GROUP BY ward"
_kept: dict[str, tuple[dp.Curator, str, int, int]] = {}


def _vault() -> tuple[dp.Curator, str]:
    folder = Path(tempfile.mkdtemp(prefix="discreet-bench-"))
    rows = {
        "id": [n // 4 for n in range(ROWS)],
        "age": [n * 7 % 90 for n in range(ROWS)],
        "ward": [*"ABCD"] * (ROWS // 4),
    }
    curator = dp.Curator(folder / "vault.discreet")
    columns = {"age": dp.between(0, 110), "ward": dp.one_of("A", "B", "C", "D")}
    curator.register("visits", rows, unit=dp.person("id", max_rows=4), columns=columns, budget=dp.Budget(epsilon=10**6))
    return curator, curator.grant("bench", "visits")


def _served() -> tuple[dp.Curator, str, int, int]:
    if "served" not in _kept:
        curator, token = _vault()
        words = ["serve", "--vault", str(curator.path), "--port", "0", "--json", "--rate", "1e6", "--burst", "1000000"]
        line = [sys.executable, "-m", "discreet", *words, "--concurrent", "1000"]
        process = started(line)
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        assert "result" in said, said
        port = int(said["result"]["url"].rpartition(":")[2])
        up(port)
        _kept["served"] = curator, token, port, process.pid
    return _kept["served"]


def asked(path: str, requests: int, cpu: bool = False) -> Callable[[], object]:
    """Requests whose answer was paid for, or previews; with `cpu`, the server's processor time for them."""
    _, token, port, process = _served()
    with dp.connect(f"http://127.0.0.1:{port}", token) as session:
        session.sql(SQL.format(18), epsilon=0.5)
    body = {"verb": "sql", "question": {"sql": SQL.format(18)}, "price": {"epsilon": 0.5}}
    headers = {"path": path, "others": f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"}
    found = httpx.post(f"http://127.0.0.1:{port}{path}", json=body, headers={"Authorization": f"Bearer {token}"})
    assert abs(len(found.content) - LENGTHS[path]) < LENGTHS[path] / 10, len(found.content)
    call = sent(port, json.dumps(body).encode(), headers, requests, CLIENTS)
    return worked(process, call) if cpu else call


_ages = count()


def _text() -> str:
    number = next(_ages)
    return SQL.format(number % 60) + f" HAVING n > {number}"


def fresh(questions: int, cpu: bool = False) -> Callable[[], object]:
    """Questions that nobody has asked, over HTTP."""
    _, token, port, process = _served()
    call = _all(lambda: dp.connect(f"http://127.0.0.1:{port}", token), questions)
    return worked(process, call) if cpu else call


def fresh_in_process(questions: int, cpu: bool = False) -> Callable[[], object]:
    """Questions that nobody has asked, to a vault in this process."""
    if "local" not in _kept:
        curator, token = _vault()
        _kept["local"] = curator, token, 0, os.getpid()
    curator, token, _, process = _kept["local"]
    call = _all(lambda: curator.session(token), questions)
    return worked(process, call) if cpu else call


def _all(opened: Callable[[], dp.Session], questions: int) -> Callable[[], object]:
    sessions = [opened() for _ in range(ASKERS)]

    def call() -> object:
        with ThreadPoolExecutor(ASKERS) as pool:
            return [*pool.map(lambda n: sessions[n % ASKERS].sql(_text(), epsilon=0.5, fresh=True), range(questions))]

    return call
