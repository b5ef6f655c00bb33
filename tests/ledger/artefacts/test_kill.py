"""Crashes around files and renewals: children killed at every step; nothing is overspent, torn, lost or removed."""

import json
import os
import subprocess
import sys

import pytest

from discreet.ledger import Ledger
from discreet.ledger.place import is_url
from tests.ledger.helpers import charge
from tests.ledger.killing import published
from tests.ledger.stores import STORES, homes, new_place

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="children are forked and killed")


def nursery(store, kind, kills, folder, begin=1):
    """Let children live and die; return the vault they left and what they told."""
    path = new_place(store, folder)
    words = [sys.executable, "-m", "tests.ledger.killing", str(path), str(kills), "1", kind, str(begin)]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in homes(folder).items():
            patch.setenv(name, value)
        ran = subprocess.run(words, capture_output=True, text=True, timeout=1200, env=os.environ)
        assert ran.returncode == 0, ran.stderr
        lives = [json.loads(line) for line in ran.stdout.splitlines()]
        assert sum(life["killed"] for life in lives) >= kills
        check_promises(path, lives)
        yield path, lives


def check_promises(path, lives):
    """Nothing charged twice, nothing told that was not settled, and one draw for each question."""
    drawn = {}
    with Ledger.open(path) as ledger:
        charges = {entry.sequence: entry.record() for entry in ledger.entries() if entry.kind == "charge"}
        keys = [body["key"] for body in charges.values()]
        assert len(keys) == len(set(keys))
        assert ledger.spent("people").loss == len(keys) * charge().losses["people"].epsilon0
        assert "failure" not in {entry.kind for entry in ledger.entries()}
        for life in lives:
            key = charge(f"q{life['question']}").key
            if life["drawn"] is not None:
                drawn.setdefault(life["question"], set()).add(life["drawn"])
            if life["told"]:
                assert charges[life["told"]["sequence"]]["key"] == key
                assert ledger.answer(key) == life["told"]["answer"]
    assert all(len(values) == 1 for values in drawn.values())


def check_files(path, lives):
    """Every settled file is whole; every other file is an orphan, found, and removed without touching these."""
    with Ledger.open(path) as ledger:
        settled = [entry.record() for entry in ledger.entries() if entry.kind == "settle"]
        found = ledger.verify()
        assert (found.files, found.missing) == (len(settled), ())
        assert found.orphans or is_url(path)  # where few steps of a short form are those of a file
        assert set(ledger.remove_orphans()) == set(found.orphans)
        assert ledger.verify().orphans == ()
        there = {file.name for file in ledger.artefacts.path.iterdir()}
        assert there == {body["artefacts"][0]["name"] for body in settled}
        for body in settled:
            (file,) = body["artefacts"]
            assert (ledger.artefacts.path / file["name"]).read_bytes() == published(ledger.answer(body["key"]))


@pytest.mark.parametrize("store", STORES)
def test_children_killed_around_a_file_leave_whole_files_and_orphans_alone(store, tmp_path):
    kills, begin = (40, 36) if store == "sqlite" else (25, 12)  # where the work begins: test_kill has the steps before
    for path, lives in nursery(store, "file", kills, tmp_path, begin):
        check_files(path, lives)


def test_children_killed_while_a_lease_is_renewed_leave_one_answer(tmp_path):
    for path, lives in nursery("sqlite", "beats", 20, tmp_path, 30):
        assert any(life["drawn"] and life["killed"] for life in lives)
        with Ledger.open(path) as ledger:
            assert ledger.verify().entries == ledger.head[0]


@pytest.mark.soak
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("kind", ["file", "beats"])
def test_five_hundred_children_are_killed(store, kind, tmp_path):
    for path, lives in nursery(store, kind, 500, tmp_path):
        with Ledger.open(path) as ledger:
            assert ledger.verify().entries == ledger.head[0]
        if kind == "file":
            first = [(life["step"], life["killed"]) for life in lives if life["life"] == 0]
            assert {step for step, killed in first if not killed}  # some first lives have seen all steps
            check_files(path, lives)
