"""Measures made for tests: one aggregate at a price, for a unit that reaches so far."""

from fractions import Fraction

from discreet.account.budgets.price import Price
from discreet.core.schema import between, date, flag, one_of
from discreet.measures.measure import measure_of
from discreet.measures.reach import Reach

COLUMNS = {
    "x": between(-3, 7, step=Fraction(1, 2)).named("x"),
    "y": between(0, 4).named("y"),
    "n": between(0, 100, step=5).named("n"),
    "ward": one_of("A", "B").named("ward"),
    "urgent": flag().named("urgent"),
    "day": date("2024-01-01", "2024-12-31").named("day"),
}


def reach(rows=1, groups=1, relation="add_remove", people=True, size=None, keyed=True, **others):
    """How far a unit reaches: one row in one group, unless it is said otherwise."""
    return Reach(COLUMNS, rows, groups, relation, size, people, keyed=keyed, **others)


def made(aggregate, price=None, **others):
    """The measure of an aggregate, at epsilon 1 unless it is said otherwise."""
    return measure_of("value", aggregate, price or Price.of(epsilon=1), reach(**others))
