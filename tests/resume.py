"""A long run that is broken off goes on where it stopped: `--resume FILE` remembers the tests that passed.

The first line of the file is a fingerprint of sources and tests; when they have changed, all tests are run again.
"""

import hashlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def fingerprint(root=ROOT):
    """Return a digest of everything that a test's outcome may depend on."""
    digest = hashlib.sha256()
    files = [*(root / "src").rglob("*.py"), *(root / "tests").rglob("*.py"), root / "constraints.txt"]
    for file in sorted(files):
        digest.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


class Resume:
    """Leaves out the tests that passed before, and writes down those that pass now."""

    def __init__(self, file, print_):
        self.file = file
        self.first = print_
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        self.passed = set(lines[1:]) if lines[:1] == [print_] else set()
        self.failed = set()
        self.left_out = 0

    def pytest_collection_modifyitems(self, config, items):
        """Leave out what passed before."""
        done = [item for item in items if item.nodeid in self.passed]
        items[:] = [item for item in items if item.nodeid not in self.passed]
        self.left_out = len(done)
        if done:
            config.hook.pytest_deselected(items=done)
        else:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_text(self.first + "\n", encoding="utf-8")

    def pytest_runtest_logreport(self, report):
        """Note a test that passed, once it is torn down, so that a killed run loses the test it was in alone."""
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.when == "teardown" and report.nodeid not in self.failed:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(report.nodeid + "\n")

    def pytest_sessionfinish(self, session):
        """Nothing left to do is no failure."""
        if self.left_out and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter):
        """Say how many tests had passed before."""
        if self.left_out:
            terminalreporter.line(
                f"{self.left_out} passed before and were left out; delete {self.file} to run all again"
            )
