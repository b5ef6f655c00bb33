"""Measures: which tallies an aggregate needs, which noise it gets, and what is said of it."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.account.budgets.price import Price
from discreet.account.losses.discrete_gaussian import DiscreteGaussian
from discreet.account.losses.zcdp import Zcdp
from discreet.core.value import replace
from discreet.measures.reach import about_of, number_or_none, word_of
from discreet.plan.expressions import Name
from discreet.plan.refusals import IllTyped
from discreet.plan.stability import GRAIN
from tests.measures.made import made, reach


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


@pytest.mark.parametrize("aggregate", [dp.mean("x"), dp.variance("x"), dp.std("x"), dp.covariance("x", "y")])
def test_the_half_width_of_what_is_divided_falls_with_the_rows(aggregate):
    found = made(aggregate)
    assert found.sized
    assert found.half_width(rows=10_000) < found.half_width(rows=1000)


def test_the_half_width_of_a_count_is_that_of_its_noise():
    found = made(dp.count(), rows=5)
    assert not found.sized
    assert found.half_width() == found.half_width(rows=10**6) == found.statistic.error(0.05) / GRAIN
    rows = made(dp.count(), rows=5, people=False)
    assert rows.half_width() == rows.statistic.error(0.05)
    # Counted in parts of rows, noise is as wide as it was: within one row.
    assert found.half_width() == pytest.approx(rows.half_width(), abs=1)


@pytest.mark.parametrize(
    "aggregate",
    [dp.count(), dp.sum("x"), dp.mean("x"), dp.variance("x"), dp.covariance("x", "y"), dp.correlation("x", "y")],
)
def test_what_is_said_of_weighed_rows_is_said_in_rows(aggregate):
    weighed, whole = (made(aggregate, rows=4, groups=4, people=people) for people in (True, False))
    assert (weighed.grain, whole.grain) == (GRAIN, 1)
    assert weighed.sensitivity == whole.sensitivity
    assert weighed.noise == whole.noise
    assert weighed.half_width(rows=1000) == pytest.approx(whole.half_width(rows=1000), rel=0.1)
    assert weighed.loss.peak == whole.loss.peak


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


def test_gaussian_noise_over_groups_is_charged_for_every_group_that_weights_reach():
    """Someone with more rows than count may be in any number of groups: no loss of one entry covers that."""
    price = Price.of(rho=Fraction(1, 2))
    grouped = made(dp.count(), price, rows=3, groups=1)
    assert grouped.loss == Zcdp(grouped.loss.rho)
    assert float(grouped.loss.rho) == pytest.approx(0.5)
    alone = made(dp.count(), price, rows=3, groups=1, keyed=False)
    assert isinstance(alone.loss, DiscreteGaussian)


@pytest.mark.parametrize("aggregate", [dp.count(), dp.sum("x"), dp.mean("x"), dp.variance("x"), dp.std("x")])
def test_many_groups_have_the_quantity_that_each_would_have_alone_and_it_is_worked_out_once(aggregate):
    found, asked = made(aggregate), []
    counting = replace(found, quantity=lambda noisy: asked.append(1) or found.quantity(noisy))
    size = found.statistic.parts
    noisy = found.statistic.supposed([[group * 7 + part for part in range(size)] for group in range(50)])
    groups = counting.integers(noisy, "mark")
    assert counting.computed(groups) == [found.quantity(group) for group in groups]
    assert len(asked) == 1
    assert counting.computed([]) == []
