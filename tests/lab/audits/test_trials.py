"""Trials: every registered mechanism keeps its worst neighbours beside its code."""

import pytest

from discreet.core.errors import Refusal, UnknownName
from discreet.lab import trials
from discreet.mechanisms import registry
from discreet.mechanisms.parts.mechanism import Mechanism


@pytest.mark.parametrize("name", list(registry))
def test_every_mechanism_has_trials_of_itself_under_different_names(name):
    found = trials(name)
    assert len({trial.name for trial in found}) == len(found) > 0
    assert all(isinstance(trial.mechanism, Mechanism) for trial in found)
    assert any(isinstance(trial.mechanism, registry[name]) for trial in found)


def test_an_unknown_mechanism_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="laplace"):
        trials("laplase")


def test_a_mechanism_without_trials_is_refused(monkeypatch):
    monkeypatch.setattr("discreet.mechanisms.laplace.trials", tuple)
    with pytest.raises(Refusal, match="no worst-case neighbours"):
        trials("laplace")
