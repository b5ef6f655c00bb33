"""Schedule: a public rule, sound for any signal."""

import pytest

from discreet.learn.schedule import DescentSchedule

SIGNALS = [0, 1e-9, 1, 50, 500, 5e3, 1e5, 1e12, float("inf")]


@pytest.mark.parametrize("rule", [DescentSchedule.gaussian, DescentSchedule.laplace])
def test_every_signal_has_a_schedule_and_a_larger_one_never_a_shorter_run(rule):
    found = [rule(signal) for signal in SIGNALS]
    assert all(2 <= each.rounds <= 500 for each in found)
    lengths = [sum(each.step_of(turn) for turn in range(each.rounds)) for each in found]
    assert lengths == sorted(lengths)
    assert all(0 <= each.momentum < 1 for each in found)


@pytest.mark.parametrize("rule", [DescentSchedule.gaussian, DescentSchedule.laplace])
def test_the_weights_of_the_last_round_are_always_kept(rule):
    for signal in SIGNALS:
        schedule = rule(signal)
        assert schedule.is_kept(schedule.rounds - 1)
        assert not schedule.is_kept(0)
        assert schedule.step_of(schedule.rounds - 1) == pytest.approx(schedule.last_step)
