"""The seconds that tests take, by folder, held against the budget in tests/seconds.toml.

A machine that is slower or busier than the reference machine is no failure. All through the run, between tests, a
fixed loop is timed and the load is read. All times are divided by the larger of two averages: how much longer the loop
takes than on the reference machine, and how many times more than three processes there are for two cores. A machine
that is faster counts as the reference machine. On top of that a folder may take half more than its seconds and another
five before the run fails; the whole may take a quarter more.
"""

import os
import time
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("seconds.toml")
TOTAL = 1000
EVERY = 1.0  # seconds of tests between two timings of the loop
OVER, MORE, WHOLE = 1.5, 5.0, 1.25  # what a folder and the whole may take before the run fails
HOUSE = "house"  # the files that lie in no folder


def loop():
    """Time a fixed amount of work."""
    begun = time.perf_counter()
    number = 1
    for _ in range(20_000):
        number = number * 48271 % 2147483647
    return time.perf_counter() - begun


def crowding():
    """Return the load as a multiple of three processes for two cores; 0 where the system does not tell."""
    return os.getloadavg()[0] / (1.5 * (os.cpu_count() or 1)) if hasattr(os, "getloadavg") else 0.0


def mean(values):
    """Return the mean, or 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def folder_of(nodeid):
    """Return the top-level folder of tests that a test belongs to."""
    parts = nodeid.partition("::")[0].split("/")
    return parts[1] if parts[0] == "tests" and len(parts) > 2 else HOUSE


@dataclass
class Budget:
    """What each folder may take, and what it took."""

    folders: dict[str, float]
    slow: float
    loop: float
    taken: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    slow_taken: float = 0.0
    timings: list[float] = field(default_factory=list)
    crowds: list[float] = field(default_factory=list)

    @classmethod
    def read(cls, file=FILE):
        """Read the budget."""
        values = tomllib.loads(file.read_text(encoding="utf-8"))
        return cls(values["folders"], values["slow"], values["loop"])

    def add(self, nodeid, seconds, words):
        """Count the seconds of a test; long forms have no budget."""
        if "soak" in words:
            return
        if "slow" in words:
            self.slow_taken += seconds
        else:
            self.taken[folder_of(nodeid)] += seconds

    @property
    def slowness(self):
        """How many times longer a test takes than on the reference machine; never less than one."""
        return max(1.0, mean(self.timings) / self.loop, mean(self.crowds))

    def rows(self):
        """Return name, seconds of the reference machine, budget and whether it is exceeded, the largest first."""
        slowness = self.slowness
        rows = [
            (name, seconds / slowness, self.folders.get(name, 0), OVER, MORE) for name, seconds in self.taken.items()
        ]
        rows.sort(key=lambda row: -row[1])
        if self.slow_taken:
            rows.append(("slow tests", self.slow_taken / slowness, self.slow, WHOLE, 0))
        rows.append(("in all", sum(self.taken.values()) / slowness, TOTAL, WHOLE, 0))
        return [(name, taken, budget, taken > budget * over + more) for name, taken, budget, over, more in rows]

    def table(self):
        """Return the lines that are shown at the end of a run."""
        lines = [
            f"{name:<16}{taken:8.1f} of {budget:5.0f} s{'  OVER' * over}" for name, taken, budget, over in self.rows()
        ]
        if self.slowness > 1:
            lines.append(f"(this machine took {self.slowness:.2f} times as long; divided by that)")
        return lines

    @property
    def exceeded(self):
        """The names of what took too long."""
        return [name for name, _, _, over in self.rows() if over]


class Clock:
    """Times the loop where tests are run, and adds up their seconds where reports come in."""

    def __init__(self, config):
        self.config = config
        self.budget = Budget.read()
        self.next = 0.0

    def pytest_runtest_logfinish(self):
        """Time the loop and read the load once a second, between tests."""
        is_controller = getattr(self.config.option, "numprocesses", None) and not hasattr(self.config, "workerinput")
        if not is_controller and time.monotonic() >= self.next:
            self.budget.timings.append(loop())
            self.budget.crowds.append(crowding())
            self.next = time.monotonic() + EVERY

    def pytest_runtest_logreport(self, report):
        """Add the seconds of a test's set-up, call or tear-down."""
        self.budget.add(report.nodeid, report.duration, report.keywords)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """Take over what a worker timed."""
        found = getattr(node, "workeroutput", {})
        self.budget.timings += found.get("timings", [])
        self.budget.crowds += found.get("crowds", [])

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        """Hand over what was timed, or fail the run where the budget is exceeded."""
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput |= {"timings": self.budget.timings, "crowds": self.budget.crowds}
        elif self.budget.exceeded and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        """Show the table after a run of several folders, and wherever one took too long."""
        if self.budget.exceeded or len(self.budget.taken) > 1:
            terminalreporter.section("seconds by folder")
            for line in self.budget.table():
                terminalreporter.line(line)
        if self.budget.exceeded:
            names = ", ".join(self.budget.exceeded)
            terminalreporter.line(
                f"Too long: {names}. Why: the suite's time is a budget (tests/seconds.toml)."
                " Fix: make tests faster, or mark long ones `slow`: `make check` runs those."
            )
