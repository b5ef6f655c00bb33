"""Keys: which groups an answer has, and in which order."""

import datetime as dt
from fractions import Fraction

import pytest

import discreet as dp
from discreet.core.errors import BadParameter, UnknownName
from discreet.plan.expressions import Name
from discreet.plan.keys import NO_KEYS, Key, Keys, bins, keys_of
from discreet.plan.nodes import public
from discreet.plan.types import type_of
from tests.plan import worlds

COLUMNS = {name: column.named(name) for name, column in worlds.COLUMNS.items()}


def test_declared_keys_are_listed_in_their_declared_order():
    keys = keys_of(("ill", "level"), COLUMNS)
    assert keys.listed() == ((False, 3), (False, 1), (False, 40), (True, 3), (True, 1), (True, 40))
    assert keys.names == ("ill", "level")
    assert keys.size == 6


def test_dates_and_numbers_are_listed_by_day_and_by_step():
    keys = keys_of(("day",), COLUMNS)
    assert keys.columns[0].shown(keys.listed()[0][0]) == dt.date(2024, 1, 30)
    assert keys.size == 4
    halves = keys_of(("x",), COLUMNS)
    assert halves.columns[0].shown(halves.listed()[1][0]) == -2.5


def test_months_and_years_are_keys_through_an_expression():
    month = type_of(Name("day").month(), COLUMNS)
    keys = keys_of(("month",), {**COLUMNS, "month": month})
    assert {1, 2} <= {value for (value,) in keys.listed()}


def test_text_without_declared_keys_is_selected():
    keys = keys_of(("ward", "note"), COLUMNS)
    assert keys.selected
    with pytest.raises(BadParameter):
        keys.listed()
    chosen = keys.chosen([("A", "fever"), ("b", "fever")])
    assert not chosen.selected
    assert chosen.listed() == (("A", "fever"), ("b", "fever"))


def test_given_keys_replace_the_declared_ones():
    keys = keys_of(("note", "day"), COLUMNS, {"note": ["fever", ""], "day": ["2024-01-31"]})
    assert keys.listed() == (("fever", 19753), ("", 19753))


def test_a_public_table_lists_its_own_keys_once():
    listed = public("p", {"level": ["A"], "ward": ["A"]})
    with pytest.raises(BadParameter):
        keys_of(("level",), COLUMNS, listed)
    wards = public("p", {"ward": ["b", "A", "b"], "ill": [True, True, True]})
    assert keys_of(("ward", "ill"), COLUMNS, wards).listed() == (("b", True), ("A", True))


def test_bins_count_the_edges_below():
    key = bins("age", COLUMNS["n"], [10, 20])
    assert key.values == (0, 1, 2)
    with pytest.raises(BadParameter):
        bins("age", COLUMNS["n"], [20, 10])


def test_without_columns_there_is_one_group():
    assert NO_KEYS.listed() == ((),)
    assert NO_KEYS.size == 1


@pytest.mark.parametrize("names", [("note", "note"), ("n", "x", "day", "level", "ward")])
def test_too_many_keys_and_keys_named_twice_are_refused(names):
    with pytest.raises(BadParameter):
        keys_of(names, COLUMNS)


def test_a_wide_number_needs_given_keys():
    wide = {"cost": dp.between(0, 10**9).named("cost")}
    with pytest.raises(BadParameter) as refused:
        keys_of(("cost",), wide)
    assert "round" in refused.value.fix
    assert keys_of(("cost",), wide, {"cost": [1, 5]}).listed() == ((1,), (5,))


def test_misspelt_columns_are_refused_with_the_nearest():
    with pytest.raises(UnknownName):
        keys_of(("wrad",), COLUMNS)
    with pytest.raises(UnknownName):
        keys_of(("ward",), COLUMNS, {"wart": ["A"]})


def test_null_and_repeated_values_are_no_keys():
    for values in ((None,), ("A", "A"), ()):
        with pytest.raises(BadParameter):
            Keys((Key("ward", COLUMNS["ward"], values),))


def test_keys_are_recorded_as_plain_json():
    record = keys_of(("ward",), COLUMNS).record()
    assert record["columns"][0]["values"] == list(worlds.COLUMNS["ward"].keys)


def test_keys_of_a_public_table_are_exact_where_a_decimal_would_have_no_end():
    thirds = dp.between(0, 1, step=Fraction(1, 3)).named("share")
    keys = keys_of(("share",), {"share": thirds}, public("p", {"share": [Fraction(2, 3), Fraction(1, 3)]}))
    assert keys.listed() == ((2,), (1,))


def test_listed_keys_that_no_number_could_tell_apart_are_refused():
    names = [f"c{place}" for place in range(20)]
    columns = {name: dp.between(0, 99).named(name) for name in names}
    with pytest.raises(BadParameter) as refused:
        keys_of(names, columns, public("p", dict.fromkeys(names, range(100))))
    assert "fewer" in refused.value.fix
