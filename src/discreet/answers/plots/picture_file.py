"""Files of pictures: where one may be written is checked first, before anything is paid for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.errors import BadParameter, MissingExtra
from discreet.core.file import new_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg", ".pdf")


def new() -> type[Figure]:
    """Return Matplotlib's figures, which need no screen; without Matplotlib, refuse with the line that installs it."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("the plot", "plot", "matplotlib") from error
    return Figure


def check_place(name: str, path: Path) -> None:
    """Refuse a file, given as the parameter `name`, into which no picture can be drawn."""
    if path.suffix.lower() not in ENDINGS:
        fix = f"end the name in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
        raise BadParameter(name, str(path), why="its ending says what is drawn", fix=fix)
    if not path.parent.is_dir():
        raise BadParameter(name, str(path), why="there is no such folder", fix="make the folder first")


def save(figure: Figure, path: Path, name: str = "path") -> None:
    """Draw a figure into a file."""
    try:
        with new_file(path, force=True) as place:
            figure.savefig(place, dpi=150)
    except (OSError, ValueError) as error:
        why = "the picture could not be written"
        raise BadParameter(name, str(path), why=why, fix="use a folder that you may write to") from error
