"""Ranked measures: quantiles with brackets that are bought, extremes with one that is."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.account.budgets.price import Price
from discreet.core.errors import BadParameter
from discreet.core.schema import between, date
from discreet.core.unit import person
from discreet.measures.measure import measure_of
from discreet.measures.reach import Reach
from discreet.testing import seeded
from tests.curator.questions import answered, opened

COLUMNS = {"x": between(0, 100, step=Fraction(1, 2)).named("x"), "day": date("2024-01-01", "2024-12-31").named("day")}


def made(aggregate, price=None, rows=1, relation="add_remove"):
    return measure_of("value", aggregate, price or Price.of(epsilon=1), Reach(COLUMNS, rows, 1, relation, None))


@pytest.mark.parametrize(
    ("aggregate", "many"), [(dp.median("x"), 1), (dp.quantile("x", 0.1, 0.9), 2), (dp.min("x"), 2), (dp.max("x"), 2)]
)
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_a_price_is_shared_by_the_values_and_the_ends_that_are_bought(aggregate, many, relation):
    found = made(aggregate, rows=4, relation=relation)
    assert sum(len(each.quantiles) for each in found.bought) == many
    assert found.loss.epsilon(0) == pytest.approx(1)
    assert found.loss.relation == relation
    assert made(aggregate, Price.of(rho=0.1)).loss.zcdp() == pytest.approx(0.1, rel=1e-6)


def test_the_interval_of_an_extreme_reaches_to_the_declared_bound(tmp_path):
    data = {"id": range(900), "x": [20 + i % 50 for i in range(900)]}
    columns = {"x": between(0, 100)}
    table = opened(tmp_path, data, unit=person("id", max_rows=1), columns=columns).table("visits")
    with seeded(4):
        (answer,) = answered(table.agg(low=dp.min("x"), high=dp.max("x")).asked(epsilon=10))
    low, high = (column.quantities[0] for column in answer.columns)
    assert (low.low, high.high) == (0, 100)
    assert 20 <= low.value <= low.high < 45
    assert 45 < high.low <= high.value <= 69


def test_values_are_written_as_the_column_has_them():
    assert made(dp.median("x")).written(7) == 3.5
    whole = measure_of(
        "value",
        dp.median("n"),
        Price.of(epsilon=1),
        Reach({"n": between(0, 100, step=5).named("n")}, 1, 1, "add_remove", None),
    )
    assert (whole.written(7), type(whole.written(7))) == (35, int)


def test_dates_have_no_quantiles_yet_and_are_refused_before_they_are_paid():
    with pytest.raises(dp.Refusal, match="takes a number"):
        made(dp.median("day"))


def test_ranks_grow_with_the_rows_of_a_person():
    assert made(dp.median("x"), rows=10).ranks > 5 * made(dp.median("x")).ranks


@pytest.mark.parametrize("aggregate", [dp.min("x"), dp.max("x")])
def test_the_half_width_at_the_usual_chance_is_that_of_the_ends_that_are_bought(aggregate):
    found = made(aggregate)
    assert found.half_width(0.05) == found.ranks == abs(found.bought[-1].offset)
    assert found.half_width(0.001) > found.ranks > found.half_width(0.3)


@pytest.mark.parametrize("aggregate", [dp.median("x"), dp.min("x")])
def test_a_price_too_small_for_any_bracket_is_refused_before_it_is_paid(aggregate):
    assert made(aggregate, Price.of(epsilon=1e-15)).loss.epsilon(0) == pytest.approx(1e-15)
    with pytest.raises(BadParameter, match="at so low a price"):
        _ = made(aggregate, Price.of(epsilon=1e-20)).loss
