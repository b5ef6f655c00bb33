"""The `discreet` command itself: finds its subcommands in this folder and imports the one that is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from discreet.cli.exits import MEANINGS, Exit, code_of
from discreet.cli.output import Output
from discreet.core.errors import UnknownName
from discreet.core.log import logger
from discreet.core.registry import Registry
from discreet.core.version import __version__

commands = Registry("command", "discreet.cli", entry=lambda _: "command", apart=frozenset({"main", "exits", "output"}))


class Commands(click.Group):
    """The group whose list of commands is this folder."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands, importing none."""
        return [_word(name) for name in commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command and give it the options every command has."""
        name = cmd_name.replace("-", "_")
        if name not in commands:
            return None
        found = commands[name]
        assert isinstance(found, click.Command)
        found.name = cmd_name
        _dress(found)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown one is refused with the nearest that exist."""
        if not ctx.resilient_parsing and args and args[0].replace("-", "_") not in commands:
            raise UnknownName("command", args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with the first lines of their files, importing none."""
        with formatter.section("Commands"):
            formatter.write_dl([(_word(name), commands.summary(name).partition(": ")[2]) for name in commands])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Close the help with the table of exit codes."""
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), meaning) for code, meaning in MEANINGS.items()])


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, help="Show the version and stop.")
@click.pass_context
def discreet(context: click.Context, version: bool) -> None:
    """Ask about, publish from and learn from a sensitive table without giving away anyone in it."""
    if version:
        context.ensure_object(Output).show({"version": __version__}, f"discreet {__version__}")
        context.exit()
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; refusals are printed, never raised."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    output = Output(json="--json" in words)
    try:
        result = discreet.main(words, prog_name="discreet", standalone_mode=False, obj=output)
        return result if isinstance(result, int) else Exit.DONE
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return Exit.DONE
    except (Exception, KeyboardInterrupt) as error:
        if os.environ.get("DISCREET_DEBUG") == "1" and not isinstance(error, click.ClickException):
            raise
        output.refuse(error)
        exit_code = code_of(error)
        logger.debug("ended with exit code %d", exit_code)
        return exit_code


def _dress(command: click.Command) -> None:
    """Add `--json` and `--verbose` to a command and to all below it, so that they are everywhere by construction."""
    if not any("--json" in option.opts for option in command.params):
        command.params += [
            click.Option(
                ["--json"], is_flag=True, is_eager=True, expose_value=False, callback=_begin, help="Print JSON."
            ),
            click.Option(
                ["--verbose"], is_flag=True, is_eager=True, expose_value=False, callback=_listen, help="Log to stderr."
            ),
        ]
    if isinstance(command, click.Group):
        for below in command.commands.values():
            _dress(below)


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


_dress(discreet)
