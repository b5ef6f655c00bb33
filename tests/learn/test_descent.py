"""Descent: what a run costs, heard by the auditor round by round, on worst neighbours of tiny tables."""

import itertools
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.core.exact import Exact
from discreet.core.value import replace
from discreet.lab.audits.audit import audit
from discreet.learn.allowance import TrainingAllowance
from discreet.learn.descent import Descent
from discreet.noise.draws import Draws
from discreet.plan.batches import Batch
from discreet.plan.person_gradients import design_rows
from discreet.plan.row_design import RowDesign
from discreet.testing import seeded

DESIGN = RowDesign.of({"a": dp.one_of(0, 1), "b": dp.between(0, 3)}, 2)
SCALED = RowDesign.of({"b": dp.between(0, 3)}, None)
BUDGETS = [dp.Budget(epsilon=1, delta=1e-6), dp.Budget(epsilon=1), dp.Budget(rho=0.1)]
KINDS = [("logistic", 2), ("softmax", 3), ("hinge", 2), ("squared", 5)]


def tokens(people, design):
    codes = np.array([row for rows in people for row in rows], np.int64).reshape(-1, 3)[
        :, 3 - len(design.features) - 1 :
    ]
    person = np.repeat(np.arange(len(people)), [len(rows) for rows in people])
    batch = Batch(codes, person, np.zeros(len(people), np.uint64), np.ones(len(codes), np.int64))
    return [Exact(batch).map(design_rows, design)]


def run(descent, people):
    """A whole run, shortened to a few rounds, as a function of the people: what the auditor sees."""
    return descent.run(tokens(people, descent.design), lambda _: nullcontext()).weights


@pytest.fixture
def short(monkeypatch):
    """Runs of three rounds, so that many can be heard."""
    for rule in ("gaussian", "laplace"):
        from discreet.learn.schedule import DescentSchedule

        made = staticmethod(lambda signal: DescentSchedule(3, 4.0, 4.0, 0.5, 0.5))
        monkeypatch.setattr(DescentSchedule, rule, made)


OTHERS = [[(0, 1, 1)], [(1, 3, 0), (0, 0, 1)]]
PEOPLE = [[(0, 0, 1)], [(1, 3, 0)], [(-1, -1, 1)], [(0, 0, 1)] * 6, [(0, 0, 0), (1, 3, 1), (1, 2, 1)], [(0, 3, -1)]]


def examined(descent, people, others=OTHERS):
    """The finding of the auditor that replays a run on these people, and on them and another."""
    allowance = descent.allowance
    return audit(
        lambda rows: run(descent, rows),
        others,
        people,
        claim=allowance.loss,
        layers=["replay"],
        delta=None if allowance.is_pure else 1e-6,
    )


@pytest.mark.parametrize(("kind", "budget"), [*zip(KINDS, [*BUDGETS, BUDGETS[1]], strict=True)], ids=str)
def test_the_auditor_finds_no_worse_neighbour_than_was_paid_for(kind, budget, short):
    allowance = TrainingAllowance.of(budget)
    for design, people, persons in ((DESIGN, None, PEOPLE[2:5]), (SCALED, 100, PEOPLE[:2])):
        for person in persons:
            found = examined(Descent(design, *kind, allowance, people), [*OTHERS, person])
            assert not found.violated, (design, person, found)


@pytest.mark.slow
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind[0])
def test_the_auditor_finds_none_for_any_objective_budget_and_person(kind, budget, short):
    allowance = TrainingAllowance.of(budget)
    for design, people, person in itertools.product((DESIGN, SCALED), (None, 100), PEOPLE):
        found = examined(Descent(design, *kind, allowance, people), [*OTHERS, person])
        assert not found.violated, (design, person, found)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_exchanging_a_person_costs_no_more_than_was_paid_for_under_replace(budget, short):
    allowance = TrainingAllowance.of(budget, "replace")
    descent = Descent(DESIGN, "logistic", 2, allowance, 3)
    for one, other in [(PEOPLE[0], PEOPLE[1]), (PEOPLE[3], PEOPLE[4]), (PEOPLE[2], PEOPLE[5])]:
        found = examined(descent, [*OTHERS, other], [*OTHERS, one])
        assert not found.violated, (one, other, found)


def test_the_auditor_notices_half_of_the_noise(short):
    honest = TrainingAllowance.of(BUDGETS[0])
    generous = replace(honest, amount=honest.amount * 2)
    found = audit(
        lambda rows: run(Descent(DESIGN, "logistic", 2, generous, 100), rows),
        OTHERS,
        [*OTHERS, PEOPLE[0]],
        claim=honest.loss,
        layers=["replay"],
        delta=1e-6,
    )
    assert found.violated


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_rounds_and_noise_follow_from_declarations_alone(budget):
    descent = Descent(DESIGN, "logistic", 2, TrainingAllowance.of(budget), 1000)
    runs = [descent.run(tokens(people, DESIGN), lambda _: nullcontext()).schedule for people in ([], OTHERS * 50)]
    assert runs[0] == runs[1] == descent.schedule(1000)


def test_a_number_of_people_that_was_not_declared_is_bought_with_a_fiftieth():
    allowance = TrainingAllowance.of(dp.Budget(epsilon=1))
    bought, known = (Descent(DESIGN, "logistic", 2, allowance, people) for people in (None, 1000))
    assert known.counting is None
    assert bought.counting.loss.peak == Fraction(1, 50)
    assert bought.noise(10).loss.peak * 10 == Fraction(49, 50)
    assert known.noise(10).loss.peak * 10 == 1


def test_the_same_draws_give_the_same_weights_and_every_round_has_a_label_of_its_own():
    descent = Descent(DESIGN, "logistic", 2, TrainingAllowance.of(BUDGETS[0]), None)
    heard = []

    def labelled(draws):
        return lambda label: (heard.append(label), draws.at(label))[1]

    one, other = (descent.run(tokens(OTHERS, DESIGN), labelled(Draws(bytes(32)))) for _ in range(2))
    assert (one.weights == other.weights).all()
    assert heard[: len(heard) // 2] == ["people", *(f"round/{turn}" for turn in range(one.schedule.rounds))]


def test_a_budget_too_small_for_the_people_says_so_before_it_is_paid():
    small = Descent(DESIGN, "logistic", 2, TrainingAllowance.of(dp.Budget(epsilon=0.001)), 1000)
    assert "most frequent class" in small.words(1000)[0]
    assert small.words(10**9) == ()


def test_weights_stay_numbers_whatever_the_noise():
    with seeded(1):
        weights = run(Descent(DESIGN, "softmax", 3, TrainingAllowance.of(dp.Budget(epsilon=1e-9)), 1), OTHERS)
    assert np.isfinite(weights).all()
