"""Tables in words: what was declared of a column, exactly and in one line."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.ask.declaration import column_words
from discreet.ask.description import step_words
from discreet.plan.expressions import Name
from discreet.plan.nodes import Filter, Scan

WORDS = {
    "0 to 110 in steps of 1": dp.between(0, 110),
    "-0.25 to 12,345.75 in steps of 0.25": dp.between(-0.25, 12345.75, step=0.25),
    "0 to 2/3 in steps of 1/3": dp.between(0, Fraction(2, 3), step=Fraction(1, 3)),
    "7": dp.between(7, 7),
    "0 to 1,000,000,000,000,000,000,000 in steps of 1, no nulls": dp.between(0, 10**21, nullable=False),
    "2020-01-01 to 2024-02-29": dp.date("2020-01-01", "2024-02-29"),
    "A, B, C": dp.one_of("A", "B", "C"),
    "1, 2, 3, 4, 5, 6, 7, 8, ... (100 keys)": dp.one_of(*range(1, 101)),
    "true or false, no nulls": dp.flag(nullable=False),
    "any text": dp.text(),
}


@pytest.mark.parametrize("words", WORDS)
def test_a_column_is_said_in_words(words):
    assert column_words(WORDS[words].named("x")) == words


def test_long_keys_are_cut_to_a_line():
    column = dp.one_of(*(f"a ward with a long name, number {number}" for number in range(20)))
    assert column_words(column) == "a ward with a long name, number 0, ... (20 keys)"
    assert len(column_words(dp.one_of("x" * 500))) < 60


def test_a_long_step_is_cut():
    (step,) = step_words(Filter(Scan("t"), Name("x") == "y" * 1000))
    assert len(step) < 200
    assert step.startswith("keep rows where x == 'yyy")
