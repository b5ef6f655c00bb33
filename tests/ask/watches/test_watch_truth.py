"""What watches cost, computed again by enumeration: all moves of a few counts, all sequences of looks."""

import itertools
import math
from fractions import Fraction

import pytest

import discreet as dp
from discreet.account.budgets.price import Price
from discreet.ask.watches.watch import WatchTerms, priced_watch
from tests.curator.questions import PURE, opened

DATA = {"id": [1, 1, 2], "month": [1, 2, 1]}
COLUMNS = {"month": dp.one_of(1, 2, 3)}
UNITS = {
    "rows": (dp.row(), 1),
    "people": (dp.person("id", max_rows=2, bound="table"), 2),
    "rows replaced": (dp.row(relation="replace"), 1),
    "people replaced": (dp.person("id", max_rows=2, bound="table", relation="replace"), 2),
}
COUNTS = (2, 4, 3)


def priced(tmp_path, unit, **terms):
    with opened(tmp_path, DATA, unit=unit, columns=COLUMNS, budget=PURE) as session:
        return priced_watch(session.table("visits"), WatchTerms(**terms), Price.of(epsilon=1))


def above(scale, gap):
    """The chance that discrete Laplace noise is at least so much."""
    q = math.exp(-1 / scale)
    return q**gap / (1 + q) if gap > 0 else 1 - q ** (1 - gap) / (1 + q)


def verdicts(made, counts):
    """The chances of all sequences of verdicts, added up over all noisy thresholds."""
    wide, narrow, found = float(made.threshold_scale), float(made.answer_scale), {}
    q = math.exp(-1 / wide)
    for noise in range(-120, 121):
        chance = (1 - q) / (1 + q) * q ** abs(noise)
        high = [above(narrow, made.threshold + noise - count) for count in counts]
        for said in itertools.product((0, 1), repeat=len(counts)):
            last = next((place for place in range(len(said)) if sum(said[: place + 1]) == made.cutoff), len(said) - 1)
            if any(said[last + 1 :]):
                continue
            each = math.prod(high[k] if said[k] else 1 - high[k] for k in range(last + 1))
            found[said] = found.get(said, 0) + chance * each
    return found


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize(("cutoff", "share"), [(1, None), (2, Fraction(1, 4))])
def test_comparisons_and_answers_together_cost_what_is_charged(tmp_path, name, cutoff, share):
    unit, rows = UNITS[name]
    watch = priced(tmp_path, unit, kind="sparse_vector", threshold=3, cutoff=cutoff, answers=share, questions=10)
    moves = range(rows + 1) if unit.relation == "add_remove" else range(-rows, rows + 1)
    here = verdicts(watch.mechanism.comparison, COUNTS)
    worst = 0
    for move in itertools.product(moves, repeat=len(COUNTS)):
        there = verdicts(watch.mechanism.comparison, [sum(each) for each in zip(COUNTS, move, strict=True)])
        worst = max(worst, *(abs(math.log(here[said] / there[said])) for said in here))
    answers = 0 if share is None else cutoff * rows / watch.mechanism._scale
    assert answers == (share or 0)
    assert 0.4 * (1 - answers) < worst < 1 - answers  # three looks come no nearer
    assert watch.loss.epsilon(0) == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("name", UNITS)
def test_running_totals_cost_what_is_charged(tmp_path, name):
    unit, rows = UNITS[name]
    watch = priced(tmp_path, unit, kind="counter", by="month")
    blocks = ((0, 1), (1, 2), (2, 3), (0, 2))
    persons = [each for each in itertools.product(range(rows + 1), repeat=3) if sum(each) <= rows]
    others = persons if unit.relation == "replace" else [(0, 0, 0)]
    worst = max(
        sum(abs(sum(one[first:last]) - sum(other[first:last])) for first, last in blocks)
        for one in persons
        for other in others
    )
    assert worst / watch.mechanism.scale == (1 if unit.relation == "add_remove" else Fraction(3, 4))
    assert watch.loss.epsilon(0) == pytest.approx(1, rel=1e-9)
