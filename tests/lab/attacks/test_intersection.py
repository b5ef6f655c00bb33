"""Intersection: k-anonymous classes are what they should be, and two releases leave less than either."""

import json
import math

import numpy as np
import pytest

from discreet.core.errors import BadParameter
from discreet.lab import rand
from discreet.lab.attacks.intersection import expose, hospitals, intersection, mondrian, noisy, release_of
from discreet.lab.attacks.intersection.cells import Generalized, generalized
from discreet.lab.defence import ceiling
from discreet.lab.picture import svg
from discreet.lab.table_copy import TableCopy
from discreet.testing import FALSE_ALARM, seeded

QUASI = ["age", "site", "coinsurance", "female"]


@pytest.fixture(scope="module")
def people():
    return TableCopy.read(rand.path(), identifier="zper").people()


@pytest.mark.parametrize(("k", "diversity"), [(2, 1), (5, 1), (5, 2), (25, 3)])
def test_every_class_has_k_people_and_as_many_values_as_asked_for(people, k, diversity):
    release, classes = mondrian(people, QUASI, "health", k, diversity=diversity)
    assert release.least >= k
    assert release.diversity >= diversity
    assert np.bincount(classes).min() == release.least
    assert sum(sum(counts.values()) for counts in release.values) == people.rows


def test_classes_cannot_be_cut_further(people):
    # Strict cuts keep equal values together: a class of 2k people or more is held together by them.
    release, classes = mondrian(people, ["age"], "health", 5)
    ages = people.column("age")
    for place in np.flatnonzero(np.bincount(classes) >= 10):
        inside = np.sort(ages[classes == place])
        middle = np.median(inside)
        assert min((inside <= middle).sum(), (inside > middle).sum()) < 5
    assert len(release.cells) > people.rows / 12


def test_every_person_is_covered_by_the_cells_of_the_own_class(people):
    release, classes = mondrian(people, [*QUASI, "schooling"], "health", 5)
    columns = [people.column(name).tolist() for name in release.quasi]
    for row in range(0, people.rows, 97):
        cells = release.cells[classes[row]]
        assert all(cell.covers(column[row]) for cell, column in zip(cells, columns, strict=True))


def test_what_is_published_reads_as_the_same_release(people):
    release, _ = mondrian(people, QUASI, "health", 10)
    again = release_of(TableCopy.read(release.rows()), QUASI, "health")
    assert sorted(again.written) == sorted(release.written)
    assert again.least == release.least
    assert sorted(map(repr, (sorted(counts.items()) for counts in again.values))) == sorted(
        map(repr, (sorted(counts.items()) for counts in release.values))
    )


@pytest.mark.parametrize(("k", "diversity"), [(7, 1), (2, 3)])
def test_a_table_that_cannot_be_released_is_refused(k, diversity):
    small = TableCopy.read({"age": [1, 2, 3, 4, 5, 6], "ill": ["a", "b"] * 3})
    with pytest.raises(BadParameter, match="fewer than"):
        mondrian(small, ["age"], "ill", k, diversity=diversity)


@pytest.mark.parametrize(
    ("cell", "inside", "outside"),
    [
        ("30-39", [30, 39, 34.5, "31"], [29, 40, "x"]),
        ("30..39", [30, 39], [40]),
        ("-5 to 5", [-5, 0], [6]),
        ("[30, 40)", [30, 39.99], [40]),
        ("<18", [17, -3], [18]),
        ("<=18", [18], [19]),
        (">=65", [65, 90], [64]),
        ("65+", [65, 90], [64]),
        ("4790*", ["47901", "4790"], ["47801"]),
        ("a|b", ["a", "b"], ["c"]),
        ("{a, b}", ["a", "b"], ["c"]),
        ("*", ["anything", 5, None], []),
        (None, ["anything", 5, None], []),
        ("F", ["F"], ["M"]),
        (7, [7, 7.0, "7"], [8]),
        ("1e-05..3", [1e-05, 3], [0]),
    ],
)
def test_cells_are_read_as_people_write_them(cell, inside, outside):
    found = generalized(cell)
    assert all(found.covers(value) for value in inside)
    assert not any(found.covers(value) for value in outside)


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("30-39", "35-44", True),
        ("30-39", "40-49", False),
        ("[30, 40)", "40-49", False),
        ("30-39", "39", True),
        ("30-39", "41", False),
        ("479*", "4790*", True),
        ("479*", "48*", False),
        ("a|b", "{b, c}", True),
        ("a|b", "c", False),
        ("a", "*", True),
        ("4790*", "47905", True),
        ("F", "M", False),
    ],
)
def test_cells_meet_where_one_value_may_stand_behind_both(one, other, meet):
    assert generalized(one).meets(generalized(other)) is meet
    assert generalized(other).meets(generalized(one)) is meet


def test_an_unbounded_cell_leaves_everything_possible():
    assert Generalized().covers("x")
    assert Generalized().meets(generalized("30-39"))


FIRST = {
    "age": ["20-29"] * 3 + ["30-39"] * 3,
    "zip": ["479*"] * 6,
    "ill": ["flu", "cold", "aids", "flu", "cold", "flu"],
}
SECOND = {"age": ["25-34"] * 3 + ["35+"] * 2, "zip": ["4790*"] * 5, "ill": ["aids", "gout", "gout", "cold", "flu"]}


@pytest.fixture
def releases():
    return tuple(release_of(TableCopy.read(table), ["age", "zip"], "ill") for table in (FIRST, SECOND))


def test_a_person_in_both_releases_is_disclosed_by_what_they_share(releases):
    found = intersection(*releases, [(28, "47905")], ["aids"])
    assert found.alone == (2,)
    assert found.together == (1,)
    assert found.disclosed == found.narrowed == 1
    assert found.disclosed_alone == 0
    assert found.right == 1
    assert found.outcome.succeeds


def test_who_cannot_be_in_both_is_left_out(releases):
    assert intersection(*releases, [(60, "47905"), (28, "48000")]).people == 0


def test_without_people_every_pair_of_classes_that_meet_is_looked_at(releases):
    # 20-29 meets 25-34; 30-39 meets both, but has nothing in common with 25-34.
    found = intersection(*releases)
    assert sorted(found.together) == [1, 2]


def test_the_truth_is_always_left_possible(people):
    with seeded(1):
        found = hospitals(people, QUASI, "health", 5)
    assert min(found.together) >= 1
    assert all(both <= one for one, both in zip(found.alone, found.together, strict=True))
    assert found.people > people.rows / 4


def test_more_than_half_of_the_shared_people_of_a_realistic_table_are_narrowed(people):
    with seeded(2):
        found = hospitals(people, QUASI, "visits", 5)
    assert found.narrowed > 0.5
    assert found.disclosed > found.disclosed_alone
    assert found.outcome.succeeds
    assert found.outcome.success > found.outcome.chance
    assert svg(found.picture).startswith("<svg")


def test_diverse_classes_disclose_nobody_alone_and_some_together(people):
    with seeded(3):
        found = hospitals(people, QUASI, "visits", 5, diversity=3)
    assert found.disclosed_alone == 0
    assert found.disclosed > 0


def test_two_noisy_releases_add_their_epsilons_and_tell_nearly_what_they_would_without_the_person(people):
    with seeded(4):
        outcome = noisy(people, "site", "visits", 0.5)
    assert not outcome.succeeds
    assert outcome.figures["epsilon"] == 1
    assert outcome.ceiling == pytest.approx(ceiling(2))  # a value exchanged in both: four epsilons
    # The exact success: the difference of two cells in two releases, by convolution.
    noise = (1 - math.exp(-0.5)) / (1 + math.exp(-0.5)) * np.exp(-0.5 * np.abs(np.arange(-200, 201)))
    four = np.convolve(np.convolve(noise, noise), np.convolve(noise, noise))
    ahead = 2 + np.arange(-800, 801)
    exact = four[ahead > 0].sum() + four[ahead == 0].sum() / 2
    assert abs(outcome.success - exact) <= math.sqrt(math.log(2 / FALSE_ALARM) / (2 * outcome.evidence.trials))


def test_releases_of_different_columns_are_refused(releases):
    other = release_of(TableCopy.read(SECOND), ["zip", "age"], "ill")
    with pytest.raises(BadParameter, match="generalize"):
        intersection(releases[0], other)


def test_a_table_is_exposed_and_discreet_holds(people):
    said = []
    with seeded(5):
        outcomes = expose(people, said.append)
    assert [each.succeeds for each in outcomes] == [True, True, False]
    assert len(said) == 3
    assert json.dumps([each.record() for each in outcomes], allow_nan=False)


def test_dates_texts_and_missing_values_are_generalised_too():
    import datetime as dt

    days = [dt.date(2020, 1, 1 + i % 28) for i in range(90)]
    names = [None if i % 9 == 0 else f"a|{i % 7}" for i in range(90)]
    table = TableCopy.read({"day": days, "name": names, "x": [1.5, None, 2.5] * 30, "ill": list("abcde") * 18})
    with seeded(6):
        found = hospitals(table, ["day", "name", "x"], "ill", 3)
    assert found.people > 10
    assert min(found.together) >= 1


@pytest.mark.parametrize(
    "columns", [{"a": [1]}, {"a": [], "b": []}, {"a": [None] * 50}, {"a": [1] * 50, "b": [2] * 50}]
)
def test_where_there_is_nothing_to_release_there_is_nothing_to_expose(columns):
    assert expose(TableCopy.read(columns)) == []
