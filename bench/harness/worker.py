"""The worker: a process that prepares and times tasks, and speaks JSON lines; needs the standard library alone.

Executed by a participant's own interpreter as `python -P worker.py TASKS_FILE`. Clocks are read here, next to the
call, so that pipes and the parent's work cost the figures nothing. Requests, one object a line, each answered by one:

    {"do": "describe", "packages": [...]}                 -> {"python": "3.11.7", "packages": {"numpy": "2.0.0"}}
    {"do": "prepare", "function": f, "arguments": {...}}   -> {}
    {"do": "measure", "seconds": s}                        -> {"figure": seconds per call, "calls": n}
    {"do": "report"}                                       -> {"figure": what the call returned}

A failure is answered by {"error": "ValueError: ..."}; the worker ends when its input does.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import sys
from collections.abc import Callable
from time import perf_counter
from typing import IO, Any


class Bench:
    """The state of a worker: its task file, and the call that was prepared last."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.module: Any = None
        self.call: Callable[[], object] | None = None

    def describe(self, packages: list[str]) -> dict[str, object]:
        """Python's version and those of the packages named."""
        return {"python": platform.python_version(), "packages": {package: version(package) for package in packages}}

    def prepare(self, function: str, arguments: dict[str, Any]) -> dict[str, object]:
        """Load the task file if need be, and let the named function set up what will be called."""
        self.call = None
        if self.module is None:
            spec = importlib.util.spec_from_file_location("tasks", self.path)
            if spec is None or spec.loader is None:
                raise ImportError(f"{self.path} is not a Python file")
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            self.module = module
        self.call = getattr(self.module, function)(**arguments)
        return {}

    def measure(self, seconds: float) -> dict[str, object]:
        """Call again and again for at least that long (at least once); the figure is the mean of these calls.

        A short call is thus measured over a slice of time as long as everyone else's, not over one lucky instant.
        Calls are made in blocks that double, so that reading the clock does not weigh on short ones.
        """
        call, calls, block, spent = self.prepared(), 0, 1, 0.0
        while calls == 0 or spent < seconds:
            rounds = range(block)
            start = perf_counter()
            for _ in rounds:
                call()
            spent += perf_counter() - start
            calls += block
            if spent < seconds / 4:
                block *= 2
        return {"figure": spent / calls, "calls": calls}

    def report(self) -> dict[str, object]:
        """Call once; the figure is what it returns."""
        figure = self.prepared()()
        if not isinstance(figure, int | float):
            raise TypeError(f"a reporting task returns a number, not {figure!r}")
        return {"figure": float(figure), "calls": 1}

    def prepared(self) -> Callable[[], object]:
        """The call that was prepared last."""
        if self.call is None:
            raise RuntimeError("nothing is prepared")
        return self.call


def version(package: str) -> str:
    """The installed version of a package; a report may lack one, a measurement must not fail for it."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "of unknown version"


def answer(bench: Bench, request: dict[str, Any]) -> dict[str, object]:
    """Do what a request asks; failures become answers, so that one bad task does not end the worker."""
    actions: dict[str, Callable[..., dict[str, object]]] = {
        "describe": bench.describe,
        "prepare": bench.prepare,
        "measure": bench.measure,
        "report": bench.report,
    }
    try:
        return actions[request.pop("do")](**request)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def serve(bench: Bench, requests: IO[str], answers: IO[str]) -> None:
    """Answer line by line until the input ends."""
    for line in requests:
        answers.write(json.dumps(answer(bench, json.loads(line))) + "\n")
        answers.flush()


def main() -> None:
    """Serve on the pipes given; whatever tasks print goes to standard error instead of into the answers."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(Bench(sys.argv[1]), sys.stdin, answers)


if __name__ == "__main__":
    main()
