"""Crashes around parts: children killed at every step; a part is drawn in one way, settled once, and charged once."""

import json
import os
import subprocess
import sys

import pytest

from discreet.ledger import Ledger
from tests.ledger.helpers import charge
from tests.ledger.stores import STORES, homes, new_place

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="children are forked and killed")


def nursery(store, kills, folder):
    """Let children go on with one running release; check what they left."""
    path = new_place(store, folder)
    words = [sys.executable, "-m", "tests.ledger.killing", str(path), str(kills), "1", "parts", "1"]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in homes(folder).items():
            patch.setenv(name, value)
        ran = subprocess.run(words, capture_output=True, text=True, timeout=1200, env=os.environ)
        assert ran.returncode == 0, ran.stderr
        lives = [json.loads(line) for line in ran.stdout.splitlines()]
        assert sum(life["killed"] for life in lives) >= kills
        check(path, [each for life in lives for each in life["all"]])
    return lives


def check(path, told):
    """Every part has one draw and one state before it, what was told is what was settled, and one charge paid."""
    drawn, before = {}, {}
    for each in told:
        if "drawn" in each:
            drawn.setdefault(each["part"], set()).add(each["drawn"])
            before.setdefault(each["part"], set()).add(each["before"])
    assert all(len(values) == 1 for values in (*drawn.values(), *before.values()))
    assert sum(1 for each in told if "drawn" in each) > len(drawn)  # some were drawn again
    with Ledger.open(path) as ledger:
        (key,) = [entry.record()["key"] for entry in ledger.entries() if entry.kind == "charge"]
        parts = dict(ledger.parts(key))
        assert [*parts] == [*range(1, len(parts) + 1)]
        assert None not in parts.values()
        total = 0
        for number, text in parts.items():
            assert drawn[number] == {text}
            assert before[number] == {str(total) if total else ""}
            total += int(text)
        for each in told:
            if "answer" in each:
                assert parts[each["part"]] == each["answer"]
        assert ledger.spent("people").loss == charge().losses["people"].epsilon0
        assert ledger.verify().entries == ledger.head[0]


def test_children_killed_around_a_part_leave_every_part_drawn_in_one_way(tmp_path):
    lives = nursery("sqlite", 60, tmp_path)
    assert {life["step"] for life in lives if life["life"] == 0 and life["killed"]} >= set(range(1, 25))


@pytest.mark.soak
@pytest.mark.parametrize("store", STORES)
def test_five_hundred_children_are_killed_around_parts(store, tmp_path):
    lives = nursery(store, 500, tmp_path)
    assert any(not life["killed"] for life in lives if life["life"] == 0)  # all steps were seen
