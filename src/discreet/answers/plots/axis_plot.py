"""Histograms and distribution functions as pictures: on an axis of numbers or days, every bin as wide as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.answers.plots.style import FILLS, INK, LINES, QUIET, legend, written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from discreet.answers.plots.axis import Scale

Floats = Any
_CHARACTERS = 88  # that fit side by side under an axis

# The rows of one group, with its name.
Group = tuple[str, Sequence[int]]


def bins(axes: Axes, scale: Scale, rows: Sequence[int], values: Floats, errors: Floats, *, counts: bool) -> None:
    """Draw bars between the ends of their bins; where these are not alike, the area of a bar is its count."""
    _axis(axes, scale)
    low, high = np.array([scale.ends[row] for row in rows]).T
    least = float(min(last - first for first, last in scale.ends))
    logarithmic = scale.linear_below is not None
    dense = counts and not scale.alike and not logarithmic
    part = least / (high - low) if dense else np.ones(len(rows))
    axes.bar(low, values[rows] * part, width=high - low, align="edge", edgecolor="white", linewidth=0.8, color=FILLS[0])
    # The middle as it is seen, also on a logarithmic axis.
    seen = axes.xaxis.get_transform()
    middle = seen.inverted().transform((seen.transform(low) + seen.transform(high)) / 2)
    _error_bars(axes, middle, values[rows] * part, errors[:, rows] * part)
    if dense:
        per = f"{least:,.0f} days" if scale.dates else f"{written(least)} of {scale.of}"
        axes.set_ylabel(f"rows per {per}\n(a bar's area: its rows)", color=INK, fontsize=9)
    elif counts:
        axes.set_ylabel("rows in each bin", color=INK, fontsize=9)


def days(axes: Axes, scale: Scale, values: Floats, errors: Floats) -> None:
    """Draw a bar at every day."""
    _axis(axes, scale)
    places = np.array(scale.ends)[:, 0]
    axes.bar(places, values, width=0.85 * scale.narrowest, color=FILLS[0])
    _error_bars(axes, places, values, errors)


def steps(
    axes: Axes, scale: Scale, groups: Sequence[Group], values: Floats, errors: Floats, *, by: str, counts: bool
) -> None:
    """Draw a step at every threshold, the band of the intervals, and a dashed line for all rows."""
    _axis(axes, scale)
    first, last = scale.places[0], scale.places[-1]
    beyond = last * 1.3 if scale.linear_below is not None and last > 0 else last + 0.05 * ((last - first) or 1)
    for number, (name, rows) in enumerate(groups):
        fill, line = FILLS[number], LINES[number]
        known = sorted((row for row in rows if scale.ends[row]), key=lambda row: scale.ends[row])
        across = [*(scale.ends[row][0] for row in known), beyond]
        up = [*known, known[-1]]  # what holds at the last threshold is drawn a little beyond it
        low, high = values[up] - errors[0, up], values[up] + errors[1, up]
        axes.fill_between(across, low, high, step="post", color=fill, alpha=0.45, linewidth=0)
        axes.step(across, values[up], where="post", color=line, linewidth=1.8, label=name or None)
        axes.plot(across[:-1], values[known], linestyle="none", marker="o", markersize=3.5, color=line)
        for row in rows:
            if not scale.ends[row]:
                axes.axhline(values[row], color=line, linewidth=1, linestyle="--")
                words = " ".join(part for part in ("all", "rows" if counts else "", name) if part)
                # To the left, where few are at or below.
                axes.annotate(words, (first, values[row]), (0, -9), textcoords="offset points", color=line, fontsize=8)
    axes.set_xlim(right=beyond)
    if counts:
        axes.set_ylabel("rows at or below", color=INK, fontsize=9)
    if len(groups) > 1:
        legend(axes, by)


def _error_bars(axes: Axes, places: Floats, values: Floats, errors: Floats) -> None:
    cap = 3 if len(places) <= 40 else 0
    axes.errorbar(places, values, yerr=errors, fmt="none", ecolor=LINES[0], capsize=cap, elinewidth=1.4)


def _axis(axes: Axes, scale: Scale) -> None:
    """Make the axis one of numbers or of days, marked at the ends themselves where there is room for that."""
    axes.set_xlabel(scale.of, color=INK, fontsize=9)
    if scale.dates:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator()  # type: ignore[no-untyped-call]
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
        return
    if scale.linear_below is not None:
        axes.set_xscale("symlog", linthresh=scale.linear_below)
        axes.xaxis.minorticks_off()
        axes.set_xlabel(f"{scale.of} (logarithmic axis)")
    seen = axes.xaxis.get_transform().transform(np.array(scale.places))
    room = np.diff(seen) / (seen[-1] - seen[0]) * _CHARACTERS if len(seen) > 1 else np.array([])
    if all(gap > len(written(place)) + 1 for gap, place in zip(room, scale.places[1:], strict=True)):
        axes.set_xticks(scale.places)
    axes.xaxis.set_major_formatter(lambda value, _: written(value))
    axes.tick_params(axis="x", color=QUIET)
