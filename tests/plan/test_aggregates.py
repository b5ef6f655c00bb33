"""Aggregates: values with records, made from names or expressions."""

import datetime as dt
import json
from fractions import Fraction

import pytest

import discreet as dp
from discreet.core.errors import Refusal
from discreet.plan import aggregates as ask
from discreet.plan.expressions import Name

COLUMNS = {
    name: column.named(name)
    for name, column in {
        "age": dp.between(0, 110),
        "ward": dp.one_of("A", "B"),
        "day": dp.date("2024-01-01", "2024-12-31"),
        "sick": dp.flag(),
        "note": dp.text(),
    }.items()
}
ALL = [
    ask.count(),
    ask.count("note"),
    ask.people(),
    ask.sum("age"),
    ask.mean(Name("age") * 2),
    ask.variance("age"),
    ask.std("age"),
    ask.median("age"),
    ask.quantile("day", 0.25, 0.75),
    ask.quantile("age", 0.9),
    ask.min("age"),
    ask.max("day"),
    ask.histogram("age", edges=[0, 18, 65.5, 110]),
    ask.histogram("day", edges=["2024-01-01", dt.date(2024, 7, 1), "2024-12-31"]),
    ask.histogram("ward"),
    ask.histogram("note", keys=["x", "y"]),
    ask.cdf("age", [18, 65]),
    ask.covariance("age", Name("sick").as_number()),
    ask.correlation("age", Name("sick").as_number()),
    ask.top_k("ward", 1),
]


@pytest.mark.parametrize("aggregate", ALL, ids=lambda each: type(each).__name__)
def test_every_aggregate_comes_back_from_its_record(aggregate):
    back = ask.aggregate_from_record(json.loads(json.dumps(aggregate.record())))
    assert type(back) is type(aggregate)
    assert back == aggregate
    assert hash(back) == hash(aggregate)
    assert ask.check(back, COLUMNS) == ask.check(aggregate, COLUMNS)


def test_every_kind_of_aggregate_is_tested():
    assert {type(each) for each in ALL} == set(ask.AGGREGATES.values())


def test_aggregates_that_differ_are_not_equal():
    assert len(set(ALL)) == len(ALL)
    assert ask.sum("age") != ask.sum(Name("age") + 0)
    assert ask.quantile("age", 0.5) == ask.median("age")


def test_shares_are_exact_as_written():
    assert ask.quantile("age", 0.1, 0.9).q == (Fraction(1, 10), Fraction(9, 10))
    assert not ask.quantile("age", 0.1, 0.9).single


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: ask.quantile("age", 1.5),
            (
                "q=['3/2']: quantiles lie between 0 and 1 and are listed once each, rising. "
                "Fix: use quantile(x, 0.25, 0.75)."
            ),
        ),
        (
            lambda: ask.quantile("age", 0.5, 0.25),
            (
                "q=['1/2', '1/4']: quantiles lie between 0 and 1 and are listed once each, rising. "
                "Fix: use quantile(x, 0.25, 0.75)."
            ),
        ),
        (lambda: ask.top_k("ward", 0), "k=0: it says how many keys are wanted. Fix: use a positive integer."),
        (
            lambda: ask.cdf("age", []),
            (
                "thresholds=[]: there are at least 1 of one kind, each larger than the one before. "
                "Fix: use (10, 20, 30), for example."
            ),
        ),
        (
            lambda: ask.histogram("age", edges=[1, "2024-01-01"]),
            (
                "edges=['1', '2024-01-01']: there are at least 2 of one kind, each larger than the one before. "
                "Fix: use (10, 20, 30), for example."
            ),
        ),
        (
            lambda: ask.histogram("age", edges=[1, 2], keys=["A"]),
            "keys=('A',): bins have edges or keys, not both. Fix: leave one of them out.",
        ),
        (
            lambda: ask.sum(3),
            "column=3: it is neither a name nor an expression. Fix: write 'age' or table.age.",
        ),
        (
            lambda: ask.check(ask.sum("ward"), COLUMNS),
            "ward: it is a category, and sum takes a number. Fix: use a number column.",
        ),
        (
            lambda: ask.check(ask.mean("sick"), COLUMNS),
            "sick: it is a flag, and mean takes a number. Fix: convert it with as_number().",
        ),
        (
            lambda: ask.check(ask.mean("aeg"), COLUMNS),
            "column 'aeg': there is no column of that name. Fix: did you mean 'age'?",
        ),
    ],
)
def test_what_means_nothing_is_refused_with_the_fix(make, text):
    with pytest.raises(Refusal) as refused:
        make()
    assert str(refused.value) == text


@pytest.mark.parametrize(
    "record",
    [
        None,
        {},
        {"aggregate": "avg"},
        {"aggregate": "sum"},
        {"aggregate": "sum", "of": 3},
        {"aggregate": "sum", "of": None},
        {"aggregate": "sum", "of": {"name": "x"}, "more": 1},
        {"aggregate": "top_k", "of": {"name": "x"}, "k": "3"},
        {"aggregate": "quantile", "of": {"name": "x"}, "q": ["1/2"], "single": True},
        {"aggregate": "cdf", "of": {"name": "x"}, "thresholds": [{"text": "a"}]},
        {"aggregate": "histogram", "of": {"name": "x"}, "edges": None, "keys": [1, "a"]},
    ],
)
def test_a_forged_record_is_refused(record):
    with pytest.raises(Refusal):
        ask.aggregate_from_record(record)
