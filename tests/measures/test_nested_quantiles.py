"""Nested quantiles: points at most of the price, and one measurement of counts for all intervals."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtri

import discreet as dp
from discreet.account.budgets.price import Price
from discreet.answers.rank_inversion import cell_edges
from discreet.core.doors import opened
from discreet.core.errors import BadParameter
from discreet.core.exact import Exact
from discreet.core.schema import between
from discreet.measures.measure import measure_of
from discreet.measures.nested_quantiles import POINTS
from discreet.measures.reach import Reach
from discreet.measures.request import in_cells
from discreet.plan.aggregates import aggregate_from_record
from discreet.testing import seeded

COLUMNS = {"x": between(0, 500).named("x"), "wide": between(0, 10**9).named("wide")}
NINE = [Fraction(place, 10) for place in range(1, 10)]


def made(aggregate, price=None, rows=1, relation="add_remove"):
    return measure_of("value", aggregate, price or Price.of(epsilon=1), Reach(COLUMNS, rows, 1, relation, None))


def counting(*groups):
    """Answer requests about the values of some groups, as an engine does."""

    def counts(requests):
        answers = []
        for each in requests:
            cells = [(value - each.low) // each.width for value in groups[each.group] if value >= each.low]
            cells = [cell for cell in cells if cell < each.cells]
            answers.append({cell: cells.count(cell) for cell in set(cells)})
        return Exact(answers)

    return counts


def flat(answers, edges, single):
    (found,) = opened(Exact(answers).map(in_cells, edges, single))
    return found


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("aggregate", [dp.median("x"), dp.quantile("x", *NINE)])
def test_points_and_counts_share_the_price(aggregate, relation):
    found = made(aggregate, rows=4, relation=relation)
    assert found.middle.loss.epsilon(0) == pytest.approx(float(POINTS))
    assert found.cells.loss.epsilon(0) == pytest.approx(float(1 - POINTS))
    assert found.loss.epsilon(0) == pytest.approx(1)
    assert found.loss.relation == relation
    assert made(aggregate, Price.of(rho=0.1)).loss.zcdp() == pytest.approx(0.1, rel=1e-6)


def test_without_intervals_all_of_the_price_buys_the_points():
    found = made(dp.quantile("x", *NINE, interval=False))
    assert found.cells is None
    assert found.middle.loss.epsilon(0) == pytest.approx(1)
    with seeded(2):
        columns = found.noisy(counting(range(500), [7] * 90), 2, "mark")
    assert len(columns) == 9
    assert {(each.low, each.high) for column in columns for each in column} == {(None, None)}
    assert made(dp.median("x", interval=False)).middle.loss.epsilon(0) == 1


def test_only_a_question_without_intervals_says_so_in_its_record():
    plain, bare = dp.median("x"), dp.median("x", interval=False)
    assert "interval" not in plain.record()
    assert bare.record()["interval"] is False
    assert [aggregate_from_record(each.record()) == each for each in (plain, bare)] == [True, True]
    assert plain != bare
    with pytest.raises(BadParameter, match="buys intervals"):
        dp.median("x", interval="no")


def test_intervals_hold_the_points_and_the_truth():
    found = made(dp.quantile("x", *NINE), Price.of(epsilon=5))
    values = [at % 501 for at in range(6000)]
    with seeded(3):
        columns = found.noisy(counting(values, values[:3000]), 2, "mark")
    for q, column in zip(NINE, columns, strict=True):
        for each in column:
            assert each.low <= each.value <= each.high
            assert each.low - 10 <= 500 * q <= each.high + 10
            assert each.high - each.low < 250


def test_a_wide_grid_is_counted_cell_by_cell():
    values = [at * 1000 for at in range(2000)]
    with seeded(4):
        ((found,),) = made(dp.median("wide"), Price.of(epsilon=8)).noisy(counting(values), 1, "mark")
    assert found.low <= 10**6 <= found.high
    assert found.high < 2 * 10**6


def test_counts_of_cells_are_the_same_point_by_point_and_cell_by_cell():
    values = [[3, 3, 40, 499, 500], [0, 250]]
    edges = [cell_edges([40], 0, 500), cell_edges([0, 250], 0, 500)]
    one = flat([{value: group.count(value) for value in set(group)} for group in values], edges, True)
    cells = []
    for group, ends in zip(values, edges, strict=True):
        starts = [0, *(end + 1 for end in ends[:-1])]
        cells += [{0: sum(low <= v <= high for v in group)} for low, high in zip(starts, ends, strict=True)]
    assert one == flat(cells, edges, False)


@pytest.mark.parametrize("price", [Price.of(epsilon=1), Price.of(rho=Fraction(1, 2))], ids=["epsilon", "rho"])
def test_over_all_tiny_tables_a_person_costs_no_more_in_the_counts_than_they_are_sold_for(price):
    """People of up to two rows, in one of two groups each, beside others; the cells are fixed, as points are chosen."""
    found = made(dp.median("x"), price, rows=2)
    edges = [cell_edges([3], 0, 500), cell_edges([250], 0, 500)]
    ((noise, _),) = found.histogram(sum(map(len, edges))).noises
    rows = list(itertools.product((0, 1), (0, 3, 250, 500)))
    people = [each for many in (0, 1, 2) for each in itertools.combinations_with_replacement(rows, many)]

    def counts(table):
        groups = [[value for group, value in table if group == place] for place in (0, 1)]
        return np.array(flat([{value: each.count(value) for value in set(each)} for each in groups], edges, True))

    others = [(0, 3), (1, 250), (1, 251)]
    moves = [counts([*others, *person]) - counts(others) for person in people]
    if noise.law == "laplace":
        most = max(Fraction(int(abs(move).sum())) / noise.scale for move in moves)
        assert most == Fraction(1) - POINTS
    else:
        most = max(Fraction(int((move * move).sum())) / (2 * noise.scale**2) for move in moves)
        assert Fraction(99, 100) * (1 - POINTS) / 2 < most <= (1 - POINTS) / 2


def test_the_rank_error_of_several_quantiles_is_a_fraction_of_what_it_is_apart():
    """27,000 rows on 501 points, ten rows a person, epsilon 0.3: the bars are 70 for three and 220 for nine."""
    values = np.clip(np.rint(250 + 80 * ndtri((np.arange(27_000) + 0.5) / 27_000)), 0, 500).astype(np.int64)
    ordered = np.sort(values)
    for shares, bar in (([Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)], 70), (NINE, 220)):
        mechanism = made(dp.quantile("x", *shares), Price.of(epsilon=0.3), rows=10).middle
        with seeded(6):
            answers = mechanism.releases(values, 150)
        targets = np.array([float(q) * len(values) for q in shares])
        below, upto = (np.searchsorted(ordered, answers, side) for side in ("left", "right"))
        errors = np.maximum(np.maximum(below - targets, targets - upto), 0)
        assert errors.mean() < bar
