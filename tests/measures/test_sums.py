"""Measures: which tallies an aggregate needs, which noise it gets, and what is said of it."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.account.budgets.price import Price
from discreet.core.schema import between, flag, one_of
from discreet.measures.measure import measure_of
from discreet.measures.reach import Reach, about_of, number_or_none, word_of
from discreet.plan.expressions import Name
from discreet.plan.refusals import IllTyped

COLUMNS = {
    "x": between(-3, 7, step=Fraction(1, 2)).named("x"),
    "y": between(0, 4).named("y"),
    "ward": one_of("A", "B").named("ward"),
    "urgent": flag().named("urgent"),
}


def reach(rows=1, groups=1, relation="add_remove", people=True, size=None):
    return Reach(COLUMNS, rows, groups, relation, size, people)


def made(aggregate, price=None, **others):
    return measure_of("value", aggregate, price or Price.of(epsilon=1), reach(**others))


@pytest.mark.parametrize(
    ("aggregate", "kinds"),
    [
        (dp.count(), ["rows"]),
        (dp.count("x"), ["present"]),
        (dp.people(), ["people"]),
        (dp.sum("x"), ["sum", "present"]),
        (dp.mean("x"), ["sum", "present"]),
        (dp.variance("x"), ["sum", "present", "product"]),
        (dp.std("x"), ["sum", "present", "product"]),
        (dp.covariance("x", "y"), ["sum", "sum", "present", "product", "product", "product"]),
        (dp.correlation("x", "y"), ["sum", "sum", "present", "product", "product", "product"]),
    ],
)
def test_every_aggregate_asks_the_engine_for_whole_numbers(aggregate, kinds):
    assert [tally.kind for tally in made(aggregate).tallies] == kinds


@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_people_cost_one_count_for_each_group_they_may_be_in(groups, relation):
    found = made(dp.people(), rows=20, groups=groups, relation=relation)
    assert found.statistic.noises[0][0].scale == groups
    assert found.loss.epsilon(0) == pytest.approx(1)
    assert found.loss.relation == relation
    normal = made(dp.people(), Price.of(rho=0.5), rows=20, groups=groups)
    # Counts that move by one each: the squares add up to the groups, and not to their square.
    assert float(normal.statistic.noises[0][0].scale) == pytest.approx(groups**0.5, rel=1e-6)
    assert normal.loss.zcdp() <= 0.5 * (1 + 1e-9)


def test_rows_that_come_several_times_are_all_covered_where_people_are_counted():
    assert made(dp.people(), rows=6, groups=1, people=False).statistic.noises[0][0].scale == 6


def test_a_sum_is_counted_in_steps_and_offset_by_its_lower_bound():
    found = made(dp.sum("x"))
    # Three values, 1, 7 and -3: above the lower bound by 4, 10 and 0, which are 8, 20 and 0 steps.
    assert found.exact((28, 3)) == 10
    (quantity,) = found.quantities(found.statistic.supposed([[10]]), "mark")
    assert quantity.estimate == 5


def test_draws_are_named_by_answer_column_group_and_part():
    found = made(dp.mean("y"))
    one, other = found.quantities(found.statistic.supposed([[3, 1], [2, 2]]), "mark")
    names = [noisy.id for quantity in (one, other) for _, noisy in quantity.above.terms + quantity.below.terms]
    assert set(names) == {f"mark.value.{group}.{part}" for group in (0, 1) for part in (0, 1)}


@pytest.mark.parametrize("aggregate", [dp.mean("x"), dp.variance("x"), dp.std("x"), dp.covariance("x", "y")])
def test_the_half_width_of_what_is_divided_falls_with_the_rows(aggregate):
    found = made(aggregate)
    assert found.sized
    assert found.half_width(rows=10_000) < found.half_width(rows=1000)


def test_the_half_width_of_a_count_is_that_of_its_noise():
    found = made(dp.count(), rows=5)
    assert not found.sized
    assert found.half_width() == found.half_width(rows=10**6) == found.statistic.error(0.05)


def test_what_is_no_number_is_refused_with_the_fix():
    with pytest.raises(IllTyped, match=r"convert it with as_number\(\)"):
        made(dp.mean("urgent"))
    with pytest.raises(IllTyped, match="count it, group by it"):
        made(dp.sum("ward"))
    assert made(dp.mean(Name("urgent").as_number())).word == "mean"
    assert number_or_none(Name("ward"), reach()) is None


def test_an_aggregate_is_said_in_words():
    assert [about_of(each) for each in (dp.count(), dp.people(), dp.mean("x"))] == [
        "number of rows",
        "number of people",
        "mean of x",
    ]
    assert word_of(dp.std("x")) == "std"
    assert [about_of(each) for each in (dp.median("x"), dp.quantile("x", 0.9))] == ["median of x", "quantile of x"]
    assert made(dp.count(), rows=20).noise == "Laplace, scale 20"
    assert made(dp.count(), Price.of(rho=0.5)).noise == "Gaussian, sigma 1"
