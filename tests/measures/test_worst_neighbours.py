"""Worst neighbours of every measure: all rows of one unit at their extremes cost what was paid, and no more."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.account.budgets.price import Price
from discreet.mechanisms.cdf import Cdf
from discreet.mechanisms.top_k import TopK
from discreet.plan.stability import GRAIN
from tests.measures.made import made

PRICES = [Price.of(epsilon=1), Price.of(rho=Fraction(1, 2))]
# Rows and groups of one unit, as they are under add_remove; under replace one leaves and another comes.
REACHES = [(1, 1), (6, 2), (6, 6)]
SUMS = {
    "count": dp.count(),
    "people": dp.people(),
    "sum": dp.sum("x"),
    "mean": dp.mean("x"),
    "variance": dp.variance("x"),
    "std": dp.std("x"),
    "covariance": dp.covariance("x", "y"),
    "correlation": dp.correlation("x", "y"),
}
TABLES = {"histogram": dp.histogram("y", edges=[0, 2, 4]), "cdf": dp.cdf("y", [1, 3]), "top_k": dp.top_k("ward", 1)}


def tallied(word, rows):
    """Return the tallies of so many rows at one end of their bounds: the most that they can be."""
    x, y = 20, 4  # widths, in steps
    return {
        "count": (rows,),
        "people": (1,),
        "sum": (x * rows, rows),
        "mean": (x * rows, rows),
        "variance": (x * rows, rows, 2 * x * x * rows),
        "covariance": (x * rows, y * rows, rows, 2 * x * x * rows, 2 * x * y * rows, 2 * y * y * rows),
    }[{"std": "variance", "correlation": "covariance"}.get(word, word)]


def cost(parts, epsilon):
    """Return what moves cost, by (law, scale, move): sums of |move| / scale or of move^2 / (2 sigma^2)."""
    if epsilon:
        assert {law for law, _, _ in parts} == {"laplace"}
        return sum(abs(Fraction(move)) / scale for _, scale, move in parts)
    assert {law for law, _, _ in parts} == {"gaussian"}
    return sum(Fraction(move) ** 2 / (2 * scale**2) for _, scale, move in parts)


def spread_out(rows, groups):
    """Return how a unit's rows may lie in its groups: all in one, or as evenly as can be."""
    even = [rows // groups + (place < rows % groups) for place in range(groups)]
    return [[rows], even]


@pytest.mark.parametrize("price", PRICES, ids=["epsilon", "rho"])
@pytest.mark.parametrize(("rows", "groups"), REACHES)
@pytest.mark.parametrize("word", SUMS)
def test_sums_of_all_rows_of_a_unit_cost_what_was_paid(word, rows, groups, price):
    measure = made(SUMS[word], price, rows=rows, groups=groups)
    statistic, paid = measure.statistic, price.epsilon if price.epsilon is not None else price.rho
    noises = [noise for noise, size in statistic.noises for _ in range(size)]
    nothing = statistic.inner(measure.exact([0] * len(tallied(word, 1))))
    most = Fraction(0)
    for lying in spread_out(rows, groups):
        parts = []
        for here in lying:
            there = statistic.inner(measure.exact([measure.grain * each for each in tallied(word, here)]))
            moves = [after - before for after, before in zip(there, nothing, strict=True)]
            parts += [(noise.law, noise.scale, move) for noise, move in zip(noises, moves, strict=True)]
        most = max(most, cost(parts, price.epsilon is not None))
    assert most <= paid
    assert most > paid * Fraction(9, 20)  # these neighbours come near enough to notice a factor of two
    told = measure.loss
    assert (told.peak if price.epsilon is not None else told.rho) >= most


@pytest.mark.parametrize("price", PRICES, ids=["epsilon", "rho"])
@pytest.mark.parametrize("cells", [None, 2, 9])
@pytest.mark.parametrize("twice", [1, 2])
@pytest.mark.parametrize("word", [*(each for each in SUMS if each != "people"), "histogram"])
def test_people_who_fill_their_groups_cost_what_was_paid(word, twice, cells, price):
    """Of at most 20 rows in 3 groups, 4 in each: 12 rows count, or 8 where there are two groups."""
    unit = dp.person("id", max_rows=20, max_groups=3, max_rows_per_group=4)
    asked = SUMS | {"histogram": dp.histogram("y", edges=[0, 2, 4])}
    relation = "add_remove" if twice == 1 else "replace"
    measure = made(asked[word], price, rows=20 * twice, groups=3 * twice, relation=relation, unit=unit, cells=cells)
    full = 3 if cells is None or word == "histogram" else min(3, cells)
    paid = price.epsilon if price.epsilon is not None else price.rho
    if word == "histogram":
        (noise, _), *_ = measure.mechanism.noises
        parts = [(noise.law, noise.scale, 4 * measure.grain * twice)] * full
    else:
        noises = [noise for noise, size in measure.statistic.noises for _ in range(size)]
        tallies = [measure.grain * each for each in tallied(word, 4 * twice)]
        nothing, there = (measure.statistic.inner(measure.exact(each)) for each in ([0] * len(tallies), tallies))
        moves = [after - before for after, before in zip(there, nothing, strict=True)]
        parts = [(n.law, n.scale, move) for n, move in zip(noises, moves, strict=True)] * full
    most = cost(parts, price.epsilon is not None)
    assert paid * Fraction(9, 20) < most <= paid


def test_rows_are_capped_by_group_only_where_there_are_groups():
    unit = dp.person("id", max_rows=20, max_groups=3, max_rows_per_group=4)
    one, other = (made(dp.count(), rows=20, keyed=keyed, unit=unit) for keyed in (True, False))
    assert [each.statistic.contributions // GRAIN for each in (one, other)] == [4, 20]


@pytest.mark.parametrize("price", PRICES, ids=["epsilon", "rho"])
@pytest.mark.parametrize(("rows", "groups"), REACHES)
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("word", TABLES)
def test_bins_and_choices_cover_all_rows_of_a_unit_in_one_bin(word, rows, groups, relation, price):
    """Under replace a reach counts the rows that leave and those that come: half of them each, in two bins."""
    measure = made(TABLES[word], price, rows=rows, groups=groups, relation=relation)
    mechanism, paid = measure.mechanism, price.epsilon if price.epsilon is not None else price.rho
    if isinstance(mechanism, TopK):
        assert mechanism.sensitivity >= rows
        assert mechanism.loss.epsilon0 == (price.epsilon if price.epsilon is not None else price.selecting)
        return
    # All rows in one bin move its count by all of them; in a tree, the sum of every level that it lies under.
    noise = mechanism.noises[0][0]
    levels = mechanism.levels if isinstance(mechanism, Cdf) else 1
    most = cost([(noise.law, noise.scale, rows * measure.grain)] * levels, price.epsilon is not None)
    assert paid * Fraction(9, 10) < most <= paid
