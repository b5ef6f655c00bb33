"""Environments: the interpreter of each participant, in a cached virtual environment where it needs packages."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.harness.case import Participant
from bench.harness.process import variables

CACHE = Path(__file__).resolve().parents[2] / ".bench"
INSTALL_TIMEOUT = 900.0


class PeerAbsent(Exception):
    """A peer whose packages could not be installed; `why` is the last thing the installer said."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} is absent: {why}")
        self.name = name
        self.why = why


def folder(participant: Participant, cache: Path = CACHE) -> Path:
    """Where the environment is kept: named by the participant and by all that decides what is installed in it."""
    recipe = "\n".join((sys.version, *participant.requirements))
    return cache / f"{participant.name}-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"


def interpreter(participant: Participant, cache: Path = CACHE) -> Path:
    """The participant's interpreter; its environment is made on first use and found again afterwards."""
    if not participant.requirements:
        return Path(sys.executable)
    home = folder(participant, cache)
    if not home.exists():
        _make(participant, home)
    return _python(home)


def _make(participant: Participant, home: Path) -> None:
    """Install beside the final folder and rename when complete, so that half an environment is never used."""
    home.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f"{home.name}.", dir=home.parent))
    try:
        _call(participant, [sys.executable, "-m", "venv", str(draft)])
        _call(participant, [str(_python(draft)), "-m", "pip", "install", "--quiet", *participant.requirements])
        draft.rename(home)
    except OSError as error:
        if not home.exists():  # else another run finished the same environment first
            raise PeerAbsent(participant.name, str(error)) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _call(participant: Participant, command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=variables(), timeout=INSTALL_TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        raise PeerAbsent(participant.name, f"its installation took more than {INSTALL_TIMEOUT:g} s") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        errors = [line for line in said if line.startswith("ERROR")] or said or [f"status {done.returncode}"]
        raise PeerAbsent(participant.name, errors[-1].removeprefix("ERROR: "))


def _python(home: Path) -> Path:
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
