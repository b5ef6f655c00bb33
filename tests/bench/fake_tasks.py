"""A task file for the harness's own tests: tasks that work, log, fail, crash and fall silent."""

import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

sys.stdout.write("what a task file prints must not reach the answers\n")


def sleep(seconds):
    return lambda: time.sleep(seconds)


def log(path, name):
    """Write a line for each call, so that a test can see whose turn it was."""

    def call():
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")
        return 1.0

    return call


def series(values):
    """Report the given figures one after another."""
    left = iter(values)
    return lambda: next(left)


def process():
    """Report which process this is."""
    return os.getpid


def finds(module):
    """Report whether this process finds a module, and a Python that it starts does."""
    line = [sys.executable, "-S", "-c", f"import {module}"]
    return lambda: find_spec(module) is not None and subprocess.run(line, check=False).returncode == 0


def words():
    """Report something that is not a number."""
    return lambda: "many"


def noisy():
    """Print while it is called."""

    def call():
        sys.stdout.write("noise on standard output\n")
        return 2.0

    return call


def fail():
    def call():
        raise ValueError("this task always fails")

    return call


def fail_to_prepare():
    raise RuntimeError("nothing to set up")


def crash():
    def call():
        sys.stderr.write("dying now\n")
        sys.stderr.flush()
        os._exit(7)

    return call


def silent():
    return lambda: time.sleep(60)
