"""Answers to look at and to calculate with, made of drawn noise as a query makes them."""

import datetime as dt
from fractions import Fraction

import discreet as dp
from discreet import noise
from discreet.answers.answer import Answer, AnswerColumn
from discreet.answers.quantity import BracketedValue, NoisyInteger, linear
from discreet.measures import moments
from discreet.testing import seeded

WARDS = [("A", 1204, 812), ("B <b>&", 640, 1290), ("C", 87, 455), ("D", 0, 0)]


def noisy(name, exact, scale, law="laplace"):
    """Draw one noisy integer."""
    drawn = noise.laplace(Fraction(scale)) if law == "laplace" else noise.gaussian(Fraction(scale))
    return NoisyInteger(name, exact + drawn, law, Fraction(scale))


def wards(mark="7", seed=3, receipt=None):
    """Return count, mean and median by ward."""
    with seeded(seed):
        counts = [linear(noisy(f"{mark}.n.{ward}", n, 2)) for ward, n, _ in WARDS]
        costs = [
            moments.mean(
                (noisy(f"{mark}.a.{ward}", n * cost, 10_000), noisy(f"{mark}.b.{ward}", n * (5000 - cost), 10_000)),
                Fraction(0),
                Fraction(5000),
                step=Fraction(1),
            )
            for ward, n, cost in WARDS
        ]
    columns = [
        AnswerColumn("n", counts, "count", "number of rows", "count", "Laplace, scale 2", "epsilon 0.2"),
        AnswerColumn("cost", costs, "mean", "mean of cost", "mean", "Laplace, scale 10,000", "epsilon 0.2"),
        AnswerColumn(
            "age", [BracketedValue(41, 39, 44)] * 4, "quantile", "median of age", "quantile", "", "epsilon 0.1"
        ),
    ]
    return Answer(
        keys=("ward",),
        rows=[(ward,) for ward, _, _ in WARDS],
        columns=columns,
        loss=dp.Pure(Fraction(1, 2)),
        asked={"epsilon": "0.5"},
        unit="one person (patient_id), with at most 20 rows, added or removed",
        notes=("cost: values above 5,000 count as 5,000",),
        receipt=receipt or {"sequence": 7, "head": "3f9a01"},
        remaining="epsilon 2.5 of 3",
    )


def single(exact=1000, scale=2, name="n", mark="8"):
    """Return one count without groups."""
    with seeded(4):
        quantity = linear(noisy(f"{mark}.{name}", exact, scale))
    return Answer(keys=(), rows=[()], columns=[AnswerColumn(name, [quantity], "count", "number of rows")])


def days():
    """Return counts by day and kind: dates, booleans and a missing key."""
    rows = [(dt.date(2024, 2, 28), True), (dt.date(2024, 2, 29), False), (None, None)]
    with seeded(5):
        quantities = [linear(noisy(f"9.{at}", 10 * at, 3, "gaussian")) for at in range(3)]
    return Answer(keys=("day", "urgent"), rows=rows, columns=[AnswerColumn("visits", quantities, "count")])
