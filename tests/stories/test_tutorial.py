"""The tutorial's commands, as they are printed: the same file, registered, granted and verified from a shell."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
BIN = Path(sys.executable).parent


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_every_command_of_the_tutorial_works_in_order(tmp_path, monkeypatch):
    if not (BIN / "discreet").exists():
        pytest.skip("the command discreet is not installed beside this Python")
    monkeypatch.chdir(tmp_path)
    exec(blocks("python")[0], {})
    shell = "set -eu\n" + "\n".join(blocks("sh"))
    # The token that a reader would copy from what grant printed.
    grant, token = "discreet grant alice visits --epsilon 2\n", "DISCREET_TOKEN=...\n"
    assert grant in shell
    assert token in shell
    shell = shell.replace(grant, "discreet grant alice visits --epsilon 2 > granted; cat granted\n")
    shell = shell.replace(token, "DISCREET_TOKEN=$(grep -oE '[0-9a-f]{12}_[0-9a-f]{48}' granted)\n")
    environment = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    ran = subprocess.run(["sh", "-c", shell], env=environment, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    for words in ("Table visits is registered", "alice may ask about visits", "The vault is in order."):
        assert words in ran.stdout
