"""Linkage: the voters of Cambridge, joins unique on both sides, inexact facts, and synthetic data that is bounded."""

import datetime as dt
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import BadParameter, UnknownName
from discreet.lab import rand
from discreet.lab.attacks import linkage as lab
from discreet.lab.attacks.linkage.columns import COARSE, coarse
from discreet.lab.picture import svg
from discreet.lab.table_copy import TableCopy
from discreet.lab.targets import named
from discreet.testing import seeded

CAMBRIDGE = {"birth_date": 0.12, "sex": 0.29, "zip": 0.69, "postcode": 0.97}
small = st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=30)


@pytest.fixture(scope="module")
def health():
    return TableCopy.read(rand.path(), identifier="zper", name="rand")


@pytest.fixture(scope="module")
def films():
    with seeded(5):
        return lab.ratings(2000, 1000)


def test_made_up_voters_are_as_unique_as_those_of_cambridge():
    with seeded(1):
        found = lab.uniqueness(lab.voters(), [*CAMBRIDGE])
    # A share of 54,805 has a standard deviation of at most 0.21 points: five of them, and half a point of model.
    for step, share in zip(found.steps, CAMBRIDGE.values(), strict=True):
        assert step.share == pytest.approx(share, abs=0.016)
    assert found.who == "people"
    assert found.outcome.succeeds
    assert "97" in found.outcome.sentence
    assert "<svg" in svg(found.outcome.picture)


@given(rows=small)
def test_uniqueness_is_what_counting_by_hand_says(rows):
    columns = dict(zip("abc", zip(*rows, strict=True), strict=True))
    copied = TableCopy.read({name: list(values) for name, values in columns.items()})
    for step in lab.uniqueness(copied, ["a", "b", "c"]).steps:
        keys = [row[: len(step.columns)] for row in rows]
        sizes = [keys.count(key) for key in keys]
        assert step.unique == sizes.count(1)
        assert step.few == sum(size < 5 for size in sizes)
        assert (step.smallest, step.classes, step.total) == (min(sizes), len(set(keys)), len(rows))


@given(rows=small)
def test_a_person_counts_by_the_row_that_singles_them_out_most(rows):
    copied = TableCopy.read({"who": [row[0] for row in rows], "a": [row[1] for row in rows]}, identifier="who")
    (step,) = lab.uniqueness(copied, ["a"]).steps
    having = {value: {row[0] for row in rows if row[1] == value} for value in range(4)}
    least = {who: min(len(having[row[1]]) for row in rows if row[0] == who) for who in {row[0] for row in rows}}
    assert step.total == len(least)
    assert step.unique == [*least.values()].count(1)
    assert step.smallest == min(least.values())


@given(rows=small)
def test_a_search_begins_with_the_column_that_singles_out_the_most(rows):
    columns = {name: [row[place] for row in rows] for place, name in enumerate("abc")}
    for copied in (TableCopy.read(columns), TableCopy.read(columns, identifier="a")):
        found = lab.uniqueness(copied)
        alone = {name: lab.uniqueness(copied, [name]).whole.unique for name in copied.attributes}
        assert found.searched
        assert found.steps[0].unique == max(alone.values())
        assert [step.unique for step in found.steps] == sorted(step.unique for step in found.steps)


def test_a_search_stops_when_everyone_is_alone_or_nothing_helps():
    alone = TableCopy.read({"a": [1, 2, 3, 4], "b": [1, 1, 2, 2]})
    assert lab.uniqueness(alone).whole.columns == ("a",)
    alike = TableCopy.read({"a": [1, 1, 2, 2], "b": [1, 1, 2, 2], "c": [7, 7, 7, 7]})
    assert lab.uniqueness(alike).whole.columns == ("a",)
    assert not lab.uniqueness(alike).outcome.succeeds


def test_uniqueness_needs_columns_that_exist():
    with pytest.raises(UnknownName):
        lab.uniqueness(TableCopy.read({"a": [1]}), ["b"])
    with pytest.raises(BadParameter):
        lab.uniqueness(TableCopy.read({"a": [1]}), [])


def test_a_join_keeps_what_is_unique_on_both_sides():
    release = TableCopy.read({"id": [1, 2, 3, 4], "zip": ["a", "a", "b", "c"], "ill": [0, 1, 1, 0]}, identifier="id")
    listed = TableCopy.read({"id": [3, 4, 9, 1], "zip": ["b", "c", "c", None]}, identifier="id")
    joined = lab.linkage(release, listed, ["zip"])
    assert (joined.rows.tolist(), joined.names.tolist()) == ([2], [0])
    assert (joined.total, joined.alone, joined.right, joined.precision) == (4, 2, 1, 1.0)
    assert (joined.listed, joined.outcome.chance) == (4, 0.25)
    assert joined.outcome.success == 1
    assert not joined.outcome.succeeds  # of four names, one that is right may be luck
    assert "<svg" in svg(joined.outcome.picture)


def test_a_join_without_the_truth_counts_matches():
    joined = lab.linkage(TableCopy.read({"a": [1, 2]}), TableCopy.read({"a": [2, 3]}), ["a"])
    assert (joined.matches, joined.right, joined.precision) == (1, None, None)
    assert "undecided" in joined.outcome.sentence
    assert not joined.outcome.succeeds
    assert not lab.linkage(TableCopy.read({"a": [1]}), TableCopy.read({"a": [2]}), ["a"]).outcome.succeeds
    with pytest.raises(BadParameter):
        lab.linkage(TableCopy.read({"a": [1]}), TableCopy.read({"a": [2]}), [])


def test_a_join_reads_the_same_values_in_different_types():
    one = {"zip": [2139, 2140], "born": np.array(["1970-01-01", "1971-02-03"], "datetime64[us]"), "x": [1.0, 2.5]}
    other = {"zip": ["2139", "2140"], "born": [dt.date(1970, 1, 1), "1971-02-03"], "x": ["1", "2.5"]}
    for name in one:
        assert lab.linkage(TableCopy.read({name: one[name]}), TableCopy.read({name: other[name]}), [name]).matches == 2


def test_whoever_is_alone_in_several_rows_is_named_once():
    release = TableCopy.read({"id": [1, 1, 2], "a": [5, 6, 7]}, identifier="id")
    joined = lab.linkage(release, TableCopy.read({"id": [1, 1], "a": [5, 6]}, identifier="id"), ["a"])
    assert (joined.matches, joined.right, joined.total) == (1, 1, 2)


def test_a_few_facts_not_all_right_name_people_and_hardly_anyone_who_is_absent(films):
    with seeded(2):
        found = lab.fuzzy(films, (2, 4, 6, 8), victims=150, name="films")
    by = {(point.known, point.days): point for point in found.points}
    for days in (3, 14):
        shares = [by[known, days].named for known in (2, 4, 6, 8)]
        assert shares == sorted(shares)
        assert shares[-1] >= 0.97
        assert by[2, days].named == 0  # one right fact names nobody
    assert by[4, 3].named >= 0.75
    assert max(point.absent for point in found.points) <= 0.05
    assert found.outcome.succeeds
    assert svg(found.outcome.picture)


def test_noise_beyond_the_widths_names_nobody(films):
    with seeded(3):
        found = lab.fuzzy(films, (4,), days=(1500,), victims=60)
    assert found.best.named <= 0.1


def test_more_facts_than_anyone_has_are_refused(films):
    with pytest.raises(BadParameter, match="takes two people"):
        lab.fuzzy(films, (films.most + 1,))
    for odd in ({"known": ()}, {"days": ()}, {"wrong": -1}):
        with pytest.raises(BadParameter, match="knows some facts"):
            lab.fuzzy(films, **odd)
    with pytest.raises(BadParameter, match="someone"):
        lab.Sparse.read(TableCopy.read({"a": [1]}), "a")
    with pytest.raises(BadParameter, match="ratings are numbers"):
        lab.Sparse.read(TableCopy.read({"a": [1], "b": ["x"]}, identifier="a"), "a", "b")


def test_facts_are_read_from_the_columns_of_a_table():
    days = [dt.date(2020, 1, 1), dt.date(2020, 1, 2), None]
    copied = TableCopy.read(
        {"who": [7, 8, 8], "film": ["x", "y", "x"], "stars": [1, 2, 3], "on": days}, identifier="who"
    )
    read = lab.Sparse.read(copied, "film", "stars", "on")
    assert (read.people, read.items, read.most) == (2, 2, 2)
    assert read.person.tolist() == [0, 1, 1]
    assert read.rating.tolist() == [1, 3, 2]
    assert read.day[2] - read.day[0] == 1
    facts = lab.Sparse.facts(copied)
    assert (facts.people, facts.items, facts.most) == (2, 2 + 3 + 2, 5)  # nothing is a fact where a day is missing


@pytest.mark.parametrize(
    ("word", "least", "most"), [("exact", 0.95, 1), ("sampled:0.5", 0.4, 0.6), ("rounded:5", 0, 0.2)]
)
def test_tables_without_names_fall_to_a_list(health, word, least, most):
    with seeded(4):
        found = lab.learned(health, ["site", "age", "female", "schooling"], "health", named(word))
    assert found.outcome.succeeds
    assert least < found.named / found.members <= most
    assert found.inside > found.outside + 0.05
    assert found.precision >= 0.95
    assert found.ceiling is None


def test_noisy_numbers_name_hardly_anyone(health):
    with seeded(4):
        noisy = lab.learned(health, ["site", "age", "female"], "health", named("noisy:5"))
    assert noisy.named < noisy.matched / 5
    assert not noisy.outcome.succeeds
    assert "matches" in noisy.outcome.sentence


def test_k_anonymity_names_nobody_and_yet_tells_more_of_people_in_the_table(health):
    with seeded(4):
        kept = lab.learned(health, ["site", "age", "female"], "health", named("suppressed:5"))
    assert kept.named == 0
    assert kept.published < kept.members
    assert kept.inside > kept.outside + 0.05
    assert kept.outcome.succeeds


def test_what_holds_without_a_promise_says_so():
    columns = {"age": [1, 2] * 100, "sex": ["f", "m"] * 100, "ill": [0, 1] * 100}
    with seeded(5):
        kept = lab.learned(TableCopy.read(columns), ["age", "sex"], "ill", named("exact"))
    assert (kept.inside, kept.outside, kept.named) == (1, 1, 0)
    assert not kept.outcome.succeeds
    assert "promises nothing" in kept.outcome.sentence


@pytest.mark.parametrize("word", ["laplace:1", "gaussian:0.1", "vault:0.5"])
def test_synthetic_data_tells_no_more_of_people_in_the_table_than_of_people_outside(health, word):
    with seeded(6):
        found = lab.learned(health, ["site", "age", "female", "schooling"], "health", named(word))
    # Both shares are of some 2,950 people: five standard deviations of their difference, a false alarm of 6e-7.
    spread = math.sqrt(0.25 / found.members + 0.25 / found.outsiders)
    assert found.inside <= found.outside + 5 * spread
    assert found.inside <= found.ceiling <= 1
    assert not found.outcome.succeeds
    assert found.named is None
    # Whoever is matched by a made-up row is told no more rightly than people outside: five standard deviations.
    assert found.precision <= found.outside + 5 * math.sqrt(0.25 / found.matched)
    assert "nobody" in found.outcome.sentence
    assert "<svg" in svg(found.outcome.picture)


@pytest.mark.soak
def test_synthetic_data_tells_no_more_of_people_in_the_table_over_twenty_seeds(health):
    apart, variance = 0.0, 0.0
    for seed in range(20):
        with seeded(seed):
            found = lab.learned(health, ["site", "age", "female", "schooling"], "health", named("laplace:1"))
        apart += found.inside - found.outside
        variance += 0.25 / found.members + 0.25 / found.outsiders
    # Five standard deviations: a false alarm of 6e-7.
    assert apart <= 5 * math.sqrt(variance)


def test_what_is_known_cannot_be_the_secret(health):
    with pytest.raises(BadParameter):
        lab.learned(health, ["health"], "health", named("exact"))


def test_coarse_codes_are_few_whatever_a_column_holds():
    columns = {
        "n": list(range(100)),
        "gap": [None if number % 7 == 0 else number for number in range(100)],
        "day": [dt.date(2000, 1, 1) + dt.timedelta(number) for number in range(100)],
        "text": [f"t{number % 50}" for number in range(100)],
        "few": [number % 3 for number in range(100)],
    }
    copied = TableCopy.read(columns)
    for name in columns:
        codes, size = coarse(copied, name)
        assert size <= COARSE
        assert 0 <= codes.min() <= codes.max() < size
    gap = coarse(copied, "gap")[0]
    assert set(gap[::7].tolist()) == {COARSE - 1}
    assert COARSE - 1 not in gap[1:7]


def test_columns_are_chosen_by_their_names_or_by_what_they_tell(health):
    assert lab.known(health) == ("site", "age", "female", "schooling")
    assert lab.kept(health, lab.known(health)) == "health"
    assert lab.known(TableCopy.read({"x": [1, 2, 3], "y": [1, 1, 2]})) == ("x",)
    assert lab.kept(TableCopy.read({"x": [1, 1, 1]}), []) is None


def test_the_battery_shows_what_falls_and_that_discreet_holds(health):
    said = []
    with seeded(7):
        outcomes = lab.expose(health, said.append)
    assert len(outcomes) == len(said) == 2 + len(lab.TARGETS)
    verdicts = {each.target: each.verdict for each in outcomes}
    assert verdicts["rand without names"] == verdicts["rand, exact"] == "succeeds"
    assert verdicts["synthetic data by Discreet, epsilon 1 in all"] == "bounded"
    assert all(each.record()["sentence"] for each in outcomes)


ODD = {
    "no rows": {"age": [], "sex": []},
    "one column": {"x": [1, 1, 2]},
    "identifier alone": {"id": [1, 2]},
    "all alike": {"a": [1] * 30, "b": ["x"] * 30},
    "all missing": {"age": [None] * 30, "sex": [None] * 30, "y": [0, 1] * 15},
    "few rows": {"age": [1, 2], "sex": ["f", "m"], "ill": [True, False]},
    "mixed": {
        "age": [1.5, None, 3] * 10,
        "sex": ["f", None, "m"] * 10,
        "ill": [True, False, None] * 10,
        "z": range(30),
    },
    "dates": {
        "born": [dt.date(2000, 1, 1 + day) for day in range(30)],
        "zip": ["a", "b"] * 15,
        "party": ["x", "y"] * 15,
    },
}


@pytest.mark.parametrize("columns", ODD.values(), ids=ODD)
def test_the_battery_works_on_any_table(columns):
    identifier = "id" if "id" in columns else None
    with seeded(8):
        outcomes = lab.expose(
            TableCopy.read({name: list(values) for name, values in columns.items()}, identifier=identifier)
        )
    assert all(0 <= each.success <= 1 and each.sentence for each in outcomes)
    assert bool(outcomes) == (columns not in (ODD["no rows"], ODD["identifier alone"]))
