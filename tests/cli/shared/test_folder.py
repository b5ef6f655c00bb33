"""Folders of commands: their help says all of every line, and the page of the command line names every command."""

from pathlib import Path

import click
import pytest

from discreet.cli.main import commands, discreet, main

PAGE = Path(__file__).parents[3] / "docs" / "cli.md"
CONTEXT = click.Context(discreet)
GROUPS = [name for name in commands if isinstance(discreet.get_command(CONTEXT, name), click.Group)]


@pytest.mark.parametrize("name", GROUPS)
def test_a_list_of_commands_has_the_whole_of_every_line(capsys, name):
    main([name, "--help"])
    listed = " ".join(capsys.readouterr().out.partition("\nCommands:\n")[2].split())
    group = discreet.get_command(CONTEXT, name)
    lines = [" ".join((each.help or "").partition("\n\n")[0].split()) for each in group.commands.values()]
    assert [line for line in lines if line not in listed] == []


def test_the_page_of_the_command_line_has_a_row_for_every_command():
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in commands if f"\n| `discreet {name}` |" not in page] == []
