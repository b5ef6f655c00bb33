"""Defects planted in the code that answers: each with where it sits and which questions it can touch."""

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

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
from discreet.measures.quantiles import QuantileMeasure
from discreet.measures.sums import SumMeasure
from discreet.mechanisms.key_selection import KeySelection
from discreet.mechanisms.parts.integer_noise import Noise
from discreet.mechanisms.parts.statistic import Statistic
from discreet.mechanisms.quantile import Quantile
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
    "Gaussian count": ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", lambda e: {"rho": e * e / 8}),
    "Gaussian sum": ("SELECT ward, SUM(cost) AS n FROM visits GROUP BY ward", lambda e: {"rho": e * e / 8}),
}
ADDITIVE = tuple(name for name in QUESTIONS if name != "quantile")


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

    return lambda: exchanged(Statistic, "noisy", made)


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


def argmax_quantile():
    def made(_):
        def noisy(self, found, groups, mark):
            cells = doors.opened(found([CellRequest(g, 0, 1, 101) for g in range(groups)]))
            middles = []
            for each in cells:
                values = sorted(v for v, many in each.items() for _ in range(many))
                middles.append(BracketedValue(values[len(values) // 2] if values else 50, 0, 100))
            return [middles]

        return noisy

    return exchanged(QuantileMeasure, "noisy", made)


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
                seen = []

                class Spy:
                    def __getattr__(self, name):
                        inner = getattr(engine, name)

                        def heard(*asked):
                            found = inner(*asked)
                            seen.append(repr(doors.opened(found)) if name != "counts" else name)
                            if name == "counts":
                                with inner(*asked) as counts:
                                    groups = asked[1].size
                                    cells = doors.opened(counts([CellRequest(g, 0, 1, 101) for g in range(groups)]))
                                    seen[-1] = repr([sorted(each.items()) for each in cells])
                            return found

                        return heard

                answer = honest(self, Spy(), draws)
                return change(answer, "".join(seen))

            return run

        return exchanged(programme.Programme, "run", made)

    return planted


def sorted_rows(answer, seen):
    """Turn the rows round when what was found has an odd number of odd digits: an order that depends on rows."""
    order = list(range(len(answer.rows)))
    if sum(c in "13579" for c in seen) % 2 or "1" in seen:
        order.reverse()
    columns = tuple(replace(c, quantities=tuple(c.quantities[at] for at in order)) for c in answer.columns)
    return replace(answer, rows=tuple(answer.rows[at] for at in order), columns=columns)


def noted(answer, seen):
    return replace(answer, notes=(*answer.notes, f"found {seen}"))


def undercharged():
    """Charge less than is spent, whatever that is."""

    def made(honest):
        def begun(self):
            honest(self)
            small = {
                account: Zcdp(Fraction(1, 1000), relation=loss.relation)
                if loss.rho is not None and not math.isfinite(loss.peak)
                else Pure(Fraction(1, 20), relation=loss.relation)
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

    def change(answer, seen):
        if any(c in "123456789" for c in seen):
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
    Plant("the likeliest point, no choice", "measures/quantiles", argmax_quantile, ("quantile",)),
    Plant("a choice twice as sure", "mechanisms/quantile", sharper(Fraction(1, 2)), ("quantile",)),
    Plant("a choice a quarter more sure", "mechanisms/quantile", sharper(Fraction(4, 5)), ("quantile",)),
    Plant("every key shown", "mechanisms/key_selection", all_keys, ("selected keys",)),
    Plant("the same draws for every debit", "noise/draws", same_draws),
    Plant("rows in an order that depends on rows", "ask/programme", in_answer(sorted_rows)),
    Plant("what was found in the notes", "ask/programme", in_answer(noted)),
    Plant("too little charged", "ledger/charge", undercharged),
    Plant("every answer raises TypeError", "ask/programme", raising),
    Plant("some rows raise", "ask/programme", raising_when_odd),
    Plant("another answer when asked again", "ask/release", replayed_differently),
)
