"""Choices on groups that are alike: honest ones are not accused, and those that are a little too sure are."""

from fractions import Fraction

import pytest

from discreet.lab.audits.release.choice_samples import choice_events
from discreet.mechanisms.key_selection import KeySelection
from discreet.mechanisms.quantile import Quantile
from discreet.noise.draws import Draws
from discreet.testing import seeded
from tests.lab.audits.release.planted import kinder, same_choice, sharper

SELECTION = KeySelection(epsilon=Fraction(1, 10), delta=Fraction(1, 10**6), groups=2)
MEDIANS = tuple(
    Quantile(q=Fraction(1, 2), epsilon=Fraction(1, 3), low=0, high=100, step=1, contributions=3, offset=offset)
    for offset in (0, -20, 20)
)
ALARM = 1e-6


def accused(mechanism, samples=100_000):
    """Whether any event happened too often, or too rarely: honest choices are accused with probability ALARM."""
    with seeded(3), Draws(bytes(range(32))).at("choices"):
        events = list(choice_events(mechanism, samples))
    assert events
    return min(each.surprise for each in events) < ALARM / (2 * len(events))


@pytest.mark.parametrize("mechanism", [SELECTION, MEDIANS], ids=["keys", "medians"])
def test_honest_choices_are_not_accused(mechanism):
    assert not accused(mechanism)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 44)])  # less than a rho of 1/800 buys
def test_a_key_that_counts_one_person_more_is_seen_at_a_small_epsilon(epsilon):
    with kinder(1)():
        assert accused(KeySelection(epsilon=epsilon, delta=Fraction(1, 10**6), groups=2))


def test_groups_that_share_their_coins_are_seen():
    with same_choice():
        assert accused(MEDIANS)


def test_choices_as_sure_as_twice_the_price_are_seen():
    with sharper(Fraction(1, 2))():
        assert accused(MEDIANS)


def test_what_does_not_choose_has_no_events():
    assert list(choice_events("noise", 100)) == []
