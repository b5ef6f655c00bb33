"""Differencing through rollups: a published total, less the cells that are shown, is the cell that was withheld.

A table of counts by two columns is published with its totals, and cells below a threshold are withheld. The withheld
cells are unknowns of equations, one for each row and each column of the table: the edges of a graph between rows and
columns. A withheld count is determined by the rest exactly where its edge lies on no cycle (Gusfield 1988). Withholding
more cells until every one lies on a cycle (complementary suppression) stops the subtraction, at the price of the table;
it still leaves ranges, and stops nobody who knows a cell.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import Number, whole
from discreet.lab.defence import ceiling
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Shades
from discreet.lab.table_copy import TableCopy
from discreet.mechanisms.laplace import Laplace
from discreet.noise.bernoulli import bernoulli

Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]
Cell = tuple[int, int]
_MOST, _TRIED = 40, 12  # rows and columns of a table that people read, and the columns it is chosen from
_FEW = 100  # cells that anyone would withhold one by one
_TRIES = 200  # tables that noise is drawn for


@dataclass(frozen=True, slots=True, eq=False)
class Rollup:
    """A table of counts with totals, of which some cells are withheld: those below `least`, and perhaps others."""

    columns: tuple[str, str]
    counts: Counts
    least: int
    withheld: Mask

    @property
    def small(self) -> Mask:
        """The cells that the rule protects: some people, but fewer than the threshold."""
        return (self.counts > 0) & (self.counts < self.least)

    @property
    def recovered(self) -> dict[Cell, int]:
        """The withheld cells that the totals determine, with the counts that subtraction gives."""
        return subtracted(
            np.where(self.withheld, 0, self.counts), self.withheld, self.counts.sum(1), self.counts.sum(0)
        )

    @property
    def given_back(self) -> int:
        """How many of the protected cells came out."""
        return sum(bool(self.small[cell]) for cell in self.recovered)

    @property
    def share(self) -> float:
        """The share of the protected cells that came out."""
        return self.given_back / max(1, int(self.small.sum()))


def table(copied: TableCopy, columns: tuple[str, str], least: int = 10) -> Rollup:
    """Count rows by two columns and withhold the cells below the threshold, and no others."""
    first, second = copied.codes(columns[:1]), copied.codes(columns[1:])
    counts = np.zeros((int(first.max(initial=0)) + 1, int(second.max(initial=0)) + 1), np.int64)
    np.add.at(counts, (first, second), 1)
    threshold = whole("least", least)
    return Rollup(columns, counts, threshold, (counts > 0) & (counts < threshold))


def complemented(rollup: Rollup) -> Rollup:
    """Withhold further cells, as small as can be, until no withheld cell is determined by the totals."""
    withheld = rollup.withheld.copy()
    while bridges := _bridges(withheld):
        path = _cheapest(rollup.counts, withheld, bridges[0])
        if path is None:  # a single row or column: only withholding all of it helps
            withheld[:] = True
            break
        for cell in path:
            withheld[cell] = True
    return Rollup(rollup.columns, rollup.counts, rollup.least, withheld)


def subtracted(shown: Counts, withheld: Mask, rows: Counts, columns: Counts) -> dict[Cell, int]:
    """Solve for every withheld cell that the totals determine, from only what is published."""
    found: dict[Cell, int] = {}
    for cell in _bridges(withheld):
        # Cut there, the graph falls apart; on the cell's side, totals of rows less totals of columns leave the cell.
        inside = _reached(withheld, ("row", cell[0]), without=cell)
        mine = [place for kind, place in inside if kind == "row"]
        theirs = [place for kind, place in inside if kind == "column"]
        left = (rows - shown.sum(1))[mine].sum() - (columns - shown.sum(0))[theirs].sum()
        found[cell] = int(left)
    return found


def rollup(copied: TableCopy, least: int = 10, epsilon: Number = 1) -> list[Outcome]:
    """Show what totals reveal: with cells withheld, with more cells withheld, and with Discreet's noise instead."""
    chosen = _columns(copied, least)
    if chosen is None:
        return []
    plain = table(copied, chosen, least)
    more = complemented(plain)
    small = plain.counts[plain.small]
    chance = float(np.bincount(small).max()) / len(small)
    named = f"the table of {chosen[0]} by {chosen[1]}"
    extra = int(more.withheld.sum() - plain.withheld.sum())
    guessed = _noisy(plain, epsilon)
    return [
        Outcome(
            attack="differencing",
            target=f"totals, suppressed below {least}",
            evidence=Counted(plain.given_back, plain.given_back, "claims of what a withheld cell is"),
            chance=chance,
            told=f"{named[0].upper()}{named[1:]} withholds {len(small)} cells, and its totals give "
            f"{plain.given_back} of them back exactly: what is left of a total is the cell.",
            figures={"withheld": len(small), "recovered": len(plain.recovered)},
            picture=_picture(plain),
        ),
        Outcome(
            attack="differencing",
            target=f"totals, {extra} more cells withheld",
            evidence=Counted(more.given_back, more.given_back, "claims of what a withheld cell is"),
            chance=chance,
            told=f"With {extra} more cells withheld no total of {named} reveals one; an attacker who knows one "
            "of them, or uses another table, can continue.",
            figures={"withheld": int(more.withheld.sum()), "complementary": extra},
            picture=_picture(more),
        ),
        Outcome(
            attack="differencing",
            target=f"totals, Discreet, epsilon {float(epsilon):g} in all",
            evidence=Counted(guessed, _TRIES, "tries that told whether one more person is in a small cell"),
            chance=0.5,
            told=f"With Discreet's noise every cell of {named} is shown, and a total less the other cells says whether "
            "a person, put into a small cell by a coin, is in it.",
            ceiling=ceiling(float(epsilon)),
            figures={"epsilon": float(epsilon), "withheld": 0},
        ),
    ]


def _noisy(rollup: Rollup, epsilon: Number) -> int:
    """Publish cells, totals of rows and of columns with noise, one person in one of each, and subtract as before.

    In each try a coin puts one more person into a small cell; the attacker knows everyone else.
    """
    noise = Laplace(sensitivity=3, epsilon=epsilon)
    small, right = np.argwhere(rollup.small), 0
    for place, there in enumerate(bernoulli(1 / 2, _TRIES).tolist()):
        row, column = small[place % len(small)]
        counts = rollup.counts.copy()
        counts[row, column] += there
        cells, rows = (np.asarray(noise.release(each), np.int64) for each in (counts, counts.sum(1)))
        left = rows[row] - (cells[row].sum() - cells[row, column]) - rollup.counts[row, column]
        right += (left >= 1) == there
    return int(right)


def _columns(copied: TableCopy, least: int) -> tuple[str, str] | None:
    """Return two columns whose table's totals give back the most cells, or None where they give none."""
    sizes = {name: int(copied.codes([name]).max(initial=0)) + 1 for name in copied.attributes}
    useful = [name for name, size in sizes.items() if 2 <= size <= _MOST][:_TRIED]
    best: tuple[int, tuple[str, str]] | None = None
    for one, other in combinations(useful, 2):
        found = table(copied, (one, other), least)
        if 0 < found.small.sum() <= _FEW:
            given = len(found.recovered)
            best = (given, found.columns) if given > (best[0] if best else 0) else best
    return None if best is None else best[1]


Node = tuple[str, int]


def _bridges(withheld: Mask) -> list[Cell]:
    """Return the withheld cells that lie on no cycle of withheld cells."""
    cells = [(int(row), int(column)) for row, column in np.argwhere(withheld)]
    return [cell for cell in cells if ("column", cell[1]) not in _reached(withheld, ("row", cell[0]), without=cell)]


def _reached(withheld: Mask, start: Node, without: Cell) -> set[Node]:
    seen, waiting = {start}, [start]
    while waiting:
        for node in _neighbours(withheld, waiting.pop(), without):
            if node not in seen:
                seen.add(node)
                waiting.append(node)
    return seen


def _neighbours(withheld: Mask, node: Node, without: Cell) -> Iterable[Node]:
    kind, place = node
    if kind == "row":
        columns = np.flatnonzero(withheld[place]).tolist()
        return [("column", each) for each in columns if (place, each) != without]
    return [("row", each) for each in np.flatnonzero(withheld[:, place]).tolist() if (each, place) != without]


def _cheapest(counts: Counts, withheld: Mask, cell: Cell) -> list[Cell] | None:
    """Return the cells to withhold that put a cell on a cycle at the least loss of counts (Dijkstra 1959)."""
    start, goal = ("row", cell[0]), ("column", cell[1])
    # A withheld cell costs nothing more; an empty one says nothing and costs a little, so paths are short.
    price = np.where(withheld, 0, counts + 1)
    best: dict[Node, int] = {start: 0}
    before: dict[Node, Node] = {}
    heap: list[tuple[int, Node]] = [(0, start)]
    everywhere = np.ones_like(withheld)
    while heap:
        cost, node = heapq.heappop(heap)
        if node == goal:
            return _path(before, node)
        for near in _neighbours(everywhere, node, cell):
            at = (node[1], near[1]) if node[0] == "row" else (near[1], node[1])
            total = cost + int(price[at])
            if total < best.get(near, total + 1):
                best[near], before[near] = total, node
                heapq.heappush(heap, (total, near))
    return None


def _path(before: dict[Node, Node], node: Node) -> list[Cell]:
    cells = []
    while node in before:
        other = before[node]
        cells.append((node[1], other[1]) if node[0] == "row" else (other[1], node[1]))
        node = other
    return cells


def _picture(rollup: Rollup) -> Shades:
    shown = np.log1p(np.where(rollup.withheld, 0, rollup.counts)).tolist()
    return Shades(
        title=f"Withheld cells of {rollup.columns[0]} by {rollup.columns[1]}: ringed, those that totals give back",
        values=shown,
        across=rollup.columns[1],
        up=rollup.columns[0],
        marks=list(rollup.recovered),
    )
