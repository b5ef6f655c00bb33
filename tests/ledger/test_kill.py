"""Crashes: children killed at every step between charge and return; the vault forgets nothing and charges once."""

import json
import os
import subprocess
import sys

import pytest

from discreet.ledger import Ledger
from tests.ledger.helpers import charge
from tests.ledger.stores import STORES, homes, new_place

KILLS = 200
# Everything that goes to a server is a step of its own, so that there are more of them.
MORE = {"postgres": 320}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="children are forked and killed")


@pytest.fixture(scope="module", params=STORES)
def lives(request, tmp_path_factory):
    """The lives and deaths of all children, and the vault they left."""
    folder = tmp_path_factory.mktemp("killing")
    path = new_place(request.param, folder)
    words = [
        sys.executable,
        "-m",
        "tests.ledger.killing",
        str(path),
        str(MORE.get(request.param, KILLS)),
        "1",
        "text",
        "1",
    ]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in homes(folder).items():
            patch.setenv(name, value)
        ran = subprocess.run(words, capture_output=True, text=True, timeout=240, env=os.environ)
        assert ran.returncode == 0, ran.stderr
        yield path, [json.loads(line) for line in ran.stdout.splitlines()]


def test_two_hundred_children_were_killed_and_some_at_every_step(lives):
    _, told = lives
    assert sum(life["killed"] for life in told) >= KILLS
    first = [(life["step"], life["killed"]) for life in told if life["life"] == 0]
    outlived = min(step for step, killed in first if not killed)
    assert outlived > 30  # statements, commits, anchors, the work and the return, before and after each
    assert {step for step, killed in first if killed} == set(range(1, outlived))


def test_no_answer_was_told_without_a_debit_and_every_answer_is_the_settled_one(lives):
    path, told = lives
    with Ledger.open(path) as ledger:
        charges = {entry.sequence: entry.record() for entry in ledger.entries() if entry.kind == "charge"}
        for life in told:
            if life["told"]:
                asked = charge(f"q{life['question']}")
                assert charges[life["told"]["sequence"]]["key"] == asked.key
                assert ledger.answer(asked.key) == life["told"]["answer"]


def test_no_question_was_charged_twice_and_nothing_was_overspent(lives):
    path, told = lives
    with Ledger.open(path) as ledger:
        keys = [entry.record()["key"] for entry in ledger.entries() if entry.kind == "charge"]
        assert len(keys) == len(set(keys))
        assert ledger.spent("people").loss == len(keys) * charge().losses["people"].epsilon0
        assert set(keys) <= {charge(f"q{life['question']}").key for life in told}
        assert ledger.verify().entries == ledger.head[0]


def test_every_life_of_a_question_draws_the_same_and_the_answer_is_that(lives):
    path, told = lives
    drawn = {}
    for life in told:
        if life["drawn"] is not None:
            drawn.setdefault(life["question"], []).append(life["drawn"])
    assert sum(len(values) > 1 for values in drawn.values()) > 10  # killed after the draw, and drawn again
    assert all(len(set(values)) == 1 for values in drawn.values())
    assert len({values[0] for values in drawn.values()}) == len(drawn)
    with Ledger.open(path) as ledger:
        assert "failure" not in {entry.kind for entry in ledger.entries()}
        for question, (value, *_) in drawn.items():
            assert ledger.answer(charge(f"q{question}").key) in (None, value)


def test_every_question_can_still_be_answered_at_no_new_charge(lives):
    path, told = lives
    with Ledger.open(path) as ledger:
        before = ledger.spent("people")
        for _, key in ledger.unsettled():
            question = next(f"q{life['question']}" for life in told if charge(f"q{life['question']}").key == key)
            assert ledger.run(charge(question), lambda _: "at last")[0] == "at last"
        assert ledger.spent("people") == before
        assert ledger.unsettled() == ()
