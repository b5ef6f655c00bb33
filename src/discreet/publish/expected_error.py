"""Expected: how far noise alone would move the marginals of synthetic data, before anything is paid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Any

from discreet.publish.allowance import Allowance
from discreet.publish.domain import Clique, Domain
from discreet.publish.method import MarginalWorkload

# Noise of more than half of the rows in a single column leaves little of the table.
_USELESS = 0.5
_USEFUL = 0.1


@dataclass(frozen=True, slots=True)
class Expectation:
    """One marginal: its columns and cells, the noise of each cell, and the sum of all of it, also as a share of rows.

    The share is None where nobody has declared how many rows there are.
    """

    columns: tuple[str, ...]
    cells: int
    noise: float
    total: float
    share: float | None


@dataclass(frozen=True, slots=True)
class Expected:
    """What to expect of a budget: a function of the question and of what was declared.

    `singles` supposes that all of it measures single columns, which is the best that can be; `workload` that it
    measures every marginal of the workload, of which a method that chooses measures only some, and those better.

    Guarantee: nothing here has seen data.
    """

    singles: tuple[Expectation, ...]
    workload: tuple[Expectation, ...]
    rows: int | None
    words: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "rows": self.rows,
            "singles": [_record(each) for each in self.singles],
            "workload": [_record(each) for each in self.workload],
            "words": [*self.words],
        }

    def __str__(self) -> str:
        return "\n".join(self.words)

    __repr__ = __str__


def expected(domain: Domain, allowance: Allowance, workload: MarginalWorkload, rows: int | None) -> Expected:
    """Say what noise would do to every single column, and to every marginal of a workload."""
    ones: list[Clique] = [(place,) for place in range(len(domain))]
    singles = _even(domain, allowance, ones, rows)
    asked = _even(domain, allowance, [*workload.weights], rows)
    words = [_said("single columns, if all of the price measures them", singles, rows)]
    if any(len(clique) > 1 for clique in workload.weights):
        which = f"the {len(asked):,} marginals" if len(asked) > 1 else "the one marginal"
        words.append(_said(f"{which} of the workload, if it measures all there is", asked, rows))
    if rows is None:
        words.append("declare how many rows there are to see shares of them")
    else:
        typical = median(each.share or 0.0 for each in singles)
        if typical > _USELESS:
            times = typical / _USEFUL
            # With a delta, epsilon goes with the square root of rho.
            more = f", or {times**2:,.0f} times the rho," if allowance.currency == "rho" else ""
            words.append(
                f"too little to be useful: noise would be {_share(typical)} in a typical column; "
                f"about {times:,.0f} times the epsilon{more} brings that to {_USEFUL:.0%}"
            )
    return Expected(singles, asked, rows, tuple(words))


def mean_of_noise(allowance_currency: str, scale: float) -> float:
    """Return the mean absolute value of noise, given its standard deviation: of Gaussian or of Laplace noise."""
    return scale * (math.sqrt(2 / math.pi) if allowance_currency == "rho" else math.sqrt(0.5))


def _even(domain: Domain, allowance: Allowance, cliques: Sequence[Clique], rows: int | None) -> tuple[Expectation, ...]:
    scale = allowance.scale(Fraction(allowance.amount) / len(cliques))
    each = mean_of_noise(allowance.currency, scale)
    return tuple(
        Expectation(domain.named(clique), cells, scale, each * cells, each * cells / rows if rows else None)
        for clique in cliques
        for cells in [domain.cells(clique)]
    )


def _said(what: str, lines: Sequence[Expectation], rows: int | None) -> str:
    totals = [found(each.total for each in lines) for found in (min, max)]
    shown = [_share(total / rows) if rows else f"{total:,.0f} rows" for total in totals]
    return f"{what}: noise in each adds up to {', in some to '.join(dict.fromkeys(shown))}"


def _share(share: float) -> str:
    return f"{share:.1%} of the rows" if share < 10 else f"{share:,.0f} times the rows"


def _record(line: Expectation) -> dict[str, Any]:
    found = {name: getattr(line, name) for name in Expectation.__slots__}
    return {**found, "columns": [*line.columns]}
