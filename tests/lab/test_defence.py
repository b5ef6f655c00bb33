"""Tests of defences: what each answers, what it promises, and where a planned one stops."""

import math

import numpy as np
import pytest

from discreet.account.losses.pure import Pure
from discreet.account.losses.zcdp import Zcdp
from discreet.core.errors import BadParameter, UnknownName
from discreet.lab.audits.audit import audit
from discreet.lab.defence import (
    DELTA,
    ExactDefence,
    GaussianDefence,
    LaplaceDefence,
    NoisyDefence,
    RoundedDefence,
    SampledDefence,
    SuppressedDefence,
    ceiling,
)
from discreet.lab.targets import named
from discreet.lab.vault_copy import Vaulted
from discreet.testing import seeded

BITS = np.array([1, 0, 1, 1, 0, 1], np.int64)
GROUPS = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]], bool)


def test_a_plain_table_answers_exactly():
    assert ExactDefence().protect(BITS, 3).sums(GROUPS).tolist() == [4, 1, 0]


def test_rounding_goes_to_the_nearest_multiple_with_halves_up():
    values = np.array([0, 1, 2, 3, 4, 5, 7, 8, 12, 13], np.int64)
    answers = RoundedDefence(5).protect(values, 10, most=13).sums(np.eye(10, dtype=bool))
    assert answers.tolist() == [0, 0, 0, 5, 5, 5, 5, 10, 10, 15]
    assert RoundedDefence(10).protect(values, 10, most=13).sums(np.eye(10, dtype=bool))[5] == 10


def test_small_groups_are_suppressed_by_their_size_and_not_by_their_answer():
    answers = SuppressedDefence(3).protect(BITS, 3).sums(GROUPS)
    assert answers[0] == 4
    assert np.isnan(answers[1:]).all()


def test_a_sample_is_drawn_once_and_scaled_up():
    values = np.ones(20_000, np.int64)
    target = SampledDefence(0.25).protect(values, 2)
    everyone = np.ones((2, 20_000), bool)
    first, second = target.sums(everyone)
    assert first == second
    assert abs(first - 20_000) < 5 * math.sqrt(20_000 * 0.75 / 0.25)  # false alarms below 1e-6


def test_noise_stays_within_its_width():
    answers = NoisyDefence(2).protect(BITS, 300).sums(np.repeat(GROUPS[:1], 300, axis=0))
    assert set(answers) == {2, 3, 4, 5, 6}


def test_planned_noise_answers_so_many_questions_in_one_go_or_in_parts():
    for defence in (LaplaceDefence(1), GaussianDefence(0.5)):
        target = defence.protect(BITS, 4)
        assert np.isfinite(target.sums(GROUPS)).all()
        assert np.isfinite(target.sums(GROUPS)).tolist() == [True, False, False]


@pytest.mark.parametrize("defence", [LaplaceDefence(1), GaussianDefence(0.1)], ids=lambda each: each.name)
def test_the_promise_in_all_survives_an_audit(defence):
    """One row in every one of twenty groups; the attacker adds the answers up. False alarms: 1e-6."""
    groups = np.ones((20, 6), bool)

    def total(values):
        return float(defence.protect(values, 20).sums(groups).sum())

    claim = Pure(1) if isinstance(defence, LaplaceDefence) else Zcdp(0.1)
    with seeded(11):
        found = audit(total, BITS, np.zeros_like(BITS) + BITS * (np.arange(6) > 0), claim, samples=4000)
    assert not found.violated


def test_a_vault_answers_until_it_is_spent():
    target = Vaulted(1, each=0.4).protect(BITS, 3)
    answers = target.sums(GROUPS)
    assert np.isfinite(answers[:2]).all()
    assert np.isnan(answers[2])


def test_the_ceiling_is_the_better_guess():
    assert ceiling(None) is None
    assert ceiling(0) == 0.5
    assert ceiling(1) == pytest.approx(math.e / (1 + math.e))
    assert ceiling(1, 0.1) == pytest.approx((math.e + 0.1) / (1 + math.e))
    assert ceiling(50) <= 1


@pytest.mark.parametrize(
    ("text", "name", "epsilon"),
    [
        ("exact", "exact", None),
        ("rounded:10", "rounded to 10", None),
        ("suppressed", "suppressed below 10", None),
        ("sampled:0.25", "sampled 25%", None),
        ("noisy:8", "noise within 8", None),
        ("laplace:0.5", "Discreet, epsilon 0.5 in all", 0.5),
        ("gaussian:0.1", "Discreet, rho 0.1 in all", Zcdp(0.1).epsilon(DELTA)),
        ("vault:2", "a Discreet vault, epsilon 2 in all", 2),
    ],
)
def test_a_word_names_a_defence(text, name, epsilon):
    assert (named(text).name, named(text).epsilon) == (name, epsilon)


@pytest.mark.parametrize("text", ["rounded:2.5", "rounded:0", "sampled:2", "laplace:-1", "noisy:x"])
def test_a_number_that_makes_no_sense_is_refused(text):
    with pytest.raises(BadParameter):
        named(text)


def test_an_unknown_word_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match="rounded"):
        named("round:5")
