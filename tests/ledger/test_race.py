"""Races: sixteen processes want the last unit, a hundred times; and all of them want one shared answer."""

import json
import subprocess
import sys
from collections import Counter

import pytest

from discreet.ledger import Ledger

PROCESSES, ROUNDS = 16, 100

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the racers are forked")


@pytest.fixture(scope="module")
def race(tmp_path_factory):
    """What every process got in every round, and the vault."""
    path = tmp_path_factory.mktemp("race") / "vault.discreet"
    words = [sys.executable, "-m", "tests.ledger.racing", str(path), str(PROCESSES), str(ROUNDS)]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0, ran.stderr
    return path, [json.loads(line) for line in ran.stdout.splitlines()]


def test_one_process_gets_the_last_unit_in_every_round_and_no_other_does(race):
    path, told = race
    assert len(told) == PROCESSES * ROUNDS
    winners = Counter(lap for lap, _, answer, _ in told if answer is not None)
    assert winners == dict.fromkeys(range(ROUNDS), 1)
    assert all(answer == f"by {number}" for _, number, answer, _ in told if answer is not None)
    with Ledger.open(path) as ledger:
        assert all(ledger.spent(f"lap {lap}").loss == 1 for lap in range(ROUNDS))


def test_a_question_asked_by_all_at_once_is_charged_once_and_answered_alike(race):
    path, told = race
    answers = {lap: {shared for each, _, _, shared in told if each == lap} for lap in range(ROUNDS)}
    assert all(len(found) == 1 for found in answers.values())
    with Ledger.open(path) as ledger:
        assert ledger.spent("shared").loss == ROUNDS


def test_the_vault_after_the_race_is_in_order(race):
    path, _ = race
    with Ledger.open(path) as ledger:
        kinds = Counter(entry.kind for entry in ledger.entries())
        assert kinds["charge"] == kinds["settle"] == 2 * ROUNDS
        assert kinds["refusal"] == (PROCESSES - 1) * ROUNDS
        assert ledger.verify(ledger.head[1]).entries == sum(kinds.values())
