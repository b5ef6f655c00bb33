"""Estimates: what a sketch says about everyone together, with error bars."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import BadParameter, MissingExtra
from discreet.core.file import new_file
from discreet.core.printable import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
_MOST_ROWS = 20
_MOST_BARS = 60


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Estimated numbers with bounds: `value[i]` lies between `low[i]` and `high[i]`.

    Each interval alone holds its true number with probability at least 1 - beta, over the randomness of the
    reports. `labels` names the rows where they are not the values 0, 1, 2, ...; `post` is the post-processing that
    was asked for, None for raw, unbiased values, which may be negative.
    """

    value: Floats
    low: Floats
    high: Floats
    reports: int
    rejected: int = 0
    beta: float = 0.05
    protocol: str = ""
    post: str | None = None
    labels: tuple[str | int, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("value", "low", "high"):
            array = np.array(getattr(self, name), dtype=np.float64).reshape(-1)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if not len(self.value) == len(self.low) == len(self.high):
            lengths = (len(self.value), len(self.low), len(self.high))
            raise BadParameter("value", lengths, why="every value has two bounds", fix="pass arrays of one length")

    def __len__(self) -> int:
        return len(self.value)

    @property
    def names(self) -> tuple[str | int, ...]:
        """What each row is about."""
        return self.labels if self.labels is not None else tuple(range(len(self.value)))

    def top(self, count: int) -> Estimate:
        """Return the rows of the largest values, the largest first."""
        order = np.argsort(-self.value, kind="stable")[:count]
        names = tuple(self.labels[int(at)] if self.labels is not None else int(at) for at in order)
        return Estimate(
            self.value[order],
            self.low[order],
            self.high[order],
            reports=self.reports,
            rejected=self.rejected,
            beta=self.beta,
            protocol=self.protocol,
            post=self.post,
            labels=names,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        rows = zip(self.names, self.value.tolist(), self.low.tolist(), self.high.tolist(), strict=True)
        return {
            "protocol": self.protocol,
            "reports": self.reports,
            "rejected": self.rejected,
            "beta": self.beta,
            "post": self.post,
            "rows": [{"name": n, "value": v, "low": low, "high": high} for n, v, low, high in rows],
        }

    def __str__(self) -> str:
        cells = [("", "value", "low", "high"), *self._rows()]
        widths = [max(len(row[at]) for row in cells) for at in range(4)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
        return "\n".join([*lines, self._footer()])

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{title}</th>' for title in ("", "value", "low", "high"))
        body = "".join(
            f'<tr><th scope="row">{escape(row[0])}</th>' + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>"
            for row in self._rows()
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<div>{table}<p>{escape(self._footer())}</p></div>"

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw every value with its interval (of many, the largest), and write the picture where a file is named."""
        try:
            from matplotlib.figure import Figure as NewFigure
        except ImportError as error:
            raise MissingExtra("the plot", "plot", "matplotlib") from error
        shown = self if len(self) <= _MOST_BARS else self.top(_MOST_BARS)
        # Wide enough for the words below, however few the bars are.
        figure = NewFigure(figsize=(max(7.5, 0.16 * len(shown) + 2.0), 3.8), layout="constrained")
        axes = figure.subplots()
        places = np.arange(len(shown))
        axes.bar(places, shown.value, width=min(0.8, 0.1 * len(shown)), color="#93b4f5")
        axes.vlines(places, shown.low, shown.high, color="#1d4ed8", linewidth=1.2)
        axes.set_xticks(places, [str(name) for name in shown.names], rotation=90 if len(shown) > 12 else 0, fontsize=8)
        axes.set_xlim(-0.6, len(shown) - 0.4)
        axes.axhline(0, color="#64748b", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        axes.set_ylabel("estimate")
        if len(shown) < len(self):
            axes.set_xlabel(f"the {len(shown)} largest of {len(self):,}", color="#64748b", fontsize=8)
        figure.supxlabel("\n".join(wrap(self._footer(), 120)), color="#64748b", fontsize=8)
        if path is not None:
            try:
                with new_file(path, force=True) as place:
                    figure.savefig(place, dpi=150)
            except (OSError, ValueError) as error:
                fix = "use a folder that exists, and a name that ends in .png, .svg or .pdf"
                raise BadParameter("path", str(path), why="the picture could not be written", fix=fix) from error
        return figure

    def _rows(self) -> list[tuple[str, str, str, str]]:
        count, half = len(self), _MOST_ROWS // 2
        shown = range(count) if count <= _MOST_ROWS else [*range(half), *range(count - half, count)]
        names = self.names
        rows = [
            (printable(str(names[at])), _number(self.value[at]), _number(self.low[at]), _number(self.high[at]))
            for at in shown
        ]
        if count > _MOST_ROWS:
            rows.insert(half, (f"({count - 2 * half:,} more)", "...", "...", "..."))
        return rows

    def _footer(self) -> str:
        parts = [self.protocol, f"{self.reports:,} reports"]
        parts += [f"{self.rejected:,} rejected"] if self.rejected else []
        parts += [f"each interval holds with probability {1 - self.beta:.4g}"]
        parts += [f"post-processed: {self.post}"] if self.post else ["raw, unbiased"]
        return ", ".join(part for part in parts if part)


def _number(value: float) -> str:
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:,.4g}"
