"""Synthetic data from its own process: its sample's error, the CPU seconds from start to end, and its peak memory.

Needs the standard library and numpy alone. A participant's task file has `made(table, method, epsilon, delta, seed)`,
which returns the columns of a sample; `figures` lets a fresh interpreter call it, so that imports, compilers and all
that the method remembers are counted, and the measuring of the error is not.
"""

from __future__ import annotations

import json
import resource
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
FOUND = HERE.parents[1] / ".bench" / "synth"  # where participants leave their errors for one another
_KNOWN: dict[tuple[str, str], dict[str, float]] = {}


def figures(tasks: str, arguments: Mapping[str, object]) -> dict[str, float]:
    """The error, CPU seconds and bytes of one run; the same run is not made twice."""
    key = Path(tasks).stem, json.dumps(arguments, sort_keys=True)
    if key not in _KNOWN:
        _KNOWN[key] = _run(tasks, arguments)
    return _KNOWN[key]


def mean(tasks: str, figure: str, seeds: int, arguments: Mapping[str, object]) -> float:
    """The mean of a figure over seeds; of memory, the most."""
    values = [figures(tasks, {**arguments, "seed": seed})[figure] for seed in range(1, seeds + 1)]
    if figure == "error":
        FOUND.mkdir(parents=True, exist_ok=True)
        kept(Path(tasks).stem, arguments).write_text(json.dumps(values), encoding="utf-8")
    return max(values) if figure == "bytes" else float(np.mean(values))


def kept(participant: str, arguments: Mapping[str, object]) -> Path:
    """Where the errors of a participant are left, seed by seed."""
    words = "-".join(str(value) for _, value in sorted(arguments.items()))
    return FOUND / f"{participant}-{words}.json"


def _run(tasks: str, arguments: Mapping[str, object]) -> dict[str, float]:
    tables = runpy.run_path(str(HERE / "synth_tables.py"))
    with tempfile.TemporaryDirectory(prefix="discreet-bench-") as folder:
        path = Path(folder) / "sample.npz"
        command = [sys.executable, "-P", __file__, tasks, json.dumps(arguments), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or ["it failed"])[-1])
        said: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
        with np.load(path) as sample:
            sizes, columns = tables["table"](arguments["table"])
            return {**said, "error": tables["error"](sizes, columns, sample)}


def _main(tasks: str, arguments: dict[str, Any], path: str) -> None:
    np.savez(path, **runpy.run_path(tasks)["made"](**arguments))
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(one.ru_utime + one.ru_stime for one in used)
    print(json.dumps({"seconds": seconds, "bytes": max(one.ru_maxrss for one in used) * 1024.0}))


if __name__ == "__main__":
    _main(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3])
