"""What the commands about collections share: their folder, their store, and protocols written in a word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.output import Output, console
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.rational import parse_written

if TYPE_CHECKING:
    from discreet.local.collection import Collection
    from discreet.local.protocol import Protocol
    from discreet.local.sketch import Sketch
    from discreet.serve.sketches import SketchStore

COLLECTION, KEY, STORE = "collection.json", "collection.key", "collector.sqlite"
Command = Callable[..., Any]


def folder_argument(command: Command) -> Command:
    """Add FOLDER, where a collection lives."""
    return click.argument("folder", type=click.Path(path_type=Path, file_okay=False))(command)


def store_option(command: Command) -> Command:
    """Add `--store`, which the environment may set."""
    return click.option(
        "--store",
        envvar="DISCREET_COLLECTOR",
        show_envvar=True,
        metavar="ADDRESS",
        help="postgresql://... to store sketches in PostgreSQL; default: a file in FOLDER.",
    )(command)


@dataclass(frozen=True, slots=True)
class OpenCollection:
    """A collection, the text that was signed, and the store of its sketches."""

    collection: Collection
    signed: str
    store: SketchStore

    def sketches(self, epochs: Sequence[int] = ()) -> dict[int, Sketch]:
        """Return the sketches of the epochs, or of all that have reports."""
        wanted = epochs or range(self.collection.epochs)
        found = {epoch: self.store.sketch(epoch) for epoch in wanted}
        return {epoch: sketch for epoch, sketch in found.items() if epochs or sketch.reports or sketch.rejected}


def signed_text(path: Path) -> str:
    """Return the signed text of a collection, given its file or its folder."""
    file = path / COLLECTION if path.is_dir() else path
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fix = "give a folder that discreet collect init made, or the collection.json in it"
        raise Refusal(f"collection {file}", why="it cannot be read", fix=fix, value=str(file)) from error


@contextmanager
def opened(folder: Path, store: str | None) -> Iterator[OpenCollection]:
    """Open the store of a collection, and let go of it."""
    from discreet.local.collection import read

    text = signed_text(folder)
    collection = read(text)
    sketches = open_store(folder, store, collection)
    try:
        yield OpenCollection(collection, text, sketches)
    finally:
        sketches.disconnect()


def open_store(folder: Path, store: str | None, collection: Collection) -> SketchStore:
    """Open the store: a database, where an address is given, else the file in the folder."""
    if store is None:
        from discreet.serve.sqlite_sketches import SqliteSketches

        return SqliteSketches(folder / STORE, collection)
    if not store.startswith(("postgresql://", "postgres://")):
        why, fix = "a store elsewhere is a PostgreSQL database", "write postgresql://user@host/database"
        raise BadParameter("store", store.partition("://")[0], why=why, fix=fix)
    from discreet.engines.postgres.options import Server
    from discreet.serve.postgres_sketches import PostgresSketches

    Server(store)  # refuses a password, which other users of the machine could read

    return PostgresSketches(store, collection)


def checked_epoch(collection: Collection, epoch: int) -> int:
    """Return an epoch that the collection has."""
    if not 0 <= epoch < collection.epochs:
        why = f"the collection has epochs 0 to {collection.epochs - 1}"
        raise BadParameter("epoch", epoch, why=why, fix="name one of them")
    return epoch


def protocol_of(text: str) -> Protocol:
    """Read a protocol: its name and parameters, as in unary:k=100,epsilon=1."""
    import discreet.local as local
    from discreet.local.protocol import KINDS

    name, _, rest = text.partition(":")
    word = name.strip().replace("-", "_")
    if word not in KINDS:
        raise UnknownName("protocol", name, KINDS)
    given = dict(_parameter(part) for part in rest.split(",") if part.strip())
    try:
        made: Protocol = getattr(local, word)(**given)
    except TypeError as error:
        why = "it has other parameters"
        fix = "see docs/local.md for its parameters; most take k and epsilon, as in unary:k=100,epsilon=1"
        raise BadParameter("protocol", text, why=why, fix=fix) from error
    return made


def _parameter(part: str) -> tuple[str, object]:
    name, equals, value = (piece.strip() for piece in part.partition("="))
    if not equals or not name.isidentifier():
        why = "a parameter is a name, an equals sign and a value"
        raise BadParameter("protocol", part, why=why, fix="write it like unary:k=100,epsilon=1")
    if value in ("true", "false"):
        return name, value == "true"
    try:
        number: Fraction = parse_written(name, value)
    except BadParameter:
        return name, value
    return name, number.numerator if number.denominator == 1 else number


@contextmanager
def progress(output: Output, total: int, text: str) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how much is done."""
    from rich.progress import Progress

    screen = console(stderr=True)
    with Progress(console=screen, transient=True, disable=output.json or not screen.is_terminal) as bar:
        task = bar.add_task(text, total=total)
        yield lambda count: bar.advance(task, count)
