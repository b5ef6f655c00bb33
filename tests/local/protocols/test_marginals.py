"""Marginals: every table is unbiased, and all of them agree with each other exactly."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from discreet import local
from discreet.core.errors import BadParameter, UnknownName
from discreet.local.poisoning import influence
from discreet.testing import seeded

PEOPLE = {"sex": 2, "age": 5, "town": 3}


def rows(n=3000):
    at = np.arange(n)
    return np.column_stack([at % 2, at % 7 % 5, (at % 2 + at // 5) % 3])


def truths(data, protocol):
    """Return the true cells of all tables, in the order of the estimate."""
    found = []
    for chosen in combinations(range(len(protocol.sizes)), protocol.ways):
        sizes = [protocol.sizes[place] for place in chosen]
        flat = np.ravel_multi_index([data[:, place] for place in chosen], sizes)
        found.append(np.bincount(flat, minlength=math.prod(sizes)))
    return np.concatenate(found)


@pytest.mark.parametrize("ways", [1, 2, 3])
def test_tables_are_unbiased_with_the_stated_variance_and_intervals_cover(ways):
    protocol, data, runs = local.marginals(PEOPLE, 2, ways=ways), rows(), 200
    truth = truths(data, protocol)
    with seeded(995):
        found = [protocol.estimate(protocol.aggregate(protocol.encode(data))) for _ in range(runs)]
    spread = np.concatenate(
        [
            base * len(data) + slope * part
            for (base, slope), part in zip(
                [protocol._spread(chosen) for chosen in combinations(range(3), ways)],
                np.split(truth, np.cumsum([math.prod(s) for s in combinations((2, 5, 3), ways)])[:-1]),
                strict=True,
            )
        ]
    )
    scores = np.array([(each.value - truth) / np.sqrt(spread) for each in found])
    # At most 31 means of 200 nearly normal numbers: within 6 standard errors but for a chance below 1e-6.
    assert np.abs(scores.mean(axis=0)).max() <= 6 / math.sqrt(runs)
    # Cells of a run are correlated: 200 runs of some degrees of freedom each.
    assert (scores**2).mean() == pytest.approx(1, abs=0.2)
    covered = np.array([((each.low <= truth) & (truth <= each.high)).mean() for each in found])
    assert covered.mean() >= 0.95 - 4 * max(covered.std(), 0.02) / math.sqrt(runs)
    assert protocol.variance(len(data)) >= spread.min()


def test_all_tables_agree_with_each_other_and_sum_to_the_reports():
    protocol = local.marginals(PEOPLE, 1, ways=2)
    sketch = protocol.aggregate(protocol.encode(rows(500)))
    one, other = protocol.table(sketch, ["sex", "age"]), protocol.table(sketch, ["age", "town"])
    assert np.allclose(one.sum(axis=0), other.sum(axis=1))
    assert np.allclose(one.sum(axis=0), protocol.table(sketch, ["age"]))
    assert one.sum() == pytest.approx(500)
    assert np.allclose(protocol.table(sketch, ["age", "sex"]), one.T)


def test_a_report_decodes_to_its_row_on_average_exactly():
    protocol = local.marginals([3, 2], 1)
    for row in ((0, 0), (2, 1), (1, 0)):
        law = protocol.likelihood(row)
        expected = sum(protocol.table(protocol.aggregate([y]), ["a0", "a1"]) * float(c) for y, c in law.items())
        assert np.allclose(expected, np.eye(6)[row[0] * 2 + row[1]].reshape(3, 2))


def test_a_row_may_be_given_by_its_number():
    protocol = local.marginals(PEOPLE, 1)
    every = np.array([[s, a, t] for s in range(2) for a in range(5) for t in range(3)])
    assert np.array_equal(protocol.checked(every), protocol.checked(np.arange(30)))
    assert len({*protocol.checked(every).tolist()}) == 30


def test_the_whole_epsilon_is_used():
    protocol = local.marginals([2, 2], 1)
    laws = [protocol.likelihood(row) for row in range(4)]
    largest = max(one[y] / other[y] for one in laws for other in laws for y in one)
    assert largest == protocol.odds
    assert 0.999 * math.e <= float(largest) <= math.e


def test_a_table_is_named_by_its_attributes():
    protocol = local.marginals(PEOPLE, 1)
    found = protocol.estimate(protocol.aggregate(protocol.encode(rows(50))), attributes=["town"])
    assert found.names == ("town=0", "town=1", "town=2")
    simplex = protocol.estimate(protocol.aggregate(protocol.encode(rows(50))), attributes=["town"], post="simplex")
    assert simplex.value.sum() == pytest.approx(50)
    assert (simplex.value >= 0).all()


def test_fakes_are_bounded_and_reach_the_bound():
    for protocol in (local.marginals([2, 2, 2], 1), local.marginals([3, 5], 1)):
        values = np.array([protocol.estimate(protocol.aggregate([y])).value for y in protocol.likelihood(0)])
        bound = influence(protocol, 1)
        assert values.max() == pytest.approx(bound.high, rel=1e-6)
        assert values.min() == pytest.approx(bound.low, rel=1e-6)


@pytest.mark.parametrize("wrong", [[[0, 0]], [[0, 5, 0]], [[0, -1, 0]], [[0.5, 0, 0]], [30], ["a"], [[0, 0, 0], [1]]])
def test_what_is_no_row_is_refused(wrong):
    with pytest.raises(BadParameter, match="values"):
        local.marginals(PEOPLE, 1).encode(wrong)


@pytest.mark.parametrize(
    ("sizes", "more"),
    [
        ([2, 1], {}),
        ([], {}),
        ([2, 2], {"ways": 3}),
        ([2, 2], {"ways": 0}),
        ([1 << 20, 1 << 20, 1 << 20], {"ways": 1}),
        ([1024, 1024, 1024], {"ways": 2}),
        ([2, 2], {"epsilon": -1}),
    ],
)
def test_what_makes_no_marginals_is_refused(sizes, more):
    with pytest.raises(BadParameter):
        local.marginals(sizes, **{"epsilon": 1, **more})


def test_tables_that_were_not_collected_are_refused():
    protocol = local.marginals(PEOPLE, Fraction(1, 2), ways=1)
    sketch = protocol.aggregate(b"")
    with pytest.raises(BadParameter, match="more ways"):
        protocol.table(sketch, ["sex", "age"])
    with pytest.raises(UnknownName, match="age"):
        protocol.table(sketch, ["ag"])


@pytest.mark.parametrize("sizes", [[3, 3], [5, 5], [3, 5]])
@pytest.mark.parametrize("epsilon", [1, 3, 6, 12])
def test_intervals_of_very_few_reports_hold_by_their_exact_law(sizes, epsilon):
    protocol = local.marginals(sizes, epsilon, ways=2)
    for row in ((0, 0), (1, 1), (2, 2)):
        truth = np.array([cell == row for cell in product(*map(range, sizes))])
        reports = protocol.likelihood(row)
        tables = [protocol.table(protocol.aggregate(report), protocol.attributes) for report in reports]
        adds, chances = (
            np.round(np.stack(tables).reshape(len(reports), -1), 7),
            np.array([*map(float, reports.values())]),
        )
        for cell in {0, len(truth) // 2, len(truth) - 1, int(truth.argmax())}:
            steps, inverse = np.unique(adds[:, cell], return_inverse=True)
            weights, values, law = np.bincount(inverse, chances), np.zeros(1), np.ones(1)
            for n in range(1, 5):
                values, inverse = np.unique(np.round(np.add.outer(values, steps), 6), return_inverse=True)
                law = np.bincount(inverse.ravel(), np.outer(law, weights).ravel())
                wide = np.repeat(values[:, None], len(truth), axis=1)
                for beta in (0.05, 0.01, 0.001):
                    low, high = (bound[:, cell] for bound in protocol._bounded(wide, [0, 1], n, beta))
                    true = n * truth[cell]
                    assert law[(low > true + 1e-5) | (high < true - 1e-5)].sum() <= beta, (row, cell, n, beta)


def test_one_report_at_a_large_epsilon_is_covered():
    protocol, beta = local.marginals([3, 3], 6, ways=2), 0.001
    missed = sum(
        float(chance)
        for report, chance in protocol.likelihood((0, 0)).items()
        if not (found := protocol.estimate(protocol.aggregate(report), beta=beta)).low[0] <= 1 <= found.high[0]
    )
    assert missed <= beta
