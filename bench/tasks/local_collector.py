"""Tasks of the collector: reports over loopback HTTP into a real process, which is killed and started again."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue

import numpy as np

from discreet import local
from discreet.local.collection import Collection, new_key, read, sign
from discreet.local.reports import Reports
from discreet.local.sender import Sender
from discreet.serve.sqlite_sketches import SqliteSketches

# On the disk that holds the repository: a temporary folder may lie in memory, where a flush costs nothing.
PLACE = Path(__file__).resolve().parents[2] / ".bench" / "collector"


def collected(reports: int, batch: int, kills: int, senders: int = 8) -> Callable[[], float]:
    """Seconds from the first batch to the last acknowledgement; that each report was counted once is checked after."""
    protocol = local.unary(k=100, epsilon=1)
    values = (np.arange(reports) ** 2 % 100).astype(np.int64)
    encoded = protocol.encode(values)
    expected = protocol.aggregate(encoded)
    parts = list(encoded.batches(batch))

    def call() -> float:
        PLACE.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=PLACE))
        try:
            text = sign(Collection("bench", protocol, minimum=1), new_key())
            collection = read(text)
            (folder / "collection.json").write_text(text, encoding="utf-8")
            SqliteSketches.create(folder / "collector.sqlite", collection).disconnect()
            seconds = _delivered(folder, collection, parts, kills, senders)
            store = SqliteSketches(folder / "collector.sqlite", collection)
            assert store.sketch(0) == expected, "a report was lost, or counted twice"
            store.disconnect()
            return seconds
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    return call


def _delivered(folder: Path, collection: Collection, parts: Sequence[Reports], kills: int, senders: int) -> float:
    port = _free_port()
    server = _started(folder, port)
    waiting: SimpleQueue[Reports] = SimpleQueue()
    for part in parts:
        waiting.put(part)
    failures: list[BaseException] = []
    threads = [threading.Thread(target=_send_all, args=(port, collection, waiting, failures)) for _ in range(senders)]
    try:
        _until_it_listens(port)
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for turn in range(1, kills + 1):
            while waiting.qsize() > len(parts) * (kills + 1 - turn) // (kills + 1) and not failures:
                time.sleep(0.002)
            os.kill(server.pid, signal.SIGKILL)
            server.wait()
            server = _started(folder, port)
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - start
    finally:
        server.kill()
        server.wait()
    if failures:
        raise failures[0]
    return seconds


def _send_all(port: int, collection: Collection, waiting: SimpleQueue[Reports], failures: list[BaseException]) -> None:
    sender = Sender(f"http://127.0.0.1:{port}", collection, patience=60)
    try:
        while True:
            sender.send(waiting.get_nowait(), 0)
    except Empty:
        sender.close()
    except BaseException as error:
        failures.append(error)


def _started(folder: Path, port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "discreet", "collect", "serve", str(folder), "--port", str(port)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def _until_it_listens(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise TimeoutError("the collector does not listen")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port
