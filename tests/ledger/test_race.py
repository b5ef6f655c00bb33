"""Races: processes want the last unit, again and again; and all of them want one shared answer."""

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from discreet.ledger import Ledger
from tests.ledger.stores import STORES, homes, new_place

# How many processes.
SIZES = {"sqlite": 16, "postgres": 8}
# Fifteen rounds in `make test`, fifty in `make check`.
ROUNDS = [15, pytest.param(50, marks=pytest.mark.slow)]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the racers are forked")


@pytest.fixture(scope="module", params=ROUNDS)
def rounds(request):
    return request.param


@pytest.fixture(scope="module", params=STORES)
def race(request, rounds, tmp_path_factory):
    """The vault, what every process got in every round, and how many of both there were."""
    folder, processes = tmp_path_factory.mktemp("race"), SIZES[request.param]
    path = new_place(request.param, folder)
    words = [sys.executable, "-m", "tests.ledger.racing", str(path), str(processes), str(rounds)]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in homes(folder).items():
            patch.setenv(name, value)
        ran = subprocess.run(words, capture_output=True, text=True, timeout=240, env=os.environ)
        assert ran.returncode == 0, ran.stderr
        yield path, [json.loads(line) for line in ran.stdout.splitlines()], processes, rounds


def test_one_process_gets_the_last_unit_in_every_round_and_no_other_does(race):
    path, told, processes, rounds = race
    assert len(told) == processes * rounds
    winners = Counter(lap for lap, _, answer, _ in told if answer is not None)
    assert winners == dict.fromkeys(range(rounds), 1)
    assert all(answer == f"by {number}" for _, number, answer, _ in told if answer is not None)
    with Ledger.open(path) as ledger:
        assert all(ledger.spent(f"lap {lap}").loss == 1 for lap in range(rounds))


def test_a_question_asked_by_all_at_once_is_charged_once_and_answered_alike(race):
    path, told, _, rounds = race
    answers = {lap: {shared for each, _, _, shared in told if each == lap} for lap in range(rounds)}
    assert all(len(found) == 1 for found in answers.values())
    with Ledger.open(path) as ledger:
        assert ledger.spent("shared").loss == rounds


def test_the_vault_after_the_race_is_in_order(race):
    path, _, processes, rounds = race
    with Ledger.open(path) as ledger:
        kinds = Counter(entry.kind for entry in ledger.entries())
        assert kinds["charge"] == kinds["settle"] == 2 * rounds
        assert kinds["refusal"] == (processes - 1) * rounds
        assert ledger.verify(ledger.head[1]).entries == sum(kinds.values())
