"""Schemas: constructors say what they mean, snap bounds inwards, and refuse slips."""

import dataclasses
import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.core.errors import BadParameter, UnknownName
from discreet.core.schema import Table, between, date, flag, one_of, text
from discreet.core.unit import person, row

UNIT = person("patient_id", max_rows=20)


def test_bounds_are_snapped_inwards_so_that_rounding_cannot_leave_them():
    tenths = between(0, 0.25, step=0.1)
    assert tenths.steps == (0, 2)
    assert tenths.bounds == (0, Fraction(1, 5))
    assert between(-0.25, 0.25, step=0.1).steps == (-2, 2)


@given(
    st.fractions(-1000, 1000, max_denominator=100),
    st.fractions(-1000, 1000, max_denominator=100),
    st.fractions(Fraction(1, 100), 10, max_denominator=100),
)
def test_the_steps_are_exactly_the_multiples_within_the_bounds(low, high, step):
    assume(low <= high and math.ceil(low / step) <= math.floor(high / step))
    first, last = between(low, high, step=step).steps
    assert (first - 1) * step < low <= first * step
    assert last * step <= high < (last + 1) * step


def test_a_float_step_is_the_decimal_it_prints():
    assert between(0, 1, step=0.1) == between(0, 1, step=Decimal("0.1")) == between(0, 1, step=Fraction(1, 10))
    assert between(0, 0.3, step=0.1).steps == (0, 3)


def test_whole_bounds_have_the_step_one():
    assert between(0, 110).step == 1
    assert between(0.0, 110.0) == between(0, 110)


def test_a_single_value_is_a_range_too():
    assert between(3, 3).steps == (3, 3)


@pytest.mark.parametrize(("low", "high", "name"), [(0.5, 2, "low"), (0, Fraction(1, 3), "high")])
def test_a_resolution_that_cannot_be_known_has_to_be_said(low, high, name):
    with pytest.raises(BadParameter, match="add a step") as refused:
        between(low, high)
    assert refused.value.name == name


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"low": 2, "high": 1}, "low"),
        ({"low": float("nan"), "high": 1}, "low"),
        ({"low": 0, "high": float("inf")}, "high"),
        ({"low": 0, "high": True}, "high"),
        ({"low": "0", "high": 1}, "low"),
        ({"low": 0, "high": 1, "step": 0}, "step"),
        ({"low": 0, "high": 1, "step": -0.1}, "step"),
        ({"low": 0, "high": 1, "step": float("nan")}, "step"),
        ({"low": 0.01, "high": 0.09, "step": 0.1}, "step"),
        ({"low": 0, "high": 1, "nullable": None}, "nullable"),
    ],
)
def test_numbers_that_make_no_sense_are_refused_by_name(arguments, name):
    with pytest.raises(BadParameter) as refused:
        between(**arguments)
    assert refused.value.name == name


@pytest.mark.parametrize(
    "keys", [(), ("A", "A"), ("A", 1), (1, True), (1.5, 2.5), (None,), (["A", "B"],), ("a\0",), ("\ud800",)]
)
def test_keys_that_make_no_sense_are_refused(keys):
    with pytest.raises(BadParameter) as refused:
        one_of(*keys)
    assert refused.value.name == "keys"


def test_keys_keep_their_order():
    assert one_of("B", "A").keys == ("B", "A")
    assert one_of(3, 1, 2).keys == (3, 1, 2)


def test_dates_are_counted_in_days():
    assert date("1970-01-01", dt.date(1970, 1, 31)).steps == (0, 30)
    assert date("1969-12-31", "1970-01-01").steps == (-1, 0)


@pytest.mark.parametrize(
    ("first", "last", "name"),
    [
        ("2024-02-01", "2024-01-01", "first"),
        ("2024-02-30", "2024-03-01", "first"),
        ("2024-01-01", dt.datetime(2024, 1, 1, 12), "last"),
        ("2024-01-01", 20240101, "last"),
        (None, "2024-01-01", "first"),
    ],
)
def test_days_that_make_no_sense_are_refused_by_name(first, last, name):
    with pytest.raises(BadParameter) as refused:
        date(first, last)
    assert refused.value.name == name


def test_a_flag_is_nought_or_one():
    assert flag().steps == (0, 1)


@pytest.mark.parametrize("make", [lambda **k: between(0, 1, **k), lambda **k: one_of("A", **k), text, flag])
def test_nulls_may_occur_unless_promised_otherwise(make):
    assert make().nullable
    assert not make(nullable=False).nullable


def visits(**changes):
    declared = {"age": between(0, 110), "ward": one_of("A", "B"), "day": date("2020-01-01", "2020-12-31")}
    return Table(**{"name": "visits", "unit": UNIT, "columns": declared, **changes})


def test_a_table_names_its_columns():
    table = visits(rows=1000, source="visits.parquet")
    assert list(table) == ["age", "ward", "day"]
    assert table["age"].name == "age"
    assert table["age"].steps == (0, 110)


def test_a_table_is_a_frozen_hashable_value():
    assert hash(visits()) == hash(visits())
    with pytest.raises(dataclasses.FrozenInstanceError):
        visits().rows = 3
    assert dataclasses.replace(visits(), rows=7) == visits(rows=7)


def test_a_table_survives_json():
    table = visits(rows=1000, source="visits.parquet")
    assert Table.from_json(table.to_json()) == table
    assert Table.from_json(visits(unit=row()).to_json()) == visits(unit=row())


def test_an_unknown_column_is_refused_with_the_nearest():
    with pytest.raises(UnknownName) as refused:
        visits()["aeg"]
    assert refused.value.near == ("age",)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"name": ""}, "name"),
        ({"unit": None}, "unit"),
        ({"unit": "patient_id"}, "unit"),
        ({"rows": 0}, "rows"),
        ({"rows": True}, "rows"),
        ({"rows": 1e6}, "rows"),
        ({"source": ""}, "source"),
        ({"columns": {}}, "columns"),
        ({"columns": "age"}, "columns"),
        ({"columns": between(0, 1)}, "columns"),
        ({"columns": {"age": (0, 110)}}, "columns['age']"),
        ({"columns": {"": flag()}}, "name"),
        ({"columns": [flag()]}, "columns"),
        ({"columns": [flag().named("a"), text().named("a")]}, "columns"),
    ],
)
def test_tables_that_make_no_sense_are_refused_by_name(changes, name):
    with pytest.raises(BadParameter) as refused:
        visits(**changes)
    assert refused.value.name == name


@pytest.mark.parametrize("change", [{"columns": {}}, {"unit": {}}, {"rows": -1}, {"colour": "red"}])
def test_stored_tables_are_checked_anew(change):
    with pytest.raises(BadParameter):
        Table.from_record({**visits().record(), **change})
