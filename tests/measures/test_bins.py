"""Binned measures: which value falls into which bin, and what all bins cost together."""

import datetime as dt

import pytest

import discreet as dp
from discreet.core.errors import BadParameter
from discreet.core.schema import between, date, flag, one_of, text
from discreet.core.unit import row
from discreet.plan.nodes import public
from discreet.testing import seeded
from tests.curator.questions import UNITS, answered, opened

DATA = {
    "id": range(8),
    "x": [0, 0.5, 9.5, 10, 10.5, 20, 99, None],
    "kind": ["p", "q", "p", "r", None, "p", "q", "Z"],
    "sure": [True, False, None, True, True, False, False, True],
    "day": [dt.date(2024, 1, day) for day in range(1, 9)],
    "city": ["Bern", "Basel", "Bern", "Genf", "Bern", None, "Basel", "Rom"],
}
COLUMNS = {
    "x": between(0, 20, step=0.5),
    "kind": one_of("r", "q", "p"),
    "sure": flag(),
    "day": date("2024-01-01", "2024-12-31"),
    "city": text(),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return opened(tmp_path_factory.mktemp("binned"), DATA, unit=row(), columns=COLUMNS).table("visits")


def exactly(report):
    with seeded(2):
        (answer,) = answered(report.asked(epsilon=10**12))
    return [tuple(row.values())[: len(answer.keys) + 1] for row in answer]


def test_bins_are_closed_below_and_the_last_one_above_too(table):
    found = exactly(table.agg(n=dp.histogram("x", edges=[0, 10, 20])))
    # 99 counts as 20, the upper bound; null is in no bin.
    assert found == [("[0, 10)", 3), ("[10, 20]", 4)]


def test_values_outside_the_edges_are_in_no_bin(table):
    assert exactly(table.agg(n=dp.histogram("x", edges=[0.5, 10]))) == [("[0.5, 10]", 3)]


def test_edges_between_two_steps_divide_what_lies_on_their_sides(table):
    assert exactly(table.agg(n=dp.histogram("x", edges=[0, 9.75, 20]))) == [("[0, 9.75)", 3), ("[9.75, 20]", 4)]


def test_edges_that_no_step_tells_apart_are_refused(table):
    with pytest.raises(BadParameter, match="between the same two steps"):
        table.agg(n=dp.histogram("x", edges=[0, 9.6, 9.7, 20])).asked(epsilon=1)


def test_keys_are_counted_in_the_order_of_their_declaration(table):
    assert exactly(table.agg(n=dp.histogram("kind"))) == [("r", 1), ("q", 2), ("p", 3)]
    assert exactly(table.agg(n=dp.histogram("sure"))) == [(False, 3), (True, 4)]


def test_given_keys_are_read_as_the_column_has_them(table):
    assert exactly(table.agg(n=dp.histogram("city", keys=["Rom", "Bern", "Oslo"]))) == [
        ("Rom", 1),
        ("Bern", 3),
        ("Oslo", 0),
    ]
    assert exactly(table.agg(n=dp.histogram("x", keys=[10, 20]))) == [(10, 1), (20, 2)]
    with pytest.raises(BadParameter, match="cannot hold it"):
        table.agg(n=dp.histogram("kind", keys=["nobody"])).asked(epsilon=1)


def test_days_are_binned_by_days(table):
    found = exactly(table.agg(n=dp.histogram("day", edges=["2024-01-01", "2024-01-03", "2024-01-08"])))
    assert found == [("[2024-01-01, 2024-01-03)", 2), ("[2024-01-03, 2024-01-08]", 6)]
    with pytest.raises(BadParameter, match="dates for dates"):
        table.agg(n=dp.histogram("day", edges=[0, 5])).asked(epsilon=1)


def test_a_cdf_counts_what_lies_at_or_below_and_all(table):
    found = exactly(table.agg(n=dp.cdf("x", [0, 9.5, 10])))
    assert [label for label, _ in found] == [0, 9.5, 10, "all"]
    assert [value for _, value in found] == pytest.approx([1, 3, 4, 7], abs=1e-3)


def test_top_k_lists_the_most_frequent_keys(table):
    assert exactly(table.agg(best=dp.top_k("kind", 2))) == [(1, "p"), (2, "q")]
    with pytest.raises(BadParameter, match="use at most 3"):
        table.agg(best=dp.top_k("kind", 4)).asked(epsilon=1)


def test_groups_and_bins_make_a_table_in_order(table):
    found = exactly(table.group_by("sure").agg(n=dp.histogram("kind")))
    assert [row[:2] for row in found] == [(sure, kind) for sure in (False, True) for kind in ("r", "q", "p")]
    assert [row[2] for row in found] == [0, 2, 1, 1, 0, 1]


def test_bins_of_groups_that_were_listed_are_those_of_these_groups(table):
    listed = public("listed", {"kind": ["q", "p"], "sure": [False, True]})
    found = exactly(table.group_by("kind", "sure", keys=listed).agg(n=dp.histogram("x", edges=[0, 10, 20])))
    assert found == [
        ("q", False, "[0, 10)", 1),
        ("q", False, "[10, 20]", 1),
        ("p", True, "[0, 10)", 1),
        ("p", True, "[10, 20]", 0),
    ]


def test_expressions_are_binned_without_a_name(table):
    assert exactly(table.agg(n=dp.histogram(table.x >= 10))) == [(False, 3), (True, 4)]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "aggregate", [dp.histogram("kind"), dp.cdf("x", [5]), dp.top_k("kind", 2)], ids=["histogram", "cdf", "top_k"]
)
def test_all_bins_together_cost_the_price(tmp_path, unit, aggregate):
    table = opened(tmp_path, DATA, unit=UNITS[unit], columns=COLUMNS).table("visits")
    asked = table.agg(n=aggregate).asked(epsilon=1)
    assert asked.loss.epsilon(0) == pytest.approx(1)
    assert asked.loss.relation == UNITS[unit].relation
