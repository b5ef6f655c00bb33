"""Defects in what bounds people are flagged without any draw, but for one; honest bounds are not accused."""

import pytest

from discreet.testing import seeded
from tests.lab.audits.release.planted_bounds import BELOW, PLANTS, QUESTIONS, planted_bound

CELLS = [(plant, question) for plant in PLANTS for question in plant.questions]
# `make test` plants three, each found by neighbours of its own.
SHORT = {
    "weighed by rows that pass another condition, count and sum",
    "a person for each key, items of linked orders",
    "groups withheld by exact numbers, groups withheld",
}
DRAWN = "withheld by the noise that is shown"


def cell(plant, question):
    name = f"{plant.defect}, {question}"
    return pytest.param(plant, question, id=name, marks=[] if name in SHORT else pytest.mark.slow)


@pytest.mark.parametrize(("plant", "question"), [cell(*each) for each in CELLS if each[0].defect != DRAWN])
def test_a_defect_in_what_bounds_people_is_flagged_without_a_draw(plant, question):
    assert planted_bound(plant, question, runs=0)[0] == "violated"


@pytest.mark.slow
def test_groups_withheld_by_the_noise_that_is_shown_are_flagged_by_their_draws():
    (plant,) = [each for each in PLANTS if each.defect == DRAWN]
    assert planted_bound(plant, *plant.questions) == ("violated", "noise")


def honest(question):
    return pytest.param(question, marks=[] if question == "items of linked orders" else pytest.mark.slow)


@pytest.mark.parametrize("question", [honest(each) for each in QUESTIONS])
def test_honest_bounds_are_not_accused_and_some_neighbours_come_near_to_the_claim(question):
    with seeded(1):
        found = QUESTIONS[question](runs=0)
    assert (found.verdict, found.open) == ("not shown", ())
    nearest = max(each.finding.lower / each.finding.claimed for each in found.tried if each.way == "integers")
    assert 0.99 < nearest <= 1


@pytest.mark.slow
def test_the_vault_says_who_is_withheld_unless_another_number_is_given():
    with seeded(1):
        found = QUESTIONS["groups withheld"](runs=0)
    names = {each.pair for each in found.tried}
    assert "the one a group needs not to be withheld" in names
    assert BELOW > 1
