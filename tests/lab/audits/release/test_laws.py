"""Events of noise: their probabilities hold the alarm exactly, and nothing that is drawn decides which they are."""

from fractions import Fraction
from math import comb

import pytest

from discreet.lab.audits.release import choice_samples, laws
from discreet.lab.audits.release.known_laws import EventChance
from discreet.lab.audits.release.laws import CountedEvent
from discreet.lab.audits.release.noise import noise_finding
from tests.lab.audits.release.honest import Honest

EPSILON = Fraction(1, 2)


@pytest.mark.parametrize("trials", [1, 7, 300])
@pytest.mark.parametrize("chance", [0, Fraction(1, 1000), Fraction(1, 3), Fraction(9, 10), 1])
def test_an_event_accuses_honest_draws_at_most_as_often_as_its_share_of_the_alarm(trials, chance):
    law = [comb(trials, hits) * chance**hits * (1 - chance) ** (trials - hits) for hits in range(trials + 1)]
    bounds = EventChance.about(float(chance))
    surprises = [CountedEvent("", hits, trials, bounds).surprise for hits in range(trials + 1)]
    for share in (Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**9)):
        accusing = sum(each for each, surprise in zip(law, surprises, strict=True) if surprise < share)
        assert accusing <= 2 * share
    for hits, surprise in enumerate(surprises):  # never below the true tails, but for the last digits of floats
        tail = min(sum(law[hits:]), sum(law[: hits + 1]))
        assert surprise >= tail * (1 - Fraction(1, 10**6)) or tail < Fraction(1, 10**200)


@pytest.mark.parametrize("question", ["several", pytest.param("selected keys", marks=pytest.mark.slow)])
def test_which_events_are_looked_at_depends_on_nothing_that_is_drawn(monkeypatch, question):
    seen = []

    def noted(words, hits, trials, chance):
        seen[-1].append((words, trials, chance))
        return CountedEvent(words, hits, trials, chance)

    def twice(*given):
        for module in (laws, choice_samples):
            monkeypatch.setattr(module, "CountedEvent", noted)
        for _ in range(2):  # on the same rows of the same vault, with other draws
            seen.append([])
            found = noise_finding(*given)
        return found

    monkeypatch.setattr("discreet.lab.audits.question.noise_finding", twice)
    Honest(question, "a person of 3 rows in 2 groups", "Laplace", EPSILON).audited(runs=10, samples=200)
    assert len(seen[0]) > 100
    assert seen[0] == seen[1]
