"""discreet completion: scripts for three shells, and the words they ask for."""

import json
import os
import subprocess
import sys

import pytest

from discreet.cli.main import main


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(capsys, shell):
    assert main(["completion", shell]) == 0
    assert "_DISCREET_COMPLETE" in capsys.readouterr().out


def test_json_says_how_to_install_it(capsys):
    assert main(["completion", "fish", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert set(result) == {"shell", "script", "install"}


def test_an_unknown_shell_is_refused(capsys):
    assert main(["completion", "tcsh"]) == 2
    assert "fish" in capsys.readouterr().err


@pytest.mark.parametrize(("typed", "offered"), [("discreet de", "demo"), ("discreet noise lap", "laplace")])
def test_what_was_typed_is_completed(typed, offered):
    words = typed.split()
    asked = {"_DISCREET_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    ran = subprocess.run(
        [sys.executable, "-m", "discreet"], env={**os.environ, **asked}, capture_output=True, text=True
    )
    assert f"plain,{offered}" in ran.stdout
