"""Defects planted in the release path are flagged; honest code is not. The long forms are in `long_runs`."""

from fractions import Fraction

import pytest

from discreet.lab.audits.sql import audit_sql
from discreet.testing import seeded
from tests.lab.audits.release.honest import case
from tests.lab.audits.release.long_runs import EVERY, FLAGGED, honest_record, planted, planted_record
from tests.lab.audits.release.planted import PLANTS, QUESTIONS, VISITS

EPSILON = Fraction(1, 2)

# `make test` plants a few, each at another aggregate and price, where they are found without any noise being drawn.
SHORT = [
    ("noise .8 as wide, drawn numbers", "mean", "4"),
    ("noise cut at -3", "Gaussian count", "4"),
    ("too little charged", "selected keys", "0.5"),
    ("the exact row count in the notes", "quantile", "1"),
    ("cells noisy for one row of a person", "quantile", "1"),
]


@pytest.mark.parametrize(("defect", "question", "epsilon"), SHORT)
def test_a_planted_defect_is_flagged(defect, question, epsilon):
    assert planted(defect, question, epsilon, runs=0)[0] == "violated"


@pytest.mark.parametrize(
    "defect",
    [
        "cells with noise half as wide",
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in ("cells of intervals without noise", "one noise for all cells", None)
        ),
    ],
)
def test_draws_alone_show_what_is_wrong_with_the_noise_of_the_cells_of_an_interval(monkeypatch, defect):
    monkeypatch.setattr("discreet.lab.audits.question.on_pair", lambda *_: iter(()))  # compare nothing without draws
    if defect is None:
        with seeded(1):
            assert not audit_sql(QUESTIONS["quantile"][0], VISITS, epsilon=1, runs=300, samples=100).violated
    else:
        assert planted(defect, "quantile", "1", runs=300, samples=100)[:2] == ("violated", "noise")


@pytest.mark.parametrize("question", ["count", pytest.param("selected keys", marks=pytest.mark.slow)])
def test_an_order_that_follows_exact_numbers_is_seen_whichever_rows_are_made_up(question):
    (plant,) = [each for each in PLANTS if each.defect == "rows sorted by exact counts"]
    text, price = QUESTIONS[question]
    for seed in range(2):
        with plant.planted(), seeded(seed):
            found = audit_sql(text, VISITS, **price(EPSILON), runs=0)
        broken = {each.pair for each in found.tried if each.finding.violated}
        assert "no neighbours: groups that rise, and that fall" in broken


def test_honest_code_is_not_accused_without_a_draw():
    with seeded(7):
        found = case(7).audited(runs=0)
    assert not found.violated, found.worst


@pytest.mark.soak
@pytest.mark.parametrize("key", EVERY)
def test_every_planted_defect_is_flagged_for_every_aggregate_and_price(key):
    record = planted_record(key, None)
    assert record["verdict"] in FLAGGED, record


# 2,000 audits; the union bound allows one alarm in 500 runs of this test.
@pytest.mark.soak
@pytest.mark.parametrize("number", range(2000))
def test_honest_code_is_not_accused(number):
    record = honest_record(str(number), None)
    assert record["verdict"] != "violated", record
