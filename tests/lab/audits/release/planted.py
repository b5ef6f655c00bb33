"""Defects planted in the code that answers: each with where it sits and which questions it can touch."""

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256

import numpy as np

import discreet as dp
import discreet.noise as noise
from discreet.account.losses.pure import Pure
from discreet.account.losses.zcdp import Zcdp
from discreet.answers.quantity import BracketedValue
from discreet.ask import programme, release
from discreet.core import doors
from discreet.core.schema import Table
from discreet.ledger.charge import Charge
from discreet.measures.nested_quantiles import NestedQuantiles
from discreet.measures.sums import SumMeasure
from discreet.mechanisms import joint_quantiles, key_selection
from discreet.mechanisms.key_selection import KeySelection
from discreet.mechanisms.parts.integer_noise import Noise
from discreet.mechanisms.parts.statistic import Statistic
from discreet.mechanisms.quantile import Quantile
from discreet.noise import bits
from discreet.noise.bits import current
from discreet.noise.draws import KEY_BYTES, Draws
from discreet.plan.to_sql.cells import CellRequest

COLUMNS = {"cost": dp.between(0, 100), "ward": dp.one_of("A", "B", "C"), "city": dp.text()}
VISITS = Table("visits", dp.person("pid", max_rows=3, max_groups=2), COLUMNS)
EPSILONS = ("0.1", "0.5", "1", "4")

# Every aggregate with its price at an epsilon; a Gaussian one is bought for the rho of epsilon^2 / 8.
QUESTIONS: dict[str, tuple[str, Callable[[Fraction], dict]]] = {
    "count": ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", lambda e: {"epsilon": e}),
    "sum": ("SELECT ward, SUM(cost) AS n FROM visits GROUP BY ward", lambda e: {"epsilon": e}),
    "mean": ("SELECT ward, AVG(cost) AS n FROM visits GROUP BY ward", lambda e: {"epsilon": e}),
    "quantile": ("SELECT ward, MEDIAN(cost) AS n FROM visits GROUP BY ward", lambda e: {"epsilon": e}),
    "selected keys": (
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
        lambda e: {"epsilon": e, "delta": Fraction(1, 10**6)},
    ),
    "Gaussian quantile": ("SELECT ward, MEDIAN(cost) AS n FROM visits GROUP BY ward", lambda e: {"rho": e * e / 8}),
    "Gaussian count": ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", lambda e: {"rho": e * e / 8}),
    "Gaussian sum": ("SELECT ward, SUM(cost) AS n FROM visits GROUP BY ward", lambda e: {"rho": e * e / 8}),
    "Gaussian mean": ("SELECT ward, AVG(cost) AS n FROM visits GROUP BY ward", lambda e: {"rho": e * e / 8}),
    "Gaussian selected keys": (
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
        lambda e: {"rho": e * e / 8, "delta": Fraction(1, 10**6)},
    ),
}
QUANTILES = tuple(name for name in QUESTIONS if "quantile" in name)
ADDITIVE = tuple(name for name in QUESTIONS if name not in QUANTILES)
SELECTED = tuple(name for name in QUESTIONS if "selected" in name)


@dataclass(frozen=True)
class Plant:
    """One defect: in words, the file it sits in, how it is planted, and the questions that it touches."""

    defect: str
    place: str
    planted: Callable[[], contextlib.AbstractContextManager]
    questions: tuple[str, ...] = tuple(QUESTIONS)


@contextlib.contextmanager
def exchanged(where, name, made) -> Iterator[None]:
    """Put `made(honest)` in a place of a class or module, and the honest thing back at the end."""
    honest = vars(where)[name]
    setattr(where, name, made(honest))
    try:
        yield
    finally:
        setattr(where, name, honest)


def in_draw(change):
    """Change the numbers that a statistic draws."""
    return lambda: exchanged(Noise, "draw", lambda honest: lambda self, size: change(np.asarray(honest(self, size))))


def in_sampler(change):
    """Change what the noise functions return, wherever they are called through the package."""

    def sampler(honest):
        return lambda scale, size=None: change(np.asarray(honest(scale, size)))

    @contextlib.contextmanager
    def planted():
        with exchanged(noise, "laplace", sampler), exchanged(noise, "gaussian", sampler):
            yield

    return planted


def in_noisy(change):
    """Change the noisy integers of all groups, knowing the exact ones."""

    def made(honest):
        def noisy(self, exact):
            opened = doors.opened(exact)
            inner = np.array([self.inner(group) for group in opened], dtype=object).reshape(len(opened), -1)
            return change(inner, np.asarray(honest(self, exact), dtype=object))

        return noisy

    return lambda: exchanged(Statistic, "noisy_rows", made)


def first_exact(inner, noisy):
    noisy = noisy.copy()
    noisy[:1] = inner[:1]
    return noisy


def empty_exact(inner, noisy):
    return np.where(inner == 0, inner, noisy)


def scaled(factor):
    return lambda drawn: np.rint(drawn.astype(float) * factor).astype(np.int64)


def narrower(factor):
    """Ask the noise functions for less than the claim needs, and say nothing of it."""

    def draw(honest):
        return lambda self, size: honest(replace(self, scale=self.scale * factor), size)

    return lambda: exchanged(Noise, "draw", draw)


def sharper(factor):
    """Choose as if more had been paid: what is paid for a quantile, or a selection, is the same."""

    @contextlib.contextmanager
    def planted():
        def rate(honest):
            return lambda self, q: honest(self, q) / factor

        with exchanged(Quantile, "_rate", rate):
            yield

    return planted


def argmax_quantile(first=False):
    """Show the exact medians, of all groups or of the first."""

    def planted():
        def made(honest):
            def noisy(self, found, groups, mark):
                chosen = honest(self, found, groups, mark) if first else [[None] * groups]
                cells = doors.opened(found([CellRequest(g, 0, 1, 101) for g in range(groups)]))
                for group, each in enumerate(cells[: 1 if first else groups]):
                    values = sorted(v for v, many in each.items() for _ in range(many))
                    middle = values[len(values) // 2] if values else 50
                    chosen[0][group] = BracketedValue(middle, middle, middle)
                return chosen

            return noisy

        return exchanged(NestedQuantiles, "noisy", made)

    return planted


def same_choice():
    """Choose for all groups with the same coins."""

    def made(honest):
        def find(tasks, *rest):
            key, found = current().bits(64), []
            for task in tasks:
                with bits.drawing(bits.BitSource(coins(key), fixed=True)):
                    found += honest([task], *rest)
            return found

        return find

    return exchanged(joint_quantiles, "find", made)


def in_cells(change):
    """Change how the cells that give quantiles their intervals draw their noise, and nothing else of a question."""

    def planted():
        def made(honest):
            def intervals(self, points, found):
                with exchanged(Noise, "draw", change):
                    return honest(self, points, found)

            return intervals

        return exchanged(NestedQuantiles, "_intervals", made)

    return planted


def drawn_numbers(change):
    return lambda honest: lambda self, size: change(np.asarray(honest(self, size)))


def at_scale(factor):
    return lambda honest: lambda self, size: honest(replace(self, scale=self.scale * factor), size)


def cells_for_one_row():
    """Make the cells noisy as if a person had one row."""
    return exchanged(
        NestedQuantiles,
        "histogram",
        lambda honest: lambda self, cells: replace(honest(self, cells), contributions=1),
    )


def first_alone(drawn):
    return np.full_like(drawn, drawn.flat[0])


def coins(key):
    """Return a source of keys that begins anew for every group."""
    turns = iter(range(1 << 62))
    return lambda size: sha256(f"{key} {next(turns)}".encode()).digest()[:size]


def kinder(by):
    """Select keys as if so many people more had each."""
    return lambda: exchanged(
        KeySelection,
        "_kept",
        lambda honest: lambda self, people, count: honest(self, [each + by for each in people], count),
    )


def surer(factor):
    """Select keys as if so many times the epsilon had been paid."""

    @contextlib.contextmanager
    def planted():
        honest = key_selection._rule
        with exchanged(key_selection, "_rule", lambda _: lambda share, slack: honest(share * factor, slack)):
            yield

    return planted


def exact_cells():
    """Show the exact integers in the answer, after noise was drawn for the look of it."""

    def made(honest):
        def noisy(self, found, groups, mark):
            honest(self, found, groups, mark)
            exact = [self.statistic.inner(self.exact(row)) for row in doors.opened(found)]
            return [self.quantities(self.statistic.supposed(exact), mark)]

        return noisy

    return exchanged(SumMeasure, "noisy", made)


def same_draws():
    """Draw for every debit with one key."""
    return exchanged(Draws, "__init__", lambda honest: lambda self, _: honest(self, bytes(KEY_BYTES)))


def in_answer(change):
    """Change an answer by what was found, before it is settled."""

    def planted():
        def made(honest):
            def run(self, engine, draws):
                spy = Spy(engine)
                answer = honest(self, spy, draws)
                return change(answer, spy.sizes)

            return run

        return exchanged(programme.Programme, "run", made)

    return planted


class Spy:
    """An engine that notes how large every group is."""

    def __init__(self, engine):
        self.engine, self.sizes = engine, []

    def in_order(self, *asked):
        found = self.engine.in_order(*asked)
        self.sizes = [sum(map(int, row)) for row in doors.opened(found)]
        return found

    def counts(self, *asked):
        with self.engine.counts(*asked) as counts:
            cells = doors.opened(counts([CellRequest(group, 0, 1, 101) for group in range(asked[1].size)]))
            self.sizes = [sum(each.values()) for each in cells]
        return self.engine.counts(*asked)

    def __getattr__(self, name):
        return getattr(self.engine, name)


def sorted_rows(answer, sizes):
    """Sort the rows by exact counts."""
    order = sorted(range(len(answer.rows)), key=lambda at: -sizes[at])
    columns = tuple(replace(c, quantities=tuple(c.quantities[at] for at in order)) for c in answer.columns)
    return replace(answer, rows=tuple(answer.rows[at] for at in order), columns=columns)


def noted(answer, sizes):
    return replace(answer, notes=(*answer.notes, f"{sum(sizes)} were found"))


def undercharged():
    """Charge a five hundredth of what is spent: .001 for .5."""

    def made(honest):
        def begun(self):
            honest(self)
            small = {
                account: Zcdp(loss.rho / 500, relation=loss.relation)
                if loss.rho is not None and not math.isfinite(loss.peak)
                else Pure(Fraction(loss.peak if math.isfinite(loss.peak) else 1) / 500, relation=loss.relation)
                for account, loss in self.losses.items()
            }
            object.__setattr__(self, "losses", small)

        return begun

    return exchanged(Charge, "__post_init__", made)


def raising():
    def made(_):
        def run(self, engine, draws):
            raise TypeError("unsupported operand")

        return run

    return exchanged(programme.Programme, "run", made)


def raising_when_odd():
    """Raise for some rows alone."""

    def change(answer, sizes):
        if any(sizes):
            raise OverflowError("too many")
        return answer

    return in_answer(change)()


def all_keys():
    return exchanged(KeySelection, "release", lambda _: lambda self, exact: tuple(sorted(doors.opened(exact))))


def replayed_differently():
    """Answer a repeated question from its text with another note."""

    def made(honest):
        def told(text, made, receipt, remaining):
            answer = honest(text, made, receipt, remaining)
            return replace(answer, notes=(*answer.notes, "again")) if receipt["replayed"] else answer

        return told

    return exchanged(release, "told", made)


PLANTS = (
    Plant("no noise", "mechanisms/parts/integer_noise", in_draw(lambda drawn: drawn * 0), ADDITIVE),
    Plant("noise half as wide, drawn numbers", "mechanisms/parts/integer_noise", in_draw(scaled(0.5)), ADDITIVE),
    Plant("noise .8 as wide, drawn numbers", "mechanisms/parts/integer_noise", in_draw(scaled(0.8)), ADDITIVE),
    Plant("noise half as wide, scale", "mechanisms/parts/integer_noise", narrower(Fraction(1, 2)), ADDITIVE),
    Plant("noise .8 as wide, scale", "mechanisms/parts/integer_noise", narrower(Fraction(4, 5)), ADDITIVE),
    Plant("no noise, in the noise functions", "noise", in_sampler(lambda drawn: drawn * 0), ADDITIVE),
    Plant("noise half as wide, in the noise functions", "noise", in_sampler(scaled(0.5)), ADDITIVE),
    Plant("noise .8 as wide, in the noise functions", "noise", in_sampler(scaled(0.8)), ADDITIVE),
    Plant("even noise, in the noise functions", "noise", in_sampler(lambda drawn: drawn // 2 * 2), ADDITIVE),
    Plant("noise cut at -3, in the noise functions", "noise", in_sampler(lambda d: np.maximum(d, -3)), ADDITIVE),
    Plant("even noise", "mechanisms/parts/integer_noise", in_draw(lambda drawn: drawn // 2 * 2), ADDITIVE),
    Plant("noise cut at -3", "mechanisms/parts/integer_noise", in_draw(lambda d: np.maximum(d, -3)), ADDITIVE),
    Plant(
        "one noise for all groups",
        "mechanisms/parts/integer_noise",
        in_draw(lambda d: np.broadcast_to(d[..., :1], d.shape).copy()),
        ADDITIVE,
    ),
    Plant("the first group without noise", "mechanisms/parts/statistic", in_noisy(first_exact), ADDITIVE),
    Plant("exact zeros for empty groups", "mechanisms/parts/statistic", in_noisy(empty_exact), ADDITIVE),
    Plant("exact integers shown", "measures/sums", exact_cells, ADDITIVE),
    Plant("the exact median, no choice", "measures/nested_quantiles", argmax_quantile(), QUANTILES),
    Plant("the exact median of the first group", "measures/nested_quantiles", argmax_quantile(first=True), QUANTILES),
    Plant("one choice for all groups", "measures/quantiles", same_choice, QUANTILES),
    Plant("a choice twice as sure", "mechanisms/quantile", sharper(Fraction(1, 2)), QUANTILES),
    Plant("a choice a quarter more sure", "mechanisms/quantile", sharper(Fraction(4, 5)), QUANTILES),
    Plant(
        "cells of intervals without noise",
        "measures/nested_quantiles",
        in_cells(drawn_numbers(lambda d: d * 0)),
        QUANTILES,
    ),
    Plant(
        "cells with noise half as wide", "measures/nested_quantiles", in_cells(drawn_numbers(scaled(0.5))), QUANTILES
    ),
    Plant("cells at half the scale", "measures/nested_quantiles", in_cells(at_scale(Fraction(1, 2))), QUANTILES),
    Plant("one noise for all cells", "measures/nested_quantiles", in_cells(drawn_numbers(first_alone)), QUANTILES),
    Plant("cells noisy for one row of a person", "measures/nested_quantiles", cells_for_one_row, QUANTILES),
    Plant("every key shown", "mechanisms/key_selection", all_keys, SELECTED),
    Plant("a person more for every key", "mechanisms/key_selection", kinder(1), SELECTED),
    Plant("keys chosen twice as surely", "mechanisms/key_selection", surer(2), SELECTED),
    Plant("the same draws for every debit", "noise/draws", same_draws),
    Plant("rows sorted by exact counts", "ask/programme", in_answer(sorted_rows)),
    Plant("the exact row count in the notes", "ask/programme", in_answer(noted)),
    Plant("too little charged", "ledger/charge", undercharged),
    Plant("every answer raises TypeError", "ask/programme", raising),
    Plant("some rows raise", "ask/programme", raising_when_odd),
    Plant("another answer when asked again", "ask/release", replayed_differently),
)
