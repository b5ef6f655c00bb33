"""Files that commands write: options that name them, and the one way to write them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from discreet.core.file import Occupied, check_place, check_writable, new_file, write_file

_FORCE, _NAMED = "discreet.cli.force", "discreet.cli.named"


class _NewFile(click.Path):
    """The name of a file to be written: refused as it is read, before anything is done, where another is in the way.

    A command with such an option has `--force` by construction.
    """

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Read the name."""
        place = Path(os.fsdecode(super().convert(value, param, ctx)))
        check_place(place, force=forced())
        if place.parent.is_dir():  # some commands make it
            check_writable(place)
        if any(place.resolve() == each.resolve() for each in _meta().get(_NAMED, [])):
            why = "two options name it, and one file would overwrite the other"
            raise Occupied(f"file {place}", why=why, fix="give each its own name", value=str(place))
        _meta().setdefault(_NAMED, []).append(place)
        return place


class _NewFiles(click.Path):
    """The name of a folder for files to be written; those in the way are refused one by one."""

    name = "folder"


NEW_FILE = _NewFile(path_type=Path, dir_okay=False)
NEW_FILES = _NewFiles(path_type=Path, file_okay=False)


def force_option() -> click.Option:
    """Return `--force`, which is read before all other options."""
    words = "Overwrite an existing file; never a vault, a source, a store or an anchor."
    return click.Option(["--force"], is_flag=True, is_eager=True, expose_value=False, callback=_keep, help=words)


def writes_files(command: click.Command) -> bool:
    """Return whether a command has an option that names a file to be written."""
    return any(isinstance(each.type, _NewFile | _NewFiles) for each in command.params)


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Yield where to write a file that gets its name once it is complete; see `discreet.core.file`."""
    protect(_read())
    with new_file(path, force=forced()) as place:
        yield place


@contextmanager
def written_anywhere(path: Path) -> Iterator[Path]:
    """Yield where to write a file, as `written` does, in a folder that is made if need be."""
    check_place(path, force=forced())
    path.parent.mkdir(parents=True, exist_ok=True)
    with written(path) as place:
        yield place


def write_text(path: str | Path, text: str, *, private: bool = False) -> None:
    """Write a text as a file."""
    write_file(path, text, force=forced(), private=private)


def protect(sources: Iterable[str]) -> None:
    """Refuse any file to be written that is a source, or lies in the folder or pattern of one."""
    from discreet.engines.duckdb.files import reads

    for source in sources:
        for place in _meta().get(_NAMED, []):
            if reads(source, place):
                fix = "choose another name; no option overwrites it"
                raise Occupied(f"file {place}", why="rows are read from there", fix=fix, value=str(place))


def _read() -> list[str]:
    """Return the files that the command was told to read."""
    context = click.get_current_context(silent=True)
    if context is None:
        return []
    words = [each for given in context.params.values() for each in (given if isinstance(given, tuple) else (given,))]
    files = [each for each in words if isinstance(each, Path) and each not in _meta().get(_NAMED, [])]
    return [str(each) for each in files if each.is_file()]


def _keep(context: click.Context, _: click.Parameter, value: bool) -> bool:
    context.meta[_FORCE] = value
    return value


def forced() -> bool:
    """Return whether `--force` was given."""
    return bool(_meta().get(_FORCE))


def _meta() -> dict[str, Any]:
    context = click.get_current_context(silent=True)
    return {} if context is None else context.meta
