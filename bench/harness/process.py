"""Processes: a worker seen from the harness, which may answer, fail, crash or fall silent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Self

WORKER = Path(__file__).resolve().with_name("worker.py")
SOURCE = Path(__file__).resolve().parents[2] / "src"


class WorkerFailed(Exception):
    """A task that raised, or a worker that crashed or gave no answer in time; `alive` says if it can go on."""

    def __init__(self, why: str, *, alive: bool) -> None:
        super().__init__(why)
        self.why = why
        self.alive = alive


class Worker:
    """One long-lived process of a participant; a context manager, so that it never outlives the run."""

    def __init__(self, python: Path, tasks: Path) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the process; closed with it)
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        try:
            self._process = subprocess.Popen(
                # -P: the folder of worker.py stays off the path, so that no file there shadows a package.
                [str(python), "-P", str(WORKER), str(tasks)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=_led(python),
                text=True,
                encoding="utf-8",
            )
        except OSError as error:
            self._errors.close()
            raise WorkerFailed(f"its interpreter does not start: {error}", alive=False) from error
        # A thread reads, because a pipe cannot be read with a timeout on every platform.
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, timeout: float, **request: object) -> dict[str, Any]:
        """Send one request and wait for its answer."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._lines.get(timeout=timeout)
        except OSError:
            line = None
        except Empty:
            self.close()
            raise WorkerFailed(f"no answer in {timeout:g} s", alive=False) from None
        if line is None:
            raise WorkerFailed(self._last_words(), alive=False)
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise WorkerFailed(reply["error"], alive=True)
        return reply

    def close(self) -> None:
        """End the process and free its pipes; harmless when repeated."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # a request may still be buffered for a process that is gone
                    pipe.close()
        self._errors.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _last_words(self) -> str:
        code = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        self.close()
        return f"the worker ended with status {code}" + (f": {lines[-1]}" if lines else "")


def _led(python: Path) -> dict[str, str]:
    """Lead workers of this interpreter, and what they start, to the harness's own tree, whichever is installed."""
    return {**variables(), **({"PYTHONPATH": str(SOURCE)} if python == Path(sys.executable) else {})}


def variables() -> dict[str, str]:
    """The caller's environment variables, less those that lead one interpreter into another's packages."""
    return {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
