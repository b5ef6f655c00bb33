"""Watchers: a live line on a terminal, a line for each case elsewhere."""

import io

import pytest
from bench.harness.case import Task
from bench.harness.watch import Display
from rich.console import Console

from tests.bench.helpers import reported

CASE = reported("draws", ours=Task("series"))


def shown(terminal: bool) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100)
    with Display(console, "fake", 2) as display:
        display.phase("installing a")
        display.turn(CASE, "a")
        display.done(CASE)
    return console.file.getvalue()


def test_without_a_terminal_there_is_a_line_for_each_phase_and_case():
    assert shown(terminal=False) == "fake: installing a\nfake: 1/2 draws\n"


@pytest.mark.parametrize("text", ["fake: draws: a", "1/2"])
def test_on_a_terminal_the_line_says_whose_turn_it_is_and_how_far_the_run_is(text):
    assert text in shown(terminal=True)
