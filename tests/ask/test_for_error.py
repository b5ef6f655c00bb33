"""Offer: the least price for the half-widths that were asked for."""

from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.schema import between, one_of, text
from discreet.core.unit import person, row
from tests.curator.questions import opened

COLUMNS = {"ward": one_of("A", "B"), "cost": between(0, 1000), "city": text()}
DATA = {"id": [1, 2], "ward": ["A", "B"], "cost": [1, 900], "city": ["Bern", "Bern"]}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("offer")
    units = {"row": row(), "person": person("id", max_rows=5)}
    return {name: opened(folder, DATA, unit=unit, columns=COLUMNS).table("visits") for name, unit in units.items()}


def halves(offer):
    return {
        line.column: line.half_width if line.half_width is not None else line.ranks for line in offer.preview().lines
    }


@pytest.mark.parametrize("unit", ["row", "person"])
@pytest.mark.parametrize("delta", [None, 1e-6])
def test_an_offer_gives_the_half_widths_and_little_less_would_not(tables, unit, delta):
    report = tables[unit].group_by("ward").agg(n=dp.count(), cost=dp.mean("cost"), half=dp.median("cost"))
    wanted = {"n": 40, "cost": 30, "half": 500}
    offer = report.for_error(**wanted, rows=5000, delta=delta)
    found = halves(offer)
    assert all(found[name] <= wanted[name] for name in wanted)
    cheaper = report.weighted(**dict(offer.report.weights)).preview(
        offer.epsilon * Fraction(98, 100), offer.delta or None, rows=5000
    )
    assert any((line.half_width or line.ranks) > wanted[line.column] for line in cheaper.lines)


def test_a_delta_makes_many_columns_cheaper_and_never_dearer(tables):
    table = tables["person"]
    many = table.agg(**{f"c{i}": dp.sum(table.cost + i) for i in range(30)})
    wanted = {f"c{i}": 100_000 for i in range(30)}
    plain, with_delta = many.for_error(**wanted), many.for_error(**wanted, delta=1e-6)
    assert with_delta.epsilon < plain.epsilon
    assert all(half <= 100_000 for half in halves(with_delta).values())
    single = tables["row"].count()
    assert single.for_error(count=20, delta=1e-9).epsilon == single.for_error(count=20).epsilon


def test_an_offer_for_a_bought_bound_leaves_enough_for_the_answer(tables):
    report = tables["person"].count()
    offer = report.for_error(count=50, max_rows="auto")
    assert halves(offer)["count"] <= 50
    assert offer.epsilon > report.for_error(count=50).epsilon


def test_a_histogram_and_quantiles_have_offers_too(tables):
    histogram = tables["row"].agg(h=dp.histogram("cost", edges=[0, 500, 1000])).for_error(h=25)
    assert halves(histogram)["h"] <= 25
    assert histogram.epsilon == pytest.approx(3 / 25, rel=0.05)


def test_an_offer_is_released_at_its_price(tables):
    offer = tables["row"].count().for_error(count=30)
    answer = offer.release()
    low, high = answer.interval()
    assert (high - low) / 2 <= 30
    assert answer.loss.epsilon(0) <= float(offer.epsilon)
    assert str(offer).startswith("epsilon 0.098")


def test_offers_that_cannot_be_made_are_refused_with_the_fix(tables):
    report = tables["row"].agg(n=dp.count(), cost=dp.mean("cost"))
    with pytest.raises(UnknownName, match="did you mean 'cost'"):
        report.for_error(n=5, costs=3)
    with pytest.raises(BadParameter, match="name them all"):
        report.for_error(n=5)
    with pytest.raises(BadParameter, match="depends on how many rows"):
        report.for_error(n=5, cost=3)
    for wrong in (0, -3):
        with pytest.raises(BadParameter, match="never zero"):
            report.for_error(n=wrong, cost=3, rows=100)
    with pytest.raises(BadParameter, match="declare the keys"):
        tables["row"].group_by("city").agg(n=dp.count()).for_error(n=5)
    for wrong in (0, 0.5, 1, -0.1, float("nan"), "0.05", None):
        with pytest.raises(BadParameter, match="beta"):
            tables["row"].count().for_error(count=5, beta=wrong)
    with pytest.raises(BadParameter, match="no epsilon up to 10,000 is enough"):
        tables["row"].agg(cost=dp.mean("cost")).for_error(cost=1e-9, rows=10)


@pytest.mark.parametrize(
    ("aggregate", "least"), [(dp.std("cost"), "0.001"), (dp.variance("cost"), "0.001"), (dp.cdf("cost", [5]), "0.0001")]
)
def test_chances_that_no_half_width_is_known_for_are_refused(tables, aggregate, least):
    report = tables["row"].agg(found=aggregate)
    assert report.for_error(found=4e4, rows=10**6, beta=float(least)).epsilon > 0
    with pytest.raises(BadParameter, match=f"use {least} or more"):
        report.for_error(found=4e4, rows=10**6, beta=1e-5)


@pytest.mark.parametrize("aggregate", [dp.median("cost"), dp.min("cost"), dp.max("cost"), dp.count()])
def test_whoever_wants_to_be_surer_pays_more_for_quantiles_too(tables, aggregate):
    usual, sure = (
        tables["row"].agg(found=aggregate).for_error(found=40, beta=beta) for beta in (0.05, Fraction(1, 10**6))
    )
    assert halves(usual)["found"] <= 40
    assert sure.epsilon > 1.5 * usual.epsilon
    again = tables["row"].agg(found=aggregate).for_error(found=40, beta=np.float64(0.05))
    assert again.epsilon == usual.epsilon
