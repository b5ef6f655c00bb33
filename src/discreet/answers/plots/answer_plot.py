"""Answers as pictures: bars with error bars, histograms, and distribution functions with their bands."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.answers.digits import UNKNOWN
from discreet.answers.explain import summary
from discreet.answers.plots import axis_plot
from discreet.answers.plots.axis import Scale, scale_of
from discreet.answers.plots.picture_file import check_place, new, save
from discreet.answers.plots.style import FILLS, GRID, INK, LINES, QUIET, legend, written
from discreet.answers.text_table import key_text
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from discreet.answers.column import AnswerColumn

# An answer; named so because answers import this module.
Shown = Any
Floats = Any

_MOST_BARS = 40
_MOST_SIDE_BY_SIDE = 60
_MOST_PANELS = 8
_LINE = 34  # characters of a name in one of its two lines


@dataclass(frozen=True, slots=True)
class _Panel:
    """One picture among several: what stands over it, how tall it is, and who draws it."""

    title: str
    height: float
    draw: Callable[[Axes], None]
    lying: bool = False


def plot(answer: Shown, path: Path | None) -> Figure:
    """Draw every column of numbers in a panel of its own, and write the picture where a file is named."""
    new_figure = new()
    if path is not None:
        check_place("path", path)
    columns = [column for column in answer.columns if _drawable(column)]
    if not columns:
        names = [column.name for column in answer.columns]
        raise BadParameter("columns", names, why="no column has numbers", fix="plot the numbers themselves")
    panels = [_panels(answer, column) for column in columns]
    height = sum(panel.height for each in panels for panel in each)
    figure = new_figure(figsize=(7.5, height + 0.3), layout="constrained")
    places = iter(np.atleast_1d(figure.subplots(sum(map(len, panels)), 1)))
    for each in panels:
        drawn = [(next(places), panel) for panel in each]
        for axes, panel in drawn:
            panel.draw(axes)
            _dress(axes, panel)
        # Groups are compared on one scale.
        ends = [end for axes, _ in drawn for end in axes.get_ylim()]
        if len(drawn) > 1:
            for axes, _ in drawn:
                axes.set_ylim(min(ends), max(ends))
    figure.supxlabel(summary(answer), color=QUIET, fontsize=7.5, wrap=True)
    if path is not None:
        save(figure, path)
    return figure


def _drawable(column: AnswerColumn) -> bool:
    values = [cell.value for cell in column.cells]
    return all(isinstance(value, int | float | None) and not isinstance(value, bool) for value in values)


def _panels(answer: Shown, column: AnswerColumn) -> list[_Panel]:
    """Return the panels of a column: one, except for histograms of groups, which have one for each."""
    named = column.words or column.name
    title = f"{column.name}: {named}" if named != column.name else column.name
    values, errors = _numbers(column)
    scale = scale_of(answer, column)
    if scale is not None:
        return _scaled(answer, scale, title, values, errors, counts=column.kind in ("histogram", "cdf"))
    if _lies(answer):
        height = 0.34 * min(len(answer.rows), _MOST_BARS) + 1.5
        return [_Panel(title, height, partial(_lying, answer=answer, values=values, errors=errors), lying=True)]
    return [_Panel(title, 3.6, partial(_standing, answer=answer, values=values, errors=errors))]


def _scaled(answer: Shown, scale: Scale, title: str, values: Floats, errors: Floats, *, counts: bool) -> list[_Panel]:
    """Return the panels of what lies on an axis of numbers or days."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for at, row in enumerate(answer.rows):
        found.setdefault(row[:-1], []).append(at)
    groups = [(" / ".join(map(key_text, key)), rows) for key, rows in found.items()]
    if scale.drawn == "days":
        return [_Panel(title, 3.6, partial(axis_plot.days, scale=scale, values=values, errors=errors))]
    by = " / ".join(answer.keys[:-1])
    most = len(FILLS) if scale.drawn == "steps" else _MOST_PANELS
    cut = f" (the first {most} of {len(groups):,} groups)" if len(groups) > most else ""
    if scale.drawn == "steps":
        shown = groups[:most]
        draw = partial(axis_plot.steps, scale=scale, groups=shown, values=values, errors=errors, by=by, counts=counts)
        return [_Panel(title + cut, 3.8, draw)]
    draw = partial(axis_plot.bins, scale=scale, values=values, errors=errors, counts=counts)
    if len(groups) == 1:
        return [_Panel(title, 3.6, partial(draw, rows=groups[0][1]))]
    return [_Panel(f"{title}; {by} {name}{cut}", 2.6, partial(draw, rows=rows)) for name, rows in groups[:most]]


def _lies(answer: Shown) -> bool:
    """Return whether bars lie: where there are many, or their names are long."""
    labels = _labels(answer)
    if len(answer.keys) > 1:
        return len(labels) > _MOST_SIDE_BY_SIDE or (not _grouped(answer) and len(labels) > 12)
    return len(labels) == 1 or len(labels) > 12 or sum(map(len, labels)) > 70


def _dress(axes: Axes, panel: _Panel) -> None:
    axes.set_title(panel.title, color=INK, fontsize=10, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(QUIET)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=9)
    numbers = axes.xaxis if panel.lying else axes.yaxis
    (axes.axvline if panel.lying else axes.axhline)(0, color=QUIET, linewidth=0.8)
    axes.grid(axis="x" if panel.lying else "y", color=GRID, linewidth=0.8)
    numbers.set_major_formatter(lambda value, _: written(value))


def _numbers(column: AnswerColumn) -> tuple[Floats, Floats]:
    cells = [[math.nan if each is None else float(each) for each in (c.value, c.low, c.high)] for c in column.cells]
    value, low, high = np.array(cells, dtype=float).T
    below, above = np.maximum(value - low, 0.0), np.maximum(high - value, 0.0)
    errors = np.array([below, above])
    # An interval without an end is drawn without a bar: there is nothing to say about the value.
    errors[:, ~np.isfinite(errors).all(axis=0)] = 0.0
    return value, errors


def _lying(axes: Axes, answer: Shown, values: Floats, errors: Floats) -> None:
    labels = [_folded(label) for label in _labels(answer)[:_MOST_BARS]]
    places = np.arange(len(labels))
    count = len(labels)
    axes.barh(places, values[:count], height=0.62, color=FILLS[0])
    axes.errorbar(
        values[:count], places, xerr=errors[:, :count], fmt="none", ecolor=LINES[0], capsize=3, elinewidth=1.4
    )
    for place in places[np.isnan(values[:count])]:
        axes.annotate(UNKNOWN, (0, place), (4, 0), textcoords="offset points", va="center", color=QUIET)
    axes.set_yticks(places if answer.keys else [], labels if answer.keys else [])
    axes.set_ylabel(" / ".join(answer.keys), color=INK, fontsize=9)
    axes.invert_yaxis()
    axes.set_ylim(count - 0.4, -0.6)
    if len(answer.rows) > count:
        axes.set_xlabel(f"the first {count} of {len(answer.rows):,} rows", color=QUIET, fontsize=8)


def _standing(axes: Axes, answer: Shown, values: Floats, errors: Floats) -> None:
    """Draw standing bars; with two keys or more, those of the last one side by side in its own colours."""
    outer = list(dict.fromkeys(row[:-1] for row in answer.rows))
    inner = list(dict.fromkeys(row[-1:] for row in answer.rows))
    grouped = _grouped(answer)
    if not grouped:
        outer, inner = list(answer.rows), [()]
    width = 0.8 / len(inner)
    at = {row: place for place, row in enumerate(answer.rows)}
    for number, last in enumerate(inner):
        rows = [(place, at[first + last]) for place, first in enumerate(outer) if first + last in at]
        places = np.array([place + (number - (len(inner) - 1) / 2) * width for place, _ in rows])
        chosen = [row for _, row in rows]
        name = key_text(last[0]) if last else None
        axes.bar(places, values[chosen], width=0.94 * width, color=FILLS[number], label=name)
        axes.errorbar(
            places, values[chosen], yerr=errors[:, chosen], fmt="none", ecolor=LINES[number], capsize=3, elinewidth=1.4
        )
        for place in places[np.isnan(values[chosen])]:
            axes.annotate(UNKNOWN, (place, 0), (0, 4), textcoords="offset points", ha="center", color=QUIET)
    axes.set_xlim(-0.6, len(outer) - 0.4)  # a row without a value keeps its place
    labels = [" / ".join(map(key_text, first)) for first in outer]
    turned = sum(map(len, labels)) > 75
    shown = [_folded(label) for label in labels]
    axes.set_xticks(range(len(labels)), shown, rotation=45 if turned else 0, ha="right" if turned else "center")
    axes.set_xlabel(" / ".join(answer.keys[:-1] if grouped else answer.keys), color=INK, fontsize=9)
    if grouped:
        legend(axes, answer.keys[-1])


def _grouped(answer: Shown) -> bool:
    """Return whether the values of the last key are few enough for colours."""
    return len(answer.keys) > 1 and len({row[-1] for row in answer.rows}) <= len(FILLS)


def _labels(answer: Shown) -> list[str]:
    if not answer.keys:
        return [""]
    return [" / ".join(map(key_text, row)) for row in answer.rows]


def _folded(label: str) -> str:
    """Write a long name in two lines, without its middle where it is longer than these."""
    if len(label) > 2 * _LINE:
        label = f"{label[: _LINE + 10].rstrip()}…{label[10 - _LINE :].lstrip()}"
    return "\n".join(textwrap.wrap(label, _LINE, break_on_hyphens=False)[:2]) if len(label) > _LINE else label
