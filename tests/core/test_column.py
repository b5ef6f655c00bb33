"""Columns: strict declarations that survive JSON."""

import datetime as dt
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.column import Column
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.schema import between, date, flag, one_of, text

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
numbers = st.builds(
    lambda low, width, step: between(low * step, (low + width) * step, step=step),
    st.integers(-(10**9), 10**9),
    st.integers(0, 10**9),
    st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=1000),
)
categories = st.lists(texts, min_size=1, unique=True).map(lambda keys: one_of(*keys)) | st.lists(
    st.integers(), min_size=1, unique=True
).map(lambda keys: one_of(*keys))
dates = st.lists(st.dates(), min_size=2, max_size=2).map(lambda days: date(min(days), max(days)))
columns = st.one_of(numbers, categories, dates, st.just(text()), st.builds(flag, nullable=st.booleans()))


@given(columns, st.none() | texts.map("column{}".format))
def test_a_column_survives_json(column, name):
    column = column if name is None else column.named(name)
    assert Column.from_json(column.to_json()) == column


def test_a_stored_column_keeps_its_form():
    stored = (
        '{"discreet": 1, "column": {"name": "cost", "kind": "number", "bounds": ["-1/2", "3"], "step": "1/10",'
        ' "keys": null, "nullable": false}}'
    )
    column = between(-0.5, 3, step=0.1, nullable=False).named("cost")
    assert Column.from_json(stored) == column
    assert column.to_json() == stored


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "money"},
        {"bounds": ["0", "1/3"]},
        {"bounds": ["3", "0"]},
        {"bounds": ["0"]},
        {"bounds": "03"},
        {"bounds": ["0", "1e999999999"]},
        {"bounds": ["0", 3]},
        {"bounds": None},
        {"step": "0"},
        {"step": "-1/10"},
        {"step": "1/00"},
        {"step": "9" * 5000},
        {"step": 0.1},
        {"keys": ["A"]},
        {"keys": "A"},
        {"nullable": 1},
        {"name": ""},
        {"surplus": None},
    ],
)
def test_stored_columns_are_checked_anew(change):
    record = {**between(0, 3, step=0.1).record(), **change}
    with pytest.raises(Refusal):
        Column.from_json(json.dumps({"discreet": 1, "column": record}))


@pytest.mark.parametrize("bounds", [["2024-02-30", "2024-03-01"], ["2024-03-01", "2024-02-01"], [1, 2], ["1/2", "3"]])
def test_stored_dates_are_checked_anew(bounds):
    record = {**date("2024-01-01", "2024-12-31").record(), "bounds": bounds}
    with pytest.raises(BadParameter):
        Column.from_record(record)


def test_an_unknown_kind_is_refused_with_the_nearest():
    with pytest.raises(UnknownName) as refused:
        Column(None, "numbr", bounds=(Fraction(0), Fraction(1)), step=Fraction(1))
    assert refused.value.near == ("number",)


@pytest.mark.parametrize(
    "parts",
    [
        {"kind": "text", "keys": ("A",)},
        {"kind": "flag", "step": Fraction(1)},
        {"kind": "category"},
        {"kind": "number", "bounds": (Fraction(0), Fraction(1))},
        {"kind": "number", "bounds": (0.0, 1.0), "step": Fraction(1)},
        {"kind": "date", "bounds": (dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2))},
    ],
)
def test_a_kind_has_exactly_its_own_parts(parts):
    with pytest.raises(BadParameter):
        Column(None, **parts)


@pytest.mark.parametrize("column", [text(), one_of("A")])
def test_a_column_without_bounds_has_no_steps(column):
    with pytest.raises(Refusal, match="only numbers, dates and flags have bounds"):
        assert column.steps


@pytest.mark.parametrize("name", ["", " ", "a\0b", "\ud800", 3])
def test_a_name_that_cannot_be_read_or_stored_is_refused(name):
    with pytest.raises(BadParameter) as refused:
        between(0, 1).named(name)
    assert refused.value.name == "name"
