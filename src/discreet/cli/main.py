"""The `discreet` command itself: finds its subcommands in this folder and imports the one that is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from discreet.cli.shared.exits import Exit, code_of
from discreet.cli.shared.folder import Folder, dress
from discreet.cli.shared.option_words import options_of, respell
from discreet.cli.shared.output import Output, Unwritten
from discreet.core.errors import Refusal
from discreet.core.log import logger
from discreet.core.registry import Registry
from discreet.core.version import __version__

# `attacks` is the folder of the commands under `attack`.
_APART = frozenset({"attacks", "demonstration", "main", "shared"})
commands = Registry("command", "discreet.cli", entry=lambda _: "command", apart=_APART)


@click.group(
    cls=Folder,
    registry=commands,
    codes=True,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--version", is_flag=True, help="Show the version and stop.")
@click.pass_context
def discreet(context: click.Context, version: bool) -> None:
    """Differential privacy for tables: answers with error bars, a durable privacy budget, synthetic data and audits."""
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
        if os.environ.get("DISCREET_DEBUG") == "1" and not _is_told_plainly(error):
            raise
        if isinstance(error, Refusal):
            respell(error, options_of(discreet, output.command))
        try:
            output.refuse(error)
        except Unwritten as unwritten:
            output.refuse(unwritten)
        exit_code = code_of(error)
        logger.debug("ended with exit code %d", exit_code)
        return exit_code


def _is_told_plainly(error: BaseException) -> bool:
    """Whether an error is printed without a traceback, also for who debugs: of a failed question there is one text."""
    # By name, so nothing is imported for it.
    return isinstance(error, click.ClickException) or type(error).__name__ == "QuestionFailed"


dress(discreet)
