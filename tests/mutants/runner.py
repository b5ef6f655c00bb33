"""The runner: a copy of the source with one bug in it, and the tests that are said to notice, run against the copy.

A mutant is *caught* when a named test fails, or when the type checker refuses it; *alive* when neither does. It is
*broken* when tests fail for a reason that is none, such as an import or a name that the bug made impossible. Where
named tests were skipped and no other one failed, as where a server or real data are missing, it was *not run*.
"""

import compileall
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutant import ROOT, SOURCE

CAUGHT, ALIVE, BROKEN, HARMLESS, UNRUN = "caught", "ALIVE", "BROKEN", "harmless", "NOT RUN"
LONGEST = 150  # seconds that the tests of one mutant may take
NO_REASON = re.compile(r"^(?:FAILED|ERROR) .* - (?:\w+\.)*(?:ImportError|ModuleNotFoundError|SyntaxError|NameError)\b")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant: a word, what was seen, and how long it took."""

    word: str
    seen: str
    seconds: float

    @property
    def fine(self):
        """Whether nothing is to be done."""
        return self.word in (CAUGHT, HARMLESS)


class Runner:
    """A copy of the package in a folder, in which one mutant at a time is planted."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.source = self.folder / "src" / "discreet"
        shutil.copytree(SOURCE, self.source, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", self.folder)
        compileall.compile_dir(self.source, quiet=2)

    def verdict(self, mutant):
        """Plant one mutant, see whether it is noticed, and take it out again."""
        if mutant.harmless:
            return Verdict(HARMLESS, mutant.harmless, 0.0)
        file = self.source / mutant.place
        before = file.read_text(encoding="utf-8")
        begun = time.monotonic()
        try:
            file.write_text(mutant.mutated(before), encoding="utf-8")
            # A compiled file is told by second and size: one of the same size must not pass for another.
            Path(importlib.util.cache_from_source(file)).unlink(missing_ok=True)
            word, seen = self.typed() if mutant.by == "types" else self.tested(mutant.nodes)
        finally:
            file.write_text(before, encoding="utf-8")
        return Verdict(word, seen, time.monotonic() - begun)

    def tested(self, tests, longest=LONGEST):
        """Run tests against the copy, each time for so many seconds at most: those of `make test`, then long ones."""
        word, seen = self._ran(tests, "not slow and not soak", longest)
        return self._ran(tests, "slow or soak", longest, word, seen) if word in (ALIVE, None) else (word, seen)

    def _ran(self, tests, marks, longest, word=None, seen="no test was collected"):
        """Run the tests that have such marks; return a word, and what was seen: those given, where there are none."""
        words = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-rfEs",
            "--tb=short",
            "-p",
            "no:cacheprovider",
            "-m",
            marks,
        ]
        words += ["-p", "no:xdist", "--hypothesis-seed=1", *(f"tests/{test}" for test in tests)]
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "COV_"))}
        environment |= {
            "PYTHONPATH": str(self.folder / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HYPOTHESIS_STORAGE_DIRECTORY": str(self.folder / "hypothesis"),
        }
        try:
            ran = subprocess.run(
                words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=longest, check=False
            )
        except subprocess.TimeoutExpired:
            return BROKEN, f"the tests took more than {longest} s"
        if ran.returncode == 5:  # none has these marks
            return (word or (None if marks.startswith("not") else BROKEN)), seen
        failed = [line for line in ran.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        if ran.returncode == 0 or (not failed and "Too long: " in ran.stdout):  # slow, and that is no failure here
            skipped = [line for line in ran.stdout.splitlines() if line.startswith("SKIPPED ")]
            return (UNRUN, skipped[0]) if skipped else (ALIVE, "every named test passed")
        # Another exit status than 1, or no failed test: collection broke, or nothing was collected.
        if ran.returncode != 1 or not failed or any(NO_REASON.match(line) for line in failed):
            return BROKEN, ran.stdout[-2000:] + ran.stderr[-1000:]
        return CAUGHT, failed[0]

    def typed(self):
        """Run the type checker over the copy, as `make lint` runs it."""
        cache = self.folder / "mypy"
        if not cache.exists() and (ROOT / ".mypy_cache").is_dir():
            shutil.copytree(ROOT / ".mypy_cache", cache)
        words = [sys.executable, "-m", "mypy", "--cache-dir", str(cache), "src/discreet"]
        ran = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=False)
        if ran.returncode == 0:
            return ALIVE, "the type checker found nothing"
        errors = [line for line in ran.stdout.splitlines() if ": error: " in line]
        if ran.returncode != 1 or not errors or any("[name-defined]" in line for line in errors):
            return BROKEN, ran.stdout[-2000:] + ran.stderr[-1000:]
        return CAUGHT, errors[0]
