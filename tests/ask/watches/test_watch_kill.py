"""Crashes around looks: children killed at every step; each look is drawn in one way, from one state, and paid once."""

import json
import os
import subprocess
import sys

import pytest

from tests.ledger.stores import homes

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="children are forked and killed")


def nursery(folder, kills, begin):
    """Let children look, and check what they told against what was settled."""
    words = [sys.executable, "-m", "tests.ask.killing", str(folder), str(kills), str(begin)]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=3000, env={**os.environ, **homes(folder)})
    assert ran.returncode == 0, ran.stderr
    *lives, end = [json.loads(line) for line in ran.stdout.splitlines()]
    drawn, told = {}, [each for life in lives for each in life["all"]]
    for each in told:
        if "drawn" in each:
            drawn.setdefault(each["part"], set()).add((each["drawn"], *each["before"]))
        else:
            assert end["said"][each["part"] - 1] == each["answer"]
    assert all(len(values) == 1 for values in drawn.values())
    assert {part: next(iter(values))[0] for part, values in drawn.items()} == dict(enumerate(end["said"], 1))
    assert len({values[1] for ((values),) in drawn.values()}) == 1  # one noisy threshold
    assert sum("drawn" in each for each in told) > len(drawn)  # some were drawn again
    assert end["spent"] == 1
    assert sum(life["killed"] for life in lives) >= kills
    return lives


def test_children_killed_around_a_look_leave_every_look_drawn_in_one_way(tmp_path):
    nursery(tmp_path, 12, 22)  # where the work begins


@pytest.mark.soak
def test_five_hundred_children_are_killed_around_looks(tmp_path):
    lives = nursery(tmp_path, 500, 1)
    assert any(not life["killed"] for life in lives if life["step"] > 0)  # all steps were seen
