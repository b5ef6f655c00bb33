"""Environments: cached by what is in them, complete or not there, and absence is a fact to report."""

import subprocess
import sys
from pathlib import Path

import pytest
from bench.harness import environment
from bench.harness.bar import faster
from bench.harness.case import Participant
from bench.harness.environment import PeerAbsent, folder, interpreter
from bench.harness.run import run_area
from bench.harness.watch import Quiet

from tests.bench.helpers import FAKE, area, reported, series

PEER = Participant("a", FAKE, requirements=("first==1.0", "second==2.0"))


@pytest.fixture
def installer(monkeypatch):
    """Record the installer's commands instead of running them; `installer.fail` makes the last one fail."""

    class Installer:
        commands: list[list[str]]
        fail = False

        def run(self, command, **_):
            self.commands.append(command)
            failing = self.fail and "pip" in command
            stderr = "notice: hello\nERROR: No matching distribution found for first==1.0\nhint: bye\n"
            return subprocess.CompletedProcess(command, int(failing), "", stderr if failing else "")

    one = Installer()
    one.commands = []
    monkeypatch.setattr(environment.subprocess, "run", one.run)
    return one


def test_without_requirements_the_projects_own_interpreter_is_used(tmp_path):
    assert interpreter(Participant("a", FAKE), tmp_path) == Path(sys.executable)
    assert list(tmp_path.iterdir()) == []


def test_an_environment_is_named_by_the_peer_and_its_requirements(tmp_path):
    other = Participant("a", FAKE, requirements=("first==1.1", "second==2.0"))
    assert folder(PEER, tmp_path).name.startswith("a-")
    assert folder(PEER, tmp_path) == folder(PEER, tmp_path)
    assert folder(PEER, tmp_path) != folder(other, tmp_path)


def test_an_environment_is_made_once_and_found_again(tmp_path, installer):
    first = interpreter(PEER, tmp_path)
    made = len(installer.commands)
    assert interpreter(PEER, tmp_path) == first
    assert len(installer.commands) == made == 2
    assert installer.commands[1][-2:] == ["first==1.0", "second==2.0"]
    assert [one.name for one in tmp_path.iterdir()] == [folder(PEER, tmp_path).name]


def test_a_failed_installation_leaves_nothing_and_says_why(tmp_path, installer):
    installer.fail = True
    with pytest.raises(PeerAbsent, match=r"a is absent: No matching distribution found for first==1\.0$"):
        interpreter(PEER, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_absent_peer_is_reported_once_and_the_others_are_measured(tmp_path, monkeypatch):
    attempts = []

    def refuse(participant, command):
        attempts.append(command)
        raise PeerAbsent(participant.name, "no such package")

    monkeypatch.setattr(environment, "_call", refuse)
    case = reported(ours=series(1, 1, 1), peers={"a": series(1, 1, 1), "b": series(2, 2, 2)}, bars=(faster("a", 1),))
    fake = area(case, case, peers=(PEER, Participant("b", FAKE)))
    result = run_area("fake", fake, Quiet(), cache=tmp_path)
    assert len(attempts) == 1
    assert result.absent == {"a": "no such package"}
    assert result.misses == ["fake: a is absent: no such package"]
    assert [outcome.ratio("b") for outcome in result.outcomes] == [2.0, 2.0]
    assert all(outcome.missed for outcome in result.outcomes)
