"""Pictures: bars, curves and tables of cells as values, drawn by Matplotlib into a file or into a page."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.core.errors import BadParameter, MissingExtra
from discreet.core.file import new_file

Points = Sequence[tuple[float, float]]

_INK, _GRID, _QUIET = "#334155", "#e2e8f0", "#94a3b8"
_COLOURS = {"bad": "#c2410c", "good": "#0d9488", "plain": "#2563eb", "quiet": _QUIET}
_ORDER = ("#2563eb", "#c2410c", "#0d9488", "#7c3aed", "#b45309", "#475569")
_ENDINGS = (".png", ".svg", ".pdf")
_UNDATED: dict[str, None] = {"Date": None, "Creator": None}


@dataclass(frozen=True, slots=True)
class GuideLine:
    """A dashed line across a picture, with a word: chance, a promise, a bound."""

    at: float
    text: str
    upright: bool = False


class _Shown:
    """What notebooks ask a picture for: it draws itself, where Matplotlib is."""

    __slots__ = ()

    def _repr_svg_(self) -> str | None:
        assert isinstance(self, Picture)
        try:
            return svg(self)
        except MissingExtra:
            return None


@dataclass(frozen=True, slots=True)
class Bars(_Shown):
    """A bar for each name, to the right; `kinds` are "bad", "good", "plain" or "quiet", one for each."""

    title: str
    names: Sequence[str]
    values: Sequence[float]
    label: str
    kinds: Sequence[str] = ()
    lines: Sequence[GuideLine] = ()
    percent: bool = False
    most: float | None = None  # where the axis ends


@dataclass(frozen=True, slots=True)
class Curves(_Shown):
    """Named series of points, joined by lines or (those named in `dots`) not."""

    title: str
    series: Sequence[tuple[str, Points]]
    across: str
    up: str
    lines: Sequence[GuideLine] = ()
    dots: frozenset[str] = frozenset()
    logarithmic: str = ""  # "x", "y" or "xy"
    reach: tuple[float, float] | None = None  # the ends of the upright axis


@dataclass(frozen=True, slots=True)
class Shades(_Shown):
    """A table of numbers as shades, dark where they are large."""

    title: str
    values: Sequence[Sequence[float]]
    across: str
    up: str
    marks: Sequence[tuple[int, int]] = field(default=())  # cells to ring, as (row, column)


Picture = Bars | Curves | Shades


def save(picture: Picture, path: str | Path) -> None:
    """Draw a picture into a .png, .svg or .pdf file."""
    place = Path(path)
    if place.suffix.lower() not in _ENDINGS:
        fix = f"end the name in {', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}"
        raise BadParameter("plot", str(place), why="its ending says what is drawn", fix=fix)
    figure = _figure(picture)
    place.parent.mkdir(parents=True, exist_ok=True)
    with _plainly(), new_file(place, force=True) as fresh:
        figure.savefig(fresh, dpi=130, metadata=_UNDATED if place.suffix.lower() == ".svg" else None)


def svg(picture: Picture) -> str:
    """Draw a picture as an SVG element, to be put into a page."""
    figure, written = _figure(picture), io.StringIO()
    with _plainly():
        figure.savefig(written, format="svg", metadata=_UNDATED)
    text = written.getvalue()
    return text[text.index("<svg") :]


def _plainly() -> AbstractContextManager[None]:
    """Let an SVG keep its text as text, and be the same file every time."""
    from matplotlib import rc_context

    return rc_context({"svg.fonttype": "none", "svg.hashsalt": "discreet"})


def _figure(picture: Picture) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("the picture", "plot", "matplotlib") from error
    match picture:
        case Bars():
            figure = Figure(figsize=(7, 1.8 + 0.36 * len(picture.names)), layout="constrained")
            _bars(figure.subplots(), picture)
        case Curves():
            figure = Figure(figsize=(7, 4.2), layout="constrained")
            _curves(figure.subplots(), picture)
        case Shades():
            figure = Figure(figsize=(7, 4.2), layout="constrained")
            _cells(figure, figure.subplots(), picture)
    return figure


def _bars(axes: Any, picture: Bars) -> None:
    kinds = [*picture.kinds] or ["plain"] * len(picture.names)
    places = range(len(picture.names))
    axes.barh(places, picture.values, color=[_COLOURS[kind] for kind in kinds], height=0.62)
    axes.set_yticks(places, picture.names)
    axes.invert_yaxis()
    most = picture.most or max([*picture.values, *(line.at for line in picture.lines), 1e-9])
    axes.set_xlim(0, 1.14 * most)
    for place, value in zip(places, picture.values, strict=True):
        text = f"{value:.1%}" if picture.percent else f"{value:,.4g}"
        axes.text(value + 0.01 * most, place, text, va="center", color=_INK, fontsize=9)
    _dress(axes, picture.title, picture.label, "")
    _lines(axes, [GuideLine(line.at, line.text, upright=True) for line in picture.lines])
    if picture.percent:
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")


def _curves(axes: Any, picture: Curves) -> None:
    for place, (name, points) in enumerate(picture.series):
        across, up = zip(*points, strict=True) if points else ((), ())
        look = {"linestyle": "none", "marker": "o", "markersize": 4} if name in picture.dots else {"linewidth": 1.8}
        axes.plot(across, up, color=_ORDER[place % len(_ORDER)], label=name, **look)
    for axis in picture.logarithmic:
        getattr(axes, f"set_{axis}scale")("log")
    if picture.reach is not None:
        axes.set_ylim(*picture.reach)
    _dress(axes, picture.title, picture.across, picture.up)
    _lines(axes, picture.lines)
    if len(picture.series) > 1:
        axes.legend(frameon=False, labelcolor=_INK, fontsize=9)


def _cells(figure: Any, axes: Any, picture: Shades) -> None:
    drawn = axes.imshow(picture.values, cmap="Blues", aspect="auto", interpolation="nearest")
    for row, column in picture.marks:
        axes.scatter([column], [row], s=60, facecolors="none", edgecolors=_COLOURS["bad"], linewidths=1.4)
    _dress(axes, picture.title, picture.across, picture.up)
    axes.grid(visible=False)
    figure.colorbar(drawn, ax=axes, fraction=0.04)


def _lines(axes: Any, lines: Sequence[GuideLine]) -> None:
    look = {"color": _INK, "linestyle": "--", "linewidth": 1}
    words = {"color": _INK, "fontsize": 8}
    upright = sorted((line for line in lines if line.upright), key=lambda line: line.at)
    for place, line in enumerate(upright):
        # The words of lines that may stand close together go apart.
        side = "center" if len(upright) == 1 else "right" if place == 0 else "left"
        axes.axvline(line.at, **look)
        axes.annotate(line.text, (line.at, 1), xycoords=("data", "axes fraction"), va="bottom", ha=side, **words)
    for line in lines:
        if not line.upright:
            axes.axhline(line.at, **look)
            axes.annotate(line.text, (1, line.at), xycoords=("axes fraction", "data"), va="bottom", ha="right", **words)


def _dress(axes: Any, title: str, across: str, up: str) -> None:
    axes.set_title(title, color=_INK, fontsize=11, loc="left", wrap=True, pad=16)  # room for the words of lines
    axes.set_xlabel(across, color=_INK)
    axes.set_ylabel(up, color=_INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_INK, which="both", labelsize=9)
