"""Declarations in a few words: columns, units, budgets and expiries, exactly as written."""

import datetime as dt
from fractions import Fraction

import pytest

from discreet.account.budgets.budget import Budget
from discreet.core.errors import BadParameter, Refusal
from discreet.core.schema import between, date, flag, one_of, text
from discreet.core.unit import person, row
from discreet.curator.declare import budget_of, column_of, expiry_of, unit_of


@pytest.mark.parametrize(
    ("words", "column"),
    [
        ("0..110", between(0, 110)),
        ("-5..5", between(-5, 5)),
        ("0..50000:0.01", between(0, 50_000, step=0.01)),
        ("0..1:1/3", between(0, 1, step=Fraction(1, 3))),
        ("0..110!", between(0, 110, nullable=False)),
        ("2020-01-01..2024-12-31", date("2020-01-01", "2024-12-31")),
        ("A,B,C", one_of("A", "B", "C")),
        ('A, "Intensive, Care" ,5" tube', one_of("A", "Intensive, Care", '5" tube')),
        ('"a..b"!', one_of("a..b", nullable=False)),
        ('"say ""A""", B ', one_of('say "A"', "B")),
        ("A, B", one_of("A", "B")),
        ("A,", one_of("A")),
        ("1,2,3", one_of(1, 2, 3)),
        ("1,2,x", one_of("1", "2", "x")),
        ("flag", flag()),
        ("text !", text(nullable=False)),
    ],
)
def test_a_column_is_read_from_a_few_words(words, column):
    assert column_of(words) == column


@pytest.mark.parametrize(
    "words", ["", "A", "txt", "0-110", "0..", "..", "5..1", "a..b", "0..1:0", ",", '"A', '"A"B,C', '""']
)
def test_a_column_that_says_nothing_is_refused(words):
    with pytest.raises(Refusal):
        column_of(words)


def test_a_unit_is_a_row_or_a_person():
    assert unit_of("row") == row()
    assert unit_of("row", relation="replace") == row(relation="replace")
    assert unit_of("person:id", max_rows=3, max_groups=None) == person("id", max_rows=3)


@pytest.mark.parametrize(
    ("words", "limits", "fix"),
    [
        ("person", {}, "write row, person:patient_id or via:"),
        ("people:id", {}, "write row, person:patient_id or via:"),
        ("person:id", {}, "use the most one person should count for"),
        ("row", {"max_rows": 3}, "leave it out"),
    ],
)
def test_a_unit_that_is_none_is_refused_with_the_fix(words, limits, fix):
    with pytest.raises(BadParameter, match=fix):
        unit_of(words, **limits)


def test_a_budget_is_exact():
    assert budget_of("0.1", "1e-6", None) == Budget(epsilon=Fraction(1, 10), delta=Fraction(1, 10**6))
    assert budget_of(None, None, "1/3") == Budget(rho=Fraction(1, 3))
    assert budget_of(None, None, None) is None
    with pytest.raises(BadParameter):
        budget_of(None, "1e-6", None)


def test_an_expiry_is_a_span_or_a_day():
    now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    assert expiry_of("30d", now=now) == now + dt.timedelta(days=30)
    assert expiry_of("12h", now=now) == now + dt.timedelta(hours=12)
    assert expiry_of("8w", now=now) == now + dt.timedelta(weeks=8)
    assert expiry_of("2027-01-31") == dt.datetime(2027, 1, 31, tzinfo=dt.UTC)
    for bad in ("soon", "30", "2027-02-31", "9" * 30 + "d"):
        with pytest.raises(BadParameter, match="neither a duration nor a date"):
            expiry_of(bad)
