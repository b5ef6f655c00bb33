"""The page on accounting: all of its Python runs and gives what it shows, and all of its commands run."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from discreet.cli.main import main
from discreet.cli.shared.exits import Exit

PAGE = (Path(__file__).parents[2] / "docs" / "account.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ discreet (.*)$", PAGE, flags=re.MULTILINE)


def test_the_examples_give_what_they_show():
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    example = doctest.DocTestParser().get_doctest("".join(blocks), {}, "docs/account.md", "docs/account.md", 0)
    told: list[str] = []
    found = doctest.DocTestRunner(optionflags=flags).run(example, out=told.append)
    assert found.attempted >= 30
    assert not found.failed, "".join(told)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_runs(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if "plot" in command:
        pytest.importorskip("matplotlib")
    assert main(shlex.split(command)) == Exit.DONE
    assert capsys.readouterr().out


def test_the_page_has_commands():
    assert len(COMMANDS) >= 7
