"""Defects planted in the release path: each is flagged, for every aggregate and price that it touches."""

import sys
import time
from fractions import Fraction

import pytest

from discreet.lab.audits.finding import AuditFailed
from discreet.lab.audits.sql import audit_sql
from discreet.testing import seeded
from tests.lab.audits.release.planted import EPSILONS, PLANTS, QUESTIONS, VISITS

# What an audit of honest code flags has a probability of at most 1e-6; a flagged defect is no statistical test.
EVERY = [(plant, question, epsilon) for plant in PLANTS for question in plant.questions for epsilon in EPSILONS]
# `make test` plants a few, each at another aggregate and price, where they are found without any noise being drawn.
SHORT = [
    ("noise .8 as wide, drawn numbers", "mean", "4"),
    ("noise cut at -3", "Gaussian count", "4"),
    ("too little charged", "selected keys", "0.5"),
    ("what was found in the notes", "quantile", "1"),
]


def planted(plant, question, epsilon, **effort):
    """Audit a question while a defect is planted; return the word of the verdict, and by which way it was found."""
    text, price = QUESTIONS[question]
    try:
        with plant.planted(), seeded(1):
            found = audit_sql(text, VISITS, **price(Fraction(epsilon)), **effort)
    except AuditFailed:
        return "failed", ""
    return found.verdict, ", ".join(sorted({each.way for each in found.tried if each.finding.violated}))


@pytest.mark.parametrize(("defect", "question", "epsilon"), SHORT)
def test_a_planted_defect_is_flagged(defect, question, epsilon):
    (plant,) = [each for each in PLANTS if each.defect == defect]
    assert planted(plant, question, epsilon, runs=0)[0] == "violated"


@pytest.mark.soak
@pytest.mark.parametrize(
    ("plant", "question", "epsilon"),
    [pytest.param(*each, id=f"{each[0].defect}-{each[1]}-{each[2]}") for each in EVERY],
)
def test_every_planted_defect_is_flagged_for_every_aggregate_and_price(plant, question, epsilon, capsys):
    began = time.process_time()
    verdict, way = planted(plant, question, epsilon)
    with capsys.disabled():
        spent = time.process_time() - began
        sys.stdout.write(
            f"\n| {plant.defect} | {plant.place} | {question} | {epsilon} | {verdict} | {way} | {spent:.1f} s |"
        )
    assert verdict in ("violated", "failed")


# 2,000 audits; the union bound allows one alarm in 500 runs of this test.
@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2000))
def test_honest_code_is_not_accused(seed):
    names = list(QUESTIONS)
    text, price = QUESTIONS[names[seed % len(names)]]
    with seeded(seed):
        found = audit_sql(text, VISITS, **price(Fraction(EPSILONS[seed // len(names) % len(EPSILONS)])), runs=500)
    assert not found.violated, found.worst
