"""SmallDB: of all small databases, one that answers the workload nearly as the table does; exact, for tiny domains.

Blum, Ligett and Roth (2008). The exponential mechanism goes through every multiset of m rows, each once, and weighs it
by exp(-epsilon * error / 2), where the error is the largest of any cell of the workload (without the 2 it would cost
twice epsilon). Some small database is near every table: m rows drawn from it are within a of all of |Q| cells with a
positive probability once 2 |Q| exp(-2 m a^2) < 1, and rounding its shares to m-ths moves no set of cells by more than
(cells / 4) / m. No method is known that ends in reasonable time for large domains, and under common assumptions there
is none (Dwork, Naor, Reingold, Rothblum and Vadhan 2009); MWEM, MST and AIM get by without the promise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from discreet.core.errors import BadParameter, Refusal
from discreet.core.rational import Number, as_written
from discreet.publish.allowance import Allowance, Spending
from discreet.publish.code_table import Counts, Measure
from discreet.publish.domain import Clique, Domain
from discreet.publish.kernels import MOST_ROWS, database_scores, total
from discreet.publish.merged_codes import Merged
from discreet.publish.method import Built, MarginalWorkload, Say
from discreet.publish.model.fit import Fit
from discreet.publish.model.junction import Junction

# How many small databases may be gone through: a few seconds' worth.
MOST_DATABASES = 400_000
# How near some small database has to be, as a share of all rows, unless told otherwise.
ALPHA = Fraction(1, 4)
BETA = 0.05
# What part of the budget buys the number of rows.
COUNTING = Fraction(1, 10)


class TooManyDatabases(Refusal):
    """A domain with more small databases than anyone goes through."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many cells a domain has, how many of them a workload asks about at a time and in all, and m."""

    cells: int
    queries: int
    rows: int

    @classmethod
    def of(cls, cells: int, queries: int, alpha: Fraction) -> Sizes:
        """Return the least m at which some database of m rows is within alpha of every table."""
        drawn = math.floor(math.log(2 * queries) / (2 * alpha**2)) + 1
        rounded = math.ceil(Fraction(cells, 4) / alpha)
        found = cls(cells, queries, max(1, min(drawn, rounded)))
        if found.databases > MOST_DATABASES:
            why = (
                f"it goes through every database of {found.rows:,} rows over {cells:,} cells, of which there are "
                f"{_short(found.databases)}, and {MOST_DATABASES:,} are the most; no faster way is known"
            )
            raise TooManyDatabases(
                "smalldb", why=why, fix='use fewer attributes or bins, or method="mwem"', value=found.databases
            )
        return found

    @property
    def databases(self) -> int:
        """How many multisets of m rows there are."""
        return math.comb(self.cells + self.rows - 1, self.rows)

    @property
    def near(self) -> float:
        """How near the nearest of them is to any table, as a share of all rows."""
        return min(math.sqrt(math.log(2 * self.queries) / (2 * self.rows)), self.cells / (4 * self.rows))


def check(domain: Domain) -> None:
    """Refuse a domain with too many small databases, whatever the workload asks: at least every cell, if all."""
    cells = math.prod(domain.sizes)
    Sizes.of(cells, cells, ALPHA)


def build(
    measure: Measure,
    domain: Domain,
    allowance: Allowance,
    workload: MarginalWorkload,
    say: Say,
    *,
    alpha: Number = ALPHA,
) -> Built:
    """Choose a database of m rows, as many as bring the nearest of them within alpha of any table.

    Guarantee: the allowance: a tenth of it for the number of rows, the rest for one choice, whose scores one row moves
    by at most m (they are counted in m-ths of a row).
    """
    near = as_written("alpha", alpha)
    if not 0 < near < 1:
        raise BadParameter("alpha", alpha, why="it is a share of all rows", fix="use 0.25")
    whole: Clique = tuple(range(len(domain)))
    questions = _questions(domain, [*workload.weights])
    sizes = Sizes.of(domain.cells(whole), len(questions), near)
    purse = Spending(allowance)
    say("count the table")
    (exact,) = measure([whole])
    counted = purse.measure((), exact.map(total), COUNTING * allowance.amount)
    rows = min(max(1, round(float(counted.values))), MOST_ROWS)
    say("go through all small databases")
    candidates = _multisets(sizes.cells, sizes.rows)
    scores = exact.map(database_scores, candidates, questions, rows)
    chosen = candidates[purse.choose(scores, sizes.rows, purse.left)]
    tree = Junction.of(domain.sizes, [whole])
    model = Fit(tree, ((chosen / sizes.rows).reshape(domain.sizes),), float(rows), {})
    return Built(model, Merged.none(domain), (counted,), (words(sizes, allowance, rows),))


def words(sizes: Sizes, allowance: Allowance, rows: int) -> str:
    """Say how far the cells of the workload may be off, for a noisy number of rows."""
    epsilon = allowance.chosen_for((1 - COUNTING) * allowance.amount)
    # The exponential mechanism misses the best score by more than 2 s ln(candidates / beta) / epsilon rarely.
    choosing = 2 * allowance.rows * math.log(sizes.databases / BETA) / float(epsilon) / rows
    counting = allowance.scale(COUNTING * allowance.amount) * math.log(1 / BETA) / rows
    bound = sizes.near + choosing + 2 * counting
    return (
        f"a database of {sizes.rows:,} rows, of {sizes.databases:,}: no cell of the workload is off by more than "
        f"{bound:.3g} of all rows, with probability {1 - 2 * BETA:.3g} ({sizes.near:.3g} for so few rows, "
        f"{choosing:.3g} for the choice, {2 * counting:.3g} for the number of rows)"
    )


def _questions(domain: Domain, cliques: Sequence[Clique]) -> Counts:
    """Return the cells of a workload as rows of zeros and ones over all cells of the domain, each once."""
    codes = np.indices(domain.sizes).reshape(len(domain), -1)
    found = [
        (codes[[*clique]] == np.array(cell)[:, None]).all(axis=0)
        for clique in cliques
        for cell in np.ndindex(*domain.shape(clique))
    ]
    return np.unique(np.array(found), axis=0).astype(np.int64)


def _multisets(cells: int, rows: int) -> Counts:
    """Return every way to put rows into cells, each once: between them lie cells - 1 bars."""
    places = rows + cells - 1
    bars = np.array([*combinations(range(places), cells - 1)], np.int64)
    ends = np.pad(bars, ((0, 0), (1, 0)), constant_values=-1), np.pad(bars, ((0, 0), (0, 1)), constant_values=places)
    return ends[1] - ends[0] - 1


def _short(many: int) -> str:
    return f"{many:,}" if many < 10**9 else f"{many:.3g}" if many < 10**300 else f"10^{len(str(many)) - 1}"
