"""Folders of commands: a group whose commands are the files of a folder, imported when they are called."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.shared.exits import MEANINGS
from discreet.cli.shared.files import force_option, writes_files
from discreet.cli.shared.output import Output
from discreet.core.errors import UnknownName
from discreet.core.log import logger
from discreet.core.registry import Registry


class Folder(click.Group):
    """The group whose list of commands is a folder; `codes` says whether the table of exit codes closes its help."""

    def __init__(self, *arguments: Any, registry: Registry, codes: bool = False, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.registry, self.codes = registry, codes

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands, importing none."""
        return [_word(name) for name in self.registry]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command and give it the options every command has."""
        name = cmd_name.replace("-", "_")
        if name not in self.registry:
            return None
        found = self.registry[name]
        assert isinstance(found, click.Command)
        found.name = cmd_name
        dress(found)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown one is refused with the nearest that exist."""
        if not ctx.resilient_parsing and args and args[0].replace("-", "_") not in self.registry:
            raise UnknownName(self.registry.kind, args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with the first lines of their files, importing none."""
        with formatter.section("Commands"):
            summaries = ((name, self.registry.summary(name)) for name in self.registry)
            formatter.write_dl([(_word(name), summary.partition(": ")[2]) for name, summary in summaries])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Close the help with the table of exit codes."""
        if self.codes:
            with formatter.section("Exit codes"):
                formatter.write_dl([(str(int(code)), meaning) for code, meaning in MEANINGS.items()])


def dress(command: click.Command) -> None:
    """Add `--json` and `--verbose` to a command and to all below it; and `--force`, where files are written."""
    if not any("--json" in option.opts for option in command.params):
        command.params += [
            click.Option(
                ["--json"], is_flag=True, is_eager=True, expose_value=False, callback=_begin, help="Print JSON."
            ),
            click.Option(
                ["--verbose"], is_flag=True, is_eager=True, expose_value=False, callback=_listen, help="Log to stderr."
            ),
        ]
    if writes_files(command) and not any("--force" in option.opts for option in command.params):
        command.params.append(force_option())
    if isinstance(command, click.Group):
        for below in command.commands.values():
            # Click would cut a longer line off, with dots, in the list of commands.
            below.short_help = below.short_help or " ".join((below.help or "").partition("\n\n")[0].split())
            dress(below)


def _begin(context: click.Context, _: click.Parameter, value: bool) -> bool:
    command = context.command_path.removeprefix("discreet").strip()
    context.ensure_object(Output).command = command
    logger.debug("command %s", command)
    return value


def _listen(_: click.Context, __: click.Parameter, value: bool) -> bool:
    if value:
        import logging

        logging.basicConfig(format="%(name)s: %(message)s")
        logger.setLevel(logging.DEBUG)
    return value


def _word(name: str) -> str:
    return name.replace("_", "-")
