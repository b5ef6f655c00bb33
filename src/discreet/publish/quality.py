"""Quality: how close synthetic data is to what was measured; or, for the custodian, to the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.zcdp import Zcdp
from discreet.core import record as records
from discreet.core.doors import opened
from discreet.core.errors import BadParameter
from discreet.publish.code_table import Coded, columns_of
from discreet.publish.domain import Clique, Domain
from discreet.publish.expected_error import mean_of_noise
from discreet.publish.method import MarginalWorkload
from discreet.publish.model.fit import NoisyMarginal
from discreet.publish.model.junction import Table
from discreet.publish.model.marginal import ModelMarginals
from discreet.publish.quality_page import page
from discreet.publish.synthetic_serial import Written, save

_EXACT = "exact: made from the data themselves, under no budget; for the custodian's eyes alone, never to be published"
_PAID = "from paid measurements alone: may be shown to anyone who may see the synthetic data"


class Judged(Written, Protocol):
    """What is needed of synthetic data, in addition to what is written of it."""

    @property
    def rows(self) -> int:
        """How many rows it thinks there are."""

    @property
    def marginal(self) -> Callable[[Iterable[str]], Table]:
        """Its marginals."""


@dataclass(frozen=True, slots=True)
class QualityLine:
    """One marginal: the distance from what was measured, or from the truth; sums of absolute differences.

    All but `cells` and `noise` (the standard deviation in each cell, in rows) are shares of the rows. `expected` is
    what noise alone adds up to: a model that is closer than that has followed the noise, or known better.
    """

    columns: tuple[str, ...]
    cells: int
    apart: float
    noise: float | None = None
    expected: float | None = None


@dataclass(frozen=True, slots=True)
class Quality:
    """A report on synthetic data: print it, `save("report.html")`, or read its `lines`.

    Guarantee: follows from the synthetic data alone, unless `exact` says that it was compared with the data.
    """

    method: str
    loss: str
    rows: int
    lines: tuple[QualityLine, ...]
    never: tuple[tuple[str, ...], ...]  # single columns and pairs that nothing measured bears on together
    words: tuple[str, ...]
    exact: bool = False

    @property
    def mean(self) -> float:
        """The mean of all lines."""
        return float(np.mean([line.apart for line in self.lines])) if self.lines else 0.0

    @property
    def standing(self) -> str:
        """Who may see the report."""
        return _EXACT if self.exact else _PAID

    def record(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {
            "method": self.method,
            "loss": self.loss,
            "rows": self.rows,
            "exact": self.exact,
            "mean": self.mean,
            "marginals": [
                {**{name: getattr(line, name) for name in QualityLine.__slots__}, "columns": [*line.columns]}
                for line in self.lines
            ],
            "never_measured": [[*names] for names in self.never],
            "words": [self.standing, *self.words],
        }

    def to_json(self) -> str:
        """Write the report as versioned JSON."""
        return records.write("quality", self.record())

    def to_html(self) -> str:
        """Write the report as one page that needs nothing from elsewhere."""
        return page(self.record())

    _repr_html_ = to_html

    def save(self, path: str | Path) -> None:
        """Write an HTML page or JSON, whichever the name ends in."""
        written = {".html": self.to_html, ".json": self.to_json}.get(Path(path).suffix.lower())
        if written is None:
            why = "a report is a page or JSON"
            raise BadParameter("path", str(path), why=why, fix="end the name in .html or .json")
        save(path, written())

    def __str__(self) -> str:
        head = f"{self.method}, {self.loss}, about {self.rows:,} rows ({self.standing})"
        worst = sorted(self.lines, key=lambda line: -line.apart)[:10]
        lines = [f"  {line.apart:7.2%}  {', '.join(line.columns)}" for line in worst]
        what = "the truth" if self.exact else "what was measured"
        if not self.lines:
            return "\n".join([head, "no marginal was measured", *self.words])
        mean = f"mean distance of {len(self.lines):,} marginals from {what}: {self.mean:.2%} of the rows; the farthest:"
        gaps = [] if not self.never else [f"never measured: {len(self.never):,} columns or pairs of them"]
        return "\n".join([head, mean, *lines, *gaps, *self.words])


def report(synthetic: Judged) -> Quality:
    """Report on synthetic data from what was measured only."""
    marginals, rows = ModelMarginals.of(synthetic.model), max(1.0, synthetic.model.total)
    gaussian = isinstance(synthetic.loss, Zcdp)
    lines = []
    for clique, (values, scale) in _together(synthetic.measured).items():
        apart = float(np.abs(marginals.table(clique) * synthetic.model.total - values).sum()) / rows
        noise = mean_of_noise("rho" if gaussian else "epsilon", scale) * values.size / rows
        lines.append(QualityLine(synthetic.domain.named(clique), values.size, apart, scale, noise))
    never = _never(synthetic.domain, [each.clique for each in synthetic.measured])
    return Quality(synthetic.method, _priced(synthetic.loss), synthetic.rows, tuple(lines), never, synthetic.words)


def against(synthetic: Judged, data: object, workload: int = 2) -> Quality:
    """Compare synthetic data with its table: every marginal of so many columns, exactly. For custodians only.

    Guarantee: none. This is the truth about the data, and is marked so.
    """
    columns = columns_of(data)
    coded = Coded.of(columns, synthetic.domain) if synthetic.coding is None else synthetic.coding.coded(columns)
    cliques = [*MarginalWorkload.of(synthetic.domain, min(workload, len(synthetic.domain))).weights]
    rows = max(1, len(coded.columns[0]))
    lines = tuple(
        QualityLine(names, exact.size, float(np.abs(synthetic.marginal(names) - exact).sum()) / rows)
        for clique, exact in zip(cliques, map(opened, coded.measure(cliques)), strict=True)
        for names in [synthetic.domain.named(clique)]
    )
    never = _never(synthetic.domain, [each.clique for each in synthetic.measured])
    return Quality(synthetic.method, _priced(synthetic.loss), synthetic.rows, lines, never, synthetic.words, exact=True)


def _together(measured: Iterable[NoisyMarginal]) -> dict[Clique, tuple[Table, float]]:
    """Put together what was measured of the same attributes, weighted by accuracy; with the noise that is left.

    The number of rows by itself is no marginal.
    """
    found: dict[Clique, tuple[Table, float]] = {}
    for each in filter(lambda one: one.clique, measured):
        weight = each.scale**-2
        values, known = found.get(each.clique, (np.zeros(each.values.shape), 0.0))
        found[each.clique] = values + weight * each.values, known + weight
    return {clique: (values / weight, weight**-0.5) for clique, (values, weight) in found.items()}


def _never(domain: Domain, measured: Iterable[Clique]) -> tuple[tuple[str, ...], ...]:
    """Return single columns and pairs that lie within nothing that was measured."""
    sets = [{*clique} for clique in measured]
    wanted: list[Clique] = [(place,) for place in range(len(domain))]
    wanted += combinations(range(len(domain)), 2)
    return tuple(domain.named(each) for each in wanted if not any({*each} <= one for one in sets))


def _priced(loss: PrivacyLoss) -> str:
    if isinstance(loss, Zcdp):
        return f"rho {float(loss.rho):.4g}"
    return f"epsilon {float(loss.epsilon(0)):.4g}"
