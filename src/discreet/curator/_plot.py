"""Answers as pictures: bars with error bars, histograms, and distribution functions with their bands."""

from __future__ import annotations

import datetime as dt
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.errors import BadParameter, MissingExtra
from discreet.curator._explain import summary
from discreet.curator._table import key_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from discreet.curator.column import AnswerColumn

# An answer; named so because answers import this module.
Shown = Any

_INK, _QUIET, _GRID = "#334155", "#64748b", "#e2e8f0"
_FILLS = ("#93b4f5", "#7fcabf", "#f0b98d", "#c5a8ea", "#e39bb4", "#b9c27a")
_LINES = ("#1d4ed8", "#0f766e", "#b45309", "#7c3aed", "#be185d", "#4d7c0f")
_MOST_BARS = 40


def plot(answer: Shown, path: Path | None) -> Figure:
    """Draw every column of numbers in a panel of its own, and write the picture where a file is named."""
    try:
        from matplotlib.figure import Figure as NewFigure
    except ImportError as error:
        raise MissingExtra("the plot", "plot", "matplotlib") from error
    columns = [column for column in answer.columns if _drawable(column)]
    if not columns:
        names = [column.name for column in answer.columns]
        raise BadParameter("columns", names, why="no column holds numbers", fix="plot the numbers themselves")
    across = _across(answer, columns)
    height = (0.34 * min(len(answer.rows), _MOST_BARS) + 1.5) if across else 3.6
    figure = NewFigure(figsize=(7.5, height * len(columns) + 0.3), layout="constrained")
    panels = np.atleast_1d(figure.subplots(len(columns), 1))
    for axes, column in zip(panels, columns, strict=True):
        _panel(axes, answer, column, across)
    figure.supxlabel(summary(answer), color=_QUIET, fontsize=7.5, wrap=True)
    if path is not None:
        try:
            figure.savefig(path, dpi=150)
        except (OSError, ValueError) as error:
            fix = "use a folder that exists, and a name that ends in .png, .svg or .pdf"
            raise BadParameter("path", str(path), why="the picture could not be written", fix=fix) from error
    return figure


def _drawable(column: AnswerColumn) -> bool:
    values = [cell.value for cell in column.cells]
    return all(isinstance(value, int | float | None) and not isinstance(value, bool) for value in values)


def _across(answer: Shown, columns: list[AnswerColumn]) -> bool:
    """Return whether bars lie: where there are many, or their names are long."""
    if any(column.kind in ("cdf", "histogram") for column in columns) or len(answer.keys) > 1:
        return False
    labels = _labels(answer)
    return len(labels) == 1 or len(labels) > 12 or sum(map(len, labels)) > 70


def _panel(axes: Axes, answer: Shown, column: AnswerColumn, across: bool) -> None:
    values, errors = _numbers(column)
    if column.kind == "cdf" and len(answer.keys) == 1:
        _steps(axes, answer, column)
    elif across:
        _lying(axes, answer, values, errors)
    else:
        _standing(axes, answer, column, values, errors)
    named = column.words or column.name
    axes.set_title(
        f"{column.name}: {named}" if named != column.name else column.name, color=_INK, fontsize=10, loc="left"
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_QUIET)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_INK, labelsize=9)
    numbers = axes.xaxis if across else axes.yaxis
    (axes.axvline if across else axes.axhline)(0, color=_QUIET, linewidth=0.8)
    axes.grid(axis="x" if across else "y", color=_GRID, linewidth=0.8)
    numbers.set_major_formatter(lambda value, _: f"{value:,.10g}")


def _numbers(column: AnswerColumn) -> tuple[Any, Any]:
    cells = [[math.nan if each is None else float(each) for each in (c.value, c.low, c.high)] for c in column.cells]
    value, low, high = np.array(cells, dtype=float).T
    below, above = np.maximum(value - low, 0.0), np.maximum(high - value, 0.0)
    errors = np.array([below, above])
    # An interval without an end is drawn without a bar: there is nothing to say about the value.
    errors[:, ~np.isfinite(errors).all(axis=0)] = 0.0
    return value, errors


def _lying(axes: Axes, answer: Shown, values: Any, errors: Any) -> None:  # noqa: ANN401  (arrays)
    labels = _labels(answer)[:_MOST_BARS]
    places = np.arange(len(labels))
    count = len(labels)
    axes.barh(places, values[:count], height=0.62, color=_FILLS[0])
    axes.errorbar(
        values[:count], places, xerr=errors[:, :count], fmt="none", ecolor=_LINES[0], capsize=3, elinewidth=1.4
    )
    axes.set_yticks(places if answer.keys else [], labels if answer.keys else [])
    axes.invert_yaxis()
    axes.set_ylim(count - 0.4, -0.6)
    if len(answer.rows) > count:
        axes.set_xlabel(f"the first {count} of {len(answer.rows):,} rows", color=_QUIET, fontsize=8)


def _standing(axes: Axes, answer: Shown, column: AnswerColumn, values: Any, errors: Any) -> None:  # noqa: ANN401  (arrays)
    """Draw standing bars; with two keys or more, those of the last one side by side in its own colours."""
    outer = list(dict.fromkeys(row[:-1] for row in answer.rows))
    inner = list(dict.fromkeys(row[-1:] for row in answer.rows))
    grouped = len(answer.keys) > 1 and len(inner) <= len(_FILLS)
    if not grouped:
        outer, inner = list(answer.rows), [()]
    width, gap = (1.0, 1.0) if column.kind == "histogram" else (0.8 / len(inner), 0.94)
    at = {row: place for place, row in enumerate(answer.rows)}
    for number, last in enumerate(inner):
        rows = [(place, at[first + last]) for place, first in enumerate(outer) if first + last in at]
        places = np.array([place + (number - (len(inner) - 1) / 2) * width for place, _ in rows])
        chosen = [row for _, row in rows]
        name = key_text(last[0]) if last else None
        axes.bar(
            places,
            values[chosen],
            width=width * gap,
            edgecolor="white",
            linewidth=0.8,
            color=_FILLS[number],
            label=name,
        )
        axes.errorbar(
            places, values[chosen], yerr=errors[:, chosen], fmt="none", ecolor=_LINES[number], capsize=3, elinewidth=1.4
        )
    labels = [" / ".join(map(key_text, first)) for first in outer]
    every = max(1, math.ceil(len(labels) / 24))
    turned = sum(map(len, labels[::every])) > 75
    axes.set_xticks(
        range(0, len(labels), every), labels[::every], rotation=45 if turned else 0, ha="right" if turned else "center"
    )
    axes.set_xlabel(" / ".join(answer.keys[:-1] if grouped else answer.keys), color=_INK, fontsize=9)
    if grouped:
        axes.legend(title=answer.keys[-1], frameon=False, labelcolor=_INK, fontsize=8, title_fontsize=8)


def _steps(axes: Axes, answer: Shown, column: AnswerColumn) -> None:
    """Draw a distribution function: a step at every threshold, and the band of the intervals."""
    values, errors = _numbers(column)
    places = [row[0] for row in answer.rows]
    if not all(isinstance(place, int | float | dt.date) and not isinstance(place, bool) for place in places):
        axes.set_xticks(range(len(places)), [key_text(place) for place in places])
        places = list(range(len(places)))
    axes.fill_between(
        places, values - errors[0], values + errors[1], step="post", color=_FILLS[0], alpha=0.45, linewidth=0
    )
    axes.step(places, values, where="post", color=_LINES[0], linewidth=1.8)
    axes.set_xlabel(answer.keys[0], color=_INK, fontsize=9)


def _labels(answer: Shown) -> list[str]:
    if not answer.keys:
        return [""]
    return [" / ".join(map(key_text, row)) for row in answer.rows]
