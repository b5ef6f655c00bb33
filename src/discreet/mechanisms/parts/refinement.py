"""Quantiles from counts of cells: exact draws of the exponential mechanism in a few passes over the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.core.doors import opened
from discreet.core.exact import Exact
from discreet.core.value import dataclass
from discreet.mechanisms.parts.lottery import Lottery
from discreet.mechanisms.parts.raw_values import Steps
from discreet.noise import enclosure, rejection
from discreet.noise.bits import BitSource, current

_STEP = 64
# What is left out of the next, finer look at the grid: more would rarely be drawn, less would make it coarser.
_ASIDE = 1e-3
# Deficits and rates beyond this weigh as little, and no float holds all of them.
_FAR = 10**150


class RefinementRequest(NamedTuple):
    """Asks how many records of a group lie in each of the cells [low + i * width, low + (i + 1) * width), i < cells."""

    group: int
    low: int
    width: int
    cells: int


# Answers all requests in one pass over the data; of each, the cells that are not empty: {i: records}.
Cells = list[dict[int, int]]
Counts = Callable[[list[RefinementRequest]], Exact[Cells] | Cells]


@dataclass(frozen=True, slots=True)
class Task:
    """A quantile to be found among grid points low .. high of a group, whose records are those from `first` to high.

    `offset` moves the target rank by so many records, and as many public records stand at the bound it points to.
    `last` says that the group has no records above high, so that cells may reach beyond it.
    """

    group: int
    low: int
    high: int
    first: int
    q: Fraction
    rate: Fraction
    offset: int = 0
    last: bool = True

    def cover(self, cells: int) -> list[RefinementRequest]:
        """Ask for all records, in about so many cells."""
        size = self.high + 1 - self.first
        if size <= 0:
            return [RefinementRequest(self.group, self.low, 1, 1)]  # there are none, and the answer will not be used
        width = -(-size // cells)
        if self.last or size % width == 0:
            return [RefinementRequest(self.group, self.first, width, -(-size // width))]
        whole = size // width
        rest = RefinementRequest(self.group, self.first + whole * width, size % width, 1)
        return [RefinementRequest(self.group, self.first, width, whole), rest]


@dataclass(frozen=True, slots=True)
class KnownCounts:
    """Points, from the lowest to one above the highest, and how many records of the task lie below each of them."""

    borders: Steps
    below: Steps

    @classmethod
    def start(cls, task: Task) -> KnownCounts:
        """Before any pass: no record lies below the first value that records may have."""
        borders = [task.low, task.first] if task.first > task.low else [task.low]
        return cls(np.array(borders, dtype=np.int64), np.zeros(len(borders), dtype=np.int64))

    def with_counts(self, task: Task, request: RefinementRequest, answer: dict[int, int]) -> KnownCounts:
        """Add the borders of a request that begins at one of these; what is known already stays."""
        counts = np.zeros(request.cells, dtype=np.int64)
        if answer:
            counts[list(answer.keys())] = list(answer.values())
        point = task.high if task.offset > 0 else task.low
        place = (point - request.low) // request.width
        if task.offset and 0 <= place < request.cells:
            counts[place] += abs(task.offset)
        start = int(self.below[np.searchsorted(self.borders, request.low)])
        ends = np.minimum(request.low + request.width * np.arange(1, request.cells + 1), task.high + 1)
        borders, places = np.unique(np.concatenate([self.borders, ends]), return_index=True)
        return KnownCounts(borders, np.concatenate([self.below, start + np.cumsum(counts)])[places])


@dataclass(frozen=True, slots=True)
class Envelope:
    """Cells between known borders: how many points each has, and between what bounds their deficits lie.

    With b records below a point and u up to and including it, its deficit is max(b - target, target - u), times the
    denominator of q; below zero where the target lies inside. In a cell with B records below it and U below its end,
    B <= b <= u <= U: so the deficit is at least max(B - target, target - U), and at most max(U - target, target - B).
    The two agree where the cell is a single point, or empty.
    """

    sizes: Steps
    least: NDArray[Any]
    most: NDArray[Any]

    @classmethod
    def of(cls, task: Task, known: KnownCounts) -> Envelope:
        """Return the cells of what is known."""
        top, bottom = task.q.numerator, task.q.denominator
        records = int(known.below[-1])
        target = top * (records - abs(task.offset)) + bottom * max(task.offset, 0)
        wide = bottom * (records + 1) >= 1 << 61
        ranks = known.below.astype(object) * bottom if wide else known.below * bottom
        start, end, sizes = ranks[:-1], ranks[1:], np.diff(known.borders)
        least = np.maximum(start - target, target - end)
        most = np.maximum(end - target, target - start)
        return cls(sizes, least, np.where((sizes == 1) | (start == end), least, most))

    def window(self, rate: Fraction) -> tuple[int, int] | None:
        """Return the first and the last cell worth a closer look, by weights of points not yet known; None if none is.

        Floats only choose what to ask: the draw is exact whatever was asked.
        """
        least = self.least - self.least.min()
        least = np.minimum(least, _FAR) if least.dtype == object else least
        weights = np.exp(np.log(self.sizes) - float(min(rate, Fraction(_FAR))) * least.astype(np.float64))
        open_ = np.where(self.least == self.most, 0.0, weights)
        sums, aside = np.cumsum(open_), _ASIDE * float(weights.sum())
        if sums[-1] <= aside:
            return None
        return int(np.searchsorted(sums, aside / 2)), int(np.searchsorted(sums, sums[-1] - aside / 2))


class Threshold:
    """A uniform number in [0, 1), read as far as comparisons with it need."""

    __slots__ = ("_bits", "_cell", "_source")

    def __init__(self, source: BitSource) -> None:
        self._source, self._cell, self._bits = source, 0, 0

    def below_exp(self, x: Fraction) -> bool:
        """Return whether it lies below e^-x."""
        while True:
            if self._bits:
                low, high = enclosure.exp(x.as_integer_ratio(), self._bits)
                if self._cell < low:
                    return True
                if self._cell >= high:
                    return False
            self._cell = self._cell << _STEP | self._source.bits(_STEP)
            self._bits += _STEP


class Proposal(NamedTuple):
    """A point drawn by the most that its cell allows it to weigh, and the number that decides whether it stays."""

    point: int
    start: int
    end: int
    least: int
    threshold: Threshold


def find(tasks: Sequence[Task], counts: Counts, cells: int, passes: int) -> list[int]:
    """Draw a point for every task, each with probability proportional to e^(-rate deficit), exactly.

    First so many passes for all tasks, however the data lie: the grid in `cells` cells, then the cells that matter in
    finer ones. Then points are drawn by weights that are too large, if anything: h(p) = e^(-rate least deficit of p's
    cell). A point stays with probability w(p) / h(p), w(p) being its own weight; one uniform number decides that,
    mostly without w(p) being known. Where it does not, the cell is looked at in a further pass; and where the point
    does not stay, another is drawn, with the better h that is known by then.

    Guarantee: given all that went before, hence h, the next point is p and stays with probability (h(p) / sum h) *
    (w(p) / h(p)) = w(p) / sum h; so the point that stays is p with probability w(p) / sum w, whenever that happens.
    """
    known = _looked(tasks, [KnownCounts.start(task) for task in tasks], [task.cover(cells) for task in tasks], counts)
    for _ in range(passes - 1):
        closer = [_closer(task, each, cells) for task, each in zip(tasks, known, strict=True)]
        known = _looked(tasks, known, closer, counts)
    drawn = [_draw(task, each) for task, each in zip(tasks, known, strict=True)]
    while True:
        left = {number: each for number, each in enumerate(drawn) if isinstance(each, Proposal)}
        if not left:
            return [each for each in drawn if isinstance(each, int)]
        inside = [_inside(tasks[number], each, cells) for number, each in left.items()]
        looked = _looked([tasks[number] for number in left], [known[number] for number in left], inside, counts)
        for (number, proposal), more in zip(left.items(), looked, strict=True):
            known[number] = more
            stays = _stays(tasks[number], more, proposal)
            drawn[number] = proposal.point if stays else _draw(tasks[number], more)


def passes_for(points: int, cells: int) -> int:
    """Return how many looks, each so many times finer, tell single points apart."""
    passes, reached = 1, cells
    while reached < points:
        passes, reached = passes + 1, reached * cells
    return passes


def _looked(
    tasks: Sequence[Task], known: list[KnownCounts], requests: list[list[RefinementRequest]], counts: Counts
) -> list[KnownCounts]:
    """Make one pass over the data and add what it says."""
    answers = iter(opened(counts([request for each in requests for request in each])))
    out = []
    for task, so_far, each in zip(tasks, known, requests, strict=True):
        for request in each:
            so_far = so_far.with_counts(task, request, next(answers))
        out.append(so_far)
    return out


def _closer(task: Task, known: KnownCounts, cells: int) -> list[RefinementRequest]:
    """Ask for the cells that matter most, in finer ones; something is asked where all is known, too."""
    window = Envelope.of(task, known).window(task.rate)
    if window is None:
        start, end = known.borders[-2:].tolist()
        return [RefinementRequest(task.group, start, end - start, 1)]
    return [_between(task, int(known.borders[window[0]]), int(known.borders[window[1] + 1]), cells)]


def _between(task: Task, start: int, end: int, cells: int) -> RefinementRequest:
    """Ask for what lies between two borders, but for the last cell: how many lie below its end is known."""
    width = -(-(end - start) // cells)
    return RefinementRequest(task.group, start, width, (end - start - 1) // width)


def _draw(task: Task, known: KnownCounts) -> int | Proposal:
    """Draw a point, which may turn out not to stay."""
    source, bounds = current(), Envelope.of(task, known)
    cell = int(Lottery(-bounds.least, task.rate.as_integer_ratio(), bounds.sizes).draw(source, 1)[0])
    start, end = known.borders[cell : cell + 2].tolist()
    point: int = start + rejection.uniform(source, end - start)
    least, most, threshold = int(bounds.least[cell]), int(bounds.most[cell]), Threshold(source)
    if most == least or threshold.below_exp(task.rate * (most - least)):
        return point
    return Proposal(point, start, end, least, threshold)


def _inside(task: Task, proposal: Proposal, cells: int) -> list[RefinementRequest]:
    """Ask for the cell of a point in finer cells, and for the point itself."""
    point, finer = proposal.point, _between(task, proposal.start, proposal.end, cells)
    before = finer.low + (point - finer.low) // finer.width * finer.width
    asked = [finer]
    if finer.width > 1:
        asked += [RefinementRequest(task.group, before, point - before, 1)] * (point > before)
        asked += [RefinementRequest(task.group, point, 1, 1)]
    return asked


def _stays(task: Task, known: KnownCounts, proposal: Proposal) -> bool:
    """Decide on a point whose own deficit is known by now."""
    place = int(np.searchsorted(known.borders, proposal.point))
    deficit = int(Envelope.of(task, known).least[place])
    return proposal.threshold.below_exp(task.rate * (deficit - proposal.least))
