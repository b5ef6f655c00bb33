"""Pool: what is measured together, at whose price, and that all of it is computed from the same noisy integers."""

import itertools
import math
from fractions import Fraction

import pytest

import discreet as dp
from discreet.account.budgets.price import Price
from discreet.answers import algebra
from discreet.answers.quantity import leaves
from discreet.core.exact import Exact
from discreet.core.schema import between, flag, one_of
from discreet.measures.measure import drawn_once
from discreet.measures.pool import Pool, pools
from discreet.measures.reach import Reach
from discreet.testing import seeded

COLUMNS = {
    "x": between(0, 10).named("x"),
    "y": between(-5, 5, nullable=False).named("y"),
    "far": between(100, 101, nullable=False).named("far"),
    "ward": one_of("A", "B").named("ward"),
    "urgent": flag().named("urgent"),
}


def reach(**others):
    return Reach(COLUMNS, **({"rows": 3, "groups": 2, "relation": "add_remove", "size": None} | others))


def found(normal=False, weights=None, **aggregates):
    whole = {name: Fraction(1) for name in aggregates} | (weights or {})
    shares = {name: weight / sum(whole.values()) for name, weight in whole.items()}
    return pools(list(aggregates.items()), shares, reach(), normal=normal)


def shapes(made):
    return {each.names: (each.order, each.nulls) for each in made}


@pytest.mark.parametrize(
    ("aggregates", "expected"),
    [
        ({"a": dp.count("x"), "b": dp.sum("x")}, {("a", "b"): (1, False)}),
        ({"a": dp.count("x"), "b": dp.mean("x")}, {("a", "b"): (1, False)}),
        ({"a": dp.count(), "b": dp.mean("x")}, {("a", "b"): (1, True)}),
        ({"a": dp.count(), "b": dp.mean("y")}, {("a", "b"): (1, False)}),
        ({"a": dp.sum("x"), "b": dp.mean("x"), "c": dp.count("x")}, {("a", "b", "c"): (1, False)}),
        ({"a": dp.mean("x"), "b": dp.std("x"), "c": dp.variance("x")}, {("a", "b", "c"): (2, False)}),
        ({"a": dp.count(), "b": dp.mean("x"), "c": dp.variance("x")}, {("a", "b", "c"): (2, True)}),
        ({"a": dp.count(), "b": dp.count("ward")}, {("a", "b"): (0, True)}),
        ({"a": dp.mean("x"), "b": dp.mean("y")}, {("a",): (1, False), ("b",): (1, False)}),
        ({"a": dp.sum("x"), "b": dp.sum("y"), "n": dp.count()}, {("a",): (1, False), ("b", "n"): (1, False)}),
        ({"a": dp.sum("far"), "b": dp.count()}, {("a", "b"): (1, False)}),
    ],
    ids=str,
)
def test_the_smallest_measurement_that_tells_all_is_shared(aggregates, expected):
    assert shapes(found(**aggregates)) == expected


def test_clamped_totals_of_people_are_measured_apart():
    made = found(n=dp.count("x"), s=dp.sum("x"), t=dp.sum("x", per_person=(0, 20)))
    assert shapes(made) == {("n", "s"): (1, False)}


@pytest.mark.parametrize("normal", [False, True])
def test_what_is_shared_does_not_depend_on_the_order_of_the_aggregates(normal):
    asked = {"n": dp.count(), "m": dp.mean("x"), "v": dp.variance("x"), "s": dp.sum("y"), "c": dp.count("ward")}
    made = {
        tuple(sorted(shapes(found(normal, **dict(order))).items())) for order in itertools.permutations(asked.items())
    }
    assert len(made) == 1


def test_weights_that_one_measurement_cannot_follow_keep_aggregates_apart():
    light = {"n": Fraction(99)}
    assert shapes(found(n=dp.count(), v=dp.variance("x"))) == {("n", "v"): (2, True)}
    assert shapes(found(weights=light, n=dp.count(), v=dp.variance("x"))) == {("n",): (0, False), ("v",): (2, False)}


def deviation(quantity):
    """The standard deviation of a weighted sum of Laplace noises."""
    return math.sqrt(sum(2 * float(weight * noisy.scale) ** 2 for weight, noisy in quantity.terms))


def made(price=None, **aggregates):
    measures = {}
    for pool in found(**aggregates):
        measures |= pool.measures(price or Price.of(epsilon=1), reach())
    return measures


def said(measures, tallied, noise):
    """What all measures of one pool say, from the same integers: those of so many whole rows."""
    first = next(iter(measures.values()))
    tallied = [first.grain * each for each in tallied]
    noisy = [inner + more for inner, more in zip(first.statistic.inner(first.exact(tallied)), noise, strict=True)]
    drawn = first.statistic.supposed([noisy])
    return {name: each.quantities(drawn, "mark")[0] for name, each in measures.items()}


def test_all_members_are_computed_from_the_same_noisy_integers():
    measures = made(n=dp.count(), c=dp.count("x"), s=dp.sum("x"), m=dp.mean("x"), v=dp.variance("x"))
    # Values 2, 4, 9 and a null: the sum above low, how many there are, the squares of y = 2u - 10 with 100 each, rows.
    tallied = (15, 3, (-6) ** 2 + (-2) ** 2 + 8**2 + 300, 4)
    exact = said(measures, tallied, (0, 0, 0, 0))
    assert [exact[name].estimate for name in ("n", "c", "s")] == [4, 3, 15]
    assert exact["m"].above == exact["s"]
    assert exact["m"].below == exact["c"]
    total, _, square, size = (part.estimate for part in exact["v"].parts)
    assert (square / size - (total / size) ** 2) * exact["v"].parameters[0] == Fraction(26, 3)
    names = {leaf.id for each in exact.values() for leaf in leaves(each)}
    assert names == {f"mark.c.0.{part}" for part in range(4)}


def test_arithmetic_on_the_members_uses_their_joint_law():
    measures = made(c=dp.count("x"), s=dp.sum("x"), m=dp.mean("x"))
    noisy = said(measures, (1500, 300), (7, -4))
    quotient = algebra.divide(noisy["s"], noisy["c"])
    assert (quotient.above, quotient.below) == (noisy["m"].above, noisy["m"].below)
    assert algebra.multiply(noisy["m"], noisy["c"]) == noisy["s"]
    # 10 count - sum is one noisy integer: how far the values lie below the upper bound.
    rest = algebra.add(algebra.scale(noisy["c"], Fraction(10)), algebra.scale(noisy["s"], Fraction(-1)))
    assert len(rest.terms) == 1


def test_no_member_is_off_by_more_than_alone_at_its_share():
    for aggregates in (
        {"n": dp.count("x"), "s": dp.sum("x")},
        {"n": dp.count(), "s": dp.sum("x"), "m": dp.mean("x"), "v": dp.variance("x")},
        {"n": dp.count("y"), "s": dp.sum("y"), "t": dp.sum("y")},
        {"n": dp.count("far"), "s": dp.sum("far")},
    ):
        together = made(**aggregates)
        for name, aggregate in aggregates.items():
            (alone,) = made(Price.of(epsilon=Fraction(1, len(aggregates))), **{name: aggregate}).values()
            assert together[name].half_width(rows=1000) <= alone.half_width(rows=1000)


@pytest.mark.parametrize(
    ("aggregates", "expected"),
    [
        ({"c": dp.count("x"), "s": dp.sum("x")}, {"c": 2.0, "s": 1.41}),
        ({"c": dp.count("x"), "s": dp.sum("x"), "m": dp.mean("x")}, {"c": 2.0, "s": 1.41}),
        ({"c": dp.count("x"), "s": dp.sum("x"), "v": dp.variance("x")}, {"c": 2.45, "s": 1.58}),
    ],
    ids=str,
)
def test_sums_have_the_standard_deviations_that_the_page_on_questions_tells(aggregates, expected):
    """For three rows a unit, in units of the largest value of a row."""
    measures = made(**aggregates)
    tallied = [0] * len(next(iter(measures.values())).tallies)
    quantities = said(
        measures, tallied, [0] * len(measures[next(iter(measures))].statistic.inner(measures["c"].exact(tallied)))
    )
    unit = {"c": 3, "s": 30}
    assert {name: round(deviation(quantities[name]) / unit[name], 2) for name in expected} == expected


def test_a_pool_draws_once_and_all_of_it_costs_what_was_paid():
    measures = list(made(n=dp.count(), c=dp.count("x"), m=dp.mean("x"), v=dp.variance("x")).values())
    (alike,) = drawn_once(measures)
    assert alike == measures
    with seeded(1):
        columns = alike[0].noisy_together(alike, Exact([(15, 3, 404, 4), (0, 0, 0, 0)]), 2, "mark")
    for group in (0, 1):
        noisy = {leaf for name in "ncmv" for leaf in leaves(columns[name][group])}
        assert len(noisy) == 4
        assert {leaf.scale for leaf in noisy} == {3 * 100 * alike[0].grain}
    assert measures[0].loss.epsilon(0) == pytest.approx(1)


def test_a_mean_is_as_sharp_with_its_count_and_sum_as_alone():
    shared, (alone,) = made(n=dp.count("x"), s=dp.sum("x"), m=dp.mean("x")), made(m=dp.mean("x")).values()
    assert shared["m"].half_width(rows=500) == alone.half_width(rows=500)
    assert shared["s"].half_width() == made(s=dp.sum("x"))["s"].half_width()


def test_the_same_asked_twice_is_asked_once_with_both_shares():
    (pool,) = found(a=dp.sum("y"), b=dp.sum("y"))
    measures = pool.measures(Price.of(epsilon=1), reach())
    assert [each.word for each in measures.values()] == ["sum", "sum"]
    assert [each.label for each in measures.values()] == ["column a/noise"] * 2
    assert len(drawn_once(list(measures.values()))) == 1


def test_a_pool_tells_what_shares_its_price():
    measures = made(n=dp.count("x"), m=dp.mean("x"))
    assert (measures["n"].shared, measures["m"].shared) == (" with m", " with n")
    assert {each.word for each in measures.values()} == {"moments"}


def test_a_pool_is_known_by_its_members_in_the_order_of_their_names():
    one = Pool.of_members([("b", dp.sum("x")), ("a", dp.count())], reach())
    assert one.names == ("a", "b")
    assert one == Pool.of_members([("a", dp.count()), ("b", dp.sum("x"))], reach())
