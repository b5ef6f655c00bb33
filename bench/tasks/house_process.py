"""Tasks of the house: start the interpreter this worker runs on, and wait for it to end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence


def start(arguments: Sequence[str]) -> Callable[[], object]:
    """One process with these arguments, from its start to its end."""
    command = [sys.executable, *arguments]

    def call() -> None:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    return call
