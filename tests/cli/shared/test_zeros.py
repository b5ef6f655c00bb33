"""Combinations on a command line: values of every kind of column, and what is none of them."""

import datetime as dt
from fractions import Fraction

import pytest

from discreet import between, date, flag, one_of
from discreet.cli.shared.zeros import zeros_of
from discreet.core.errors import BadParameter, UnknownName

COLUMNS = {
    "age": between(0, 110),
    "cost": between(0, 5, step=0.25),
    "ward": one_of("A", "B", "null"),
    "site": one_of(1, 2, 3),
    "day": date("2024-01-01", "2024-12-31"),
    "married": flag(),
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("age=0:12,married=true", {"age": range(12), "married": [True]}),
        (" age = 3 | 4 , ward = A|B", {"age": [3, 4], "ward": ["A", "B"]}),
        ("cost=0.5:1.25", {"cost": [Fraction(1, 2), Fraction(3, 4), Fraction(1)]}),
        ("site=2,married=null", {"site": [2], "married": [None]}),
        ("ward=null", {"ward": ["null"]}),
        ("day=2024-02-28:2024-03-01", {"day": [dt.date(2024, 2, 28), dt.date(2024, 2, 29)]}),
        ("day=2024-02-28", {"day": [dt.date(2024, 2, 28)]}),
    ],
)
def test_values_are_read_as_their_column_has_them(text, found):
    assert zeros_of([text], COLUMNS) == [found]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "age",
        "age=",
        "age=1,age=2",
        "age=old",
        "married=perhaps",
        "day=tomorrow",
        "cost=2:0.5",
        "day=2024-03-01:2024-02-01",
    ],
)
def test_what_is_no_combination_is_refused(text):
    with pytest.raises(BadParameter) as refused:
        zeros_of([text], COLUMNS)
    assert refused.value.fix


def test_a_misspelt_column_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match="age"):
        zeros_of(["aeg=1"], COLUMNS)
