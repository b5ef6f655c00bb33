"""Output: one result, shown as rich text to people or as a versioned envelope to programs."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.exits import code_of
from discreet.core.errors import Refusal, show
from discreet.core.printable import json_printable, printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

VERSION = 1
_UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class Unwritten(Refusal):
    """A result that standard output does not take."""


@dataclass(slots=True)
class Output:
    """Where a command's result goes; `command` is filled in while the command line is read."""

    json: bool = False
    command: str = ""

    def show(self, result: Mapping[str, Any], *views: RenderableType) -> None:
        """Print the views to a person, or the result to a program: never both."""
        if self.json:
            self._envelope(result=result)
            return
        with _reader_may_leave():
            screen = console()
            for view in views:
                screen.print(view)

    def plain(self, result: Mapping[str, Any], lines: Iterable[object]) -> None:
        """Print lines just as they are, for pipes and scripts, or the result to a program."""
        if self.json:
            self._envelope(result=result)
            return
        with _reader_may_leave():
            shown = printable if sys.stdout.isatty() else str  # a program gets what is there, a terminal is not steered
            click.echo("".join(f"{shown(str(line))}\n" for line in lines), nl=False, color=True)

    def refuse(self, error: BaseException) -> None:
        """Print what was refused, why, and the fix: on stderr for people, as the envelope's error for programs."""
        what, why, fix = _parts(error)
        if self.json and not isinstance(error, Unwritten):
            value = show(error.value) if isinstance(error, Refusal) else None
            parts = {"kind": type(error).__name__, "what": what, "why": why, "fix": fix, "value": value}
            self._envelope(error={**parts, "exit": int(code_of(error))})
            return
        from rich.text import Text

        screen = console(stderr=True)
        for label, style, words in (("refused", "bold red", what), ("why", "yellow", why), ("fix", "green", fix)):
            if words:
                screen.print(Text.assemble((f"{label:>7}  ", style), words))

    def _envelope(self, **content: object) -> None:
        with _reader_may_leave():
            text = json.dumps({"discreet": VERSION, "command": self.command, **content}, ensure_ascii=False)
            click.echo(json_printable(text))


def console(*, stderr: bool = False) -> Console:
    """Make a console for the stream of the moment: colours on a terminal only, and never guessed highlights."""
    from rich.console import Console
    from rich.segment import Segment

    class Screen(Console):
        """A console on which texts are shown and never obeyed, whatever renders them."""

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            """Yield what is to be shown, with control characters of texts as escapes."""
            for segment in super().render(renderable, options):
                safe = segment.control or segment.text.isprintable()
                yield segment if safe else Segment(printable(segment.text, lines=True), segment.style)

    return Screen(stderr=stderr, highlight=False, soft_wrap=stderr)


@contextmanager
def _reader_may_leave() -> Iterator[None]:
    """Let `discreet ... | head` end in peace: once the reader has gone, the rest goes nowhere; a full disk is told."""
    try:
        yield
    except BrokenPipeError:
        _to_nowhere()
    except OSError as error:
        if error.errno not in _UNWRITTEN:
            raise
        _to_nowhere()
        why = f"the result cannot be written ({error.strerror})"
        raise Unwritten(
            "standard output", why=why, fix="free some space and ask again: what was paid is kept"
        ) from None


def _to_nowhere() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parts(error: BaseException) -> tuple[str, str, str]:
    match error:
        case Refusal():
            return error.what, error.why, error.fix
        case click.UsageError():
            path = error.ctx.command_path if error.ctx else "discreet"
            usage = error.ctx.get_usage().removeprefix("Usage: ") if error.ctx else "see the help"
            what = " ".join(error.format_message().rstrip(".").split())
            return what, f"the usage is {usage}", f"read {path} --help"
        case click.ClickException():
            return error.format_message().rstrip("."), "the command line could not be parsed", "read discreet --help"
        case click.Abort() | KeyboardInterrupt():
            return "interrupted", "", ""
    # The text of an unforeseen error might quote data, so only its kind is shown.
    return type(error).__name__, "unexpected failure", "set DISCREET_DEBUG=1 to see where, and report it"
