"""Exit codes: one table, in the code, in the help and in the documentation."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

from discreet.cli.shared.exits import MEANINGS, Exit, code_of
from discreet.core.errors import BadParameter, MissingExtra, Refusal, UnknownName

PAGE = Path(__file__).parents[3] / "docs" / "cli.md"


class BudgetExceeded(Refusal):
    """Stands for the refusal of that name, wherever it is defined."""


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BadParameter("scale", 0, why="w", fix="f"), Exit.USAGE),
        (UnknownName("command", "x", []), Exit.USAGE),
        (click.UsageError("no"), Exit.USAGE),
        (BudgetExceeded("spent", why="w", fix="f"), Exit.BUDGET),
        (MissingExtra("plot", "plot", "matplotlib"), Exit.EXTRA),
        (Refusal("other", why="w", fix="f"), Exit.REFUSED),
        (KeyboardInterrupt(), Exit.INTERRUPTED),
        (click.Abort(), Exit.INTERRUPTED),
        (ZeroDivisionError(), Exit.UNEXPECTED),
    ],
)
def test_every_error_has_its_code(error, code):
    assert code_of(error) is code


def test_a_refused_budget_is_three():
    assert Exit.BUDGET == 3


def test_every_code_has_a_meaning_and_stands_in_the_documentation():
    assert set(MEANINGS) == set(Exit)
    page = PAGE.read_text(encoding="utf-8")
    for code, meaning in MEANINGS.items():
        assert f"| {int(code)} | {meaning} |" in page


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("words", [["--version"], ["--version", "--json"], ["nonsense", "--json"]])
def test_a_result_that_cannot_be_written_is_told_plainly(words):
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "discreet", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ran.returncode in (Exit.REFUSED, Exit.USAGE)
    assert "standard output" in ran.stderr
    assert "Traceback" not in ran.stderr
