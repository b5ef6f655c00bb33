"""What `discreet ask` and `discreet preview` share: the question, the session, and the price."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.files import protect
from discreet.cli.shared.vault_options import budget_options, vault_option
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from fractions import Fraction

    from discreet.ask.priced import Rows
    from discreet.curator.session import Session

Command = Callable[..., Any]
Price = tuple["Fraction | None", "Fraction | None", "Fraction | None"]

# More rows than anyone has; Python refuses to read thousands of digits.
_MOST_DIGITS = 18

_FIX = 'write discreet ask "SELECT COUNT(*) FROM visits", name a file with --file, or give - to read standard input'


def question_options(command: Command) -> Command:
    """Add the question, `--file`, `--token`, `--vault`, the price, `--max-rows`, `--cut` and `--key`."""
    options = (
        click.argument("question", required=False),
        click.option("--file", type=click.Path(path_type=Path, dir_okay=False), help="Read the question from a file."),
        click.option("--key", "keys", multiple=True, metavar="COLUMN=A,B", help="Keys of a column that has none."),
        click.option("--max-rows", metavar="ROWS", help="Lower the rows a person counts for; auto chooses privately."),
        click.option(
            "--cut", is_flag=True, help="Also buy the least that bounding people cut, at a tenth of the price."
        ),
        click.option("--token", envvar="DISCREET_TOKEN", show_envvar=True, help="What the custodian gave you."),
        vault_option,
        budget_options("What the answer may cost"),
    )
    for option in reversed(options):
        command = option(command)
    return command


def text_of(question: str | None, file: Path | None) -> str:
    """Return the question: from the command line, from a file, or from standard input where it is -."""
    if (question is None) == (file is None):
        why = "there is no question" if question is None else "there are two questions"
        raise BadParameter("question", question, why=why, fix=_FIX)
    try:
        if file is not None:
            return file.read_text(encoding="utf-8")
        return sys.stdin.read() if question == "-" else str(question)
    except (OSError, UnicodeDecodeError) as error:
        why = "there is no such file" if isinstance(error, FileNotFoundError) else "it cannot be read as text"
        raise BadParameter("file", str(file or "-"), why=why, fix=_FIX) from error


@contextmanager
def session_of(vault: Path, token: str | None) -> Iterator[Session]:
    """Open a session by its token, and close it."""
    from discreet.curator.connect import connect

    if token is None:
        why, fix = "a token says whose question it is, and whose budget pays", "pass --token, or set DISCREET_TOKEN"
        raise BadParameter("token", None, why=why, fix=fix)
    with connect(vault, token) as session, _offers_as_options():
        protect(session.desk.files())  # for the command line alone: analysts are not told
        yield session


@contextmanager
def _offers_as_options() -> Iterator[None]:
    """Say a price that would fit as it is given in a shell."""
    from discreet.ledger.refusals import LimitExceeded

    try:
        yield
    except LimitExceeded as refusal:
        for name, amount in refusal.offer.items():
            refusal.fix = f"--{name} {amount} would fit"
        raise


def price_of(epsilon: str | None, delta: str | None, rho: str | None) -> Price:
    """Read epsilon, delta and rho exactly as they are written."""
    from discreet.core.rational import parse_written

    def read(name: str, text: str | None) -> Fraction | None:
        return None if text is None else parse_written(name, text)

    return read("epsilon", epsilon), read("delta", delta), read("rho", rho)


def rows_of(text: str | None) -> Rows:
    """Read `--max-rows`: an integer, or auto."""
    if text is None or text == "auto":
        return text  # type: ignore[return-value]  # "auto" is the one text that a question knows
    if not text.isdecimal() or len(text) > _MOST_DIGITS:
        raise BadParameter("max_rows", text, why="it is a number of rows", fix="use an integer, or auto")
    return int(text)


def keys_of(words: tuple[str, ...]) -> dict[str, list[str]]:
    """Read `--key city=Bern,Basel`; a key with a comma stands in double quotes."""
    from discreet.curator.declare import listed

    found = {}
    for word in words:
        name, equal, values = word.partition("=")
        if not name or not equal or not values:
            raise BadParameter("key", word, why="it names a column and its keys", fix="write --key city=Bern,Basel")
        found[name] = listed(values)
    return found
