"""Counter over time: which block holds what, loss of a level each, error over all times, streaming."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.account.losses.discrete_laplace import DiscreteLaplace
from discreet.core.errors import BadParameter
from discreet.mechanisms import counter
from discreet.mechanisms.counter import Counter, HorizonReached
from discreet.mechanisms.parts.mechanism import Mechanism, Repeatable
from discreet.testing import FALSE_ALARM, same, seeded


def test_it_is_a_mechanism_that_can_be_repeated():
    assert isinstance(Counter(horizon=8, epsilon=1), Mechanism)
    assert isinstance(Counter(horizon=8, epsilon=1), Repeatable)


@given(st.integers(1, 10**6), st.fractions(Fraction(1, 10), 5), st.integers(1, 4))
def test_the_loss_is_one_number_a_level_and_epsilon_in_all(horizon, epsilon, sensitivity):
    made = Counter(horizon=horizon, epsilon=epsilon, sensitivity=sensitivity)
    assert made.levels == math.floor(math.log2(horizon)) + 1
    assert made.loss == DiscreteLaplace(made.scale, sensitivity=sensitivity) * made.levels
    assert made.loss.peak == epsilon


def test_moving_an_event_costs_twice_as_much():
    one = Counter(horizon=16, epsilon=1)
    two = Counter(horizon=16, epsilon=1, relation="replace")
    assert two.scale == 2 * one.scale
    assert two.loss.peak == 1


def noises_of(made, length, monkeypatch):
    """Release zeros with noises that are powers of a large number, so that each total shows which it holds."""
    drawn = []

    def fake(scale, size=None):
        assert scale == made.scale
        shape = () if size is None else size
        fresh = np.array([1 << (len(drawn) + i) for i in range(math.prod(shape))], dtype=object).reshape(shape)
        drawn.extend(fresh.ravel().tolist())
        return int(fresh) if size is None else fresh

    monkeypatch.setattr(counter, "laplace", fake)
    return made.release([0] * length).tolist(), fake


@pytest.mark.parametrize("horizon", [1, 2, 3, 4, 7, 8, 13])
def test_every_total_holds_the_blocks_of_its_binary_digits(horizon, monkeypatch):
    made = Counter(horizon=horizon, epsilon=1)
    totals, _ = noises_of(made, horizon, monkeypatch)
    for time, total in enumerate(totals, start=1):
        assert total.bit_count() == time.bit_count()
    # Each noise spans one dyadic block: it is in all totals whose time has the same higher digits, and in no other.
    for noise in range(max(totals).bit_length()):
        times = [time for time, total in enumerate(totals, start=1) if total >> noise & 1]
        if times:
            level = (times[0] & -times[0]).bit_length() - 1
            expected = range(times[0], min(times[0] + (1 << level), horizon + 1))
            assert times == list(expected)


@pytest.mark.parametrize("horizon", [1, 3, 8, 13])
def test_a_stream_holds_as_many_noises_as_a_list(horizon, monkeypatch):
    made = Counter(horizon=horizon, epsilon=1)
    totals, _ = noises_of(made, horizon, monkeypatch)
    stream = made.session()
    streamed = [stream.add(0) for _ in range(horizon)]
    assert [total.bit_count() for total in streamed] == [total.bit_count() for total in totals]
    # Which totals share a noise is the same for both.
    shared = [[(a & b).bit_count() for a in totals] for b in totals]
    assert [[(a & b).bit_count() for a in streamed] for b in streamed] == shared


@given(st.integers(1, 200), st.data())
def test_an_event_is_in_at_most_one_block_of_each_level(horizon, data):
    time = data.draw(st.integers(1, horizon))
    made = Counter(horizon=horizon, epsilon=1)
    # Blocks in use end at t without its lower digits, for totals t from the event on.
    blocks = {(level, t >> level) for t in range(time, horizon + 1) for level in range(made.levels) if t >> level & 1}
    holding = [(level, end) for level, end in blocks if (end - 1) << level < time <= end << level]
    assert len(holding) <= made.levels
    assert len({level for level, _ in holding}) == len(holding)


def test_releases_and_streams_have_the_same_distribution():
    made, steps = Counter(horizon=3, epsilon=6), [1, 0, 2]
    with seeded(91):
        lists = made.releases(steps, 5000)
        streams = []
        for _ in range(5000):
            stream = made.session()
            streams.append([stream.add(step) for step in steps])
    for time in range(3):
        one, other = (
            np.bincount(np.clip(np.array(rows)[:, time] + 5, 0, 20), minlength=21) for rows in (lists, streams)
        )
        # false-alarm rate 1e-6
        assert same(one, other) > FALSE_ALARM
    # Totals at times 2 and 3 share a block, so that their difference has the noise of one block alone.
    apart = [np.array(rows)[:, 2] - np.array(rows)[:, 1] for rows in (lists, streams)]
    assert same(*(np.bincount(np.clip(each + 8, 0, 20), minlength=21) for each in apart)) > FALSE_ALARM


def test_a_total_of_one_block_has_exact_laplace_noise():
    from discreet.mechanisms.laplace import Laplace
    from discreet.testing import fit

    made = Counter(horizon=4, epsilon=3)
    with seeded(92):
        fourth = made.releases([1, 1, 1, 1], 100_000)[:, 3]
    chances = Laplace(scale=made.scale).chances(4)
    seen = [int((fourth == key).sum()) for key in chances]
    # false-alarm rate 1e-6
    assert sum(seen) == 100_000
    assert fit(seen, [float(low) for low, _ in chances.values()]) > FALSE_ALARM


@pytest.mark.parametrize("horizon", [1, 7, 64])
def test_the_error_holds_at_all_times_together(horizon):
    made = Counter(horizon=horizon, epsilon=1)
    with seeded(93):
        worst = np.abs(made.releases([0] * horizon, 20_000)).max(axis=1)
    # 20,000 runs at a failure rate of at most 0.05: more than 1,155 failures have a chance below 1e-6.
    assert (worst > made.error(0.05)).sum() <= 1155


@pytest.mark.parametrize("time", [1, 7, 64])
def test_the_error_at_one_time_is_smaller_and_holds(time):
    made = Counter(horizon=64, epsilon=1)
    assert made.error_at(time) < made.error()
    with seeded(94):
        errors = np.abs(made.releases([0] * 64, 20_000)[:, time - 1])
    # as above
    assert (errors > made.error_at(time, 0.05)).sum() <= 1155


def test_the_error_grows_with_the_logarithm_of_the_horizon():
    # Chan, Shi, Song 2011: O(log^1.5 T) with the union bound over times making it log^2.5 at most.
    small, large = Counter(horizon=2**5, epsilon=1).error(), Counter(horizon=2**20, epsilon=1).error()
    assert large <= small * 4**2.5


def test_a_long_stream_is_released_at_once_and_never_wraps():
    released = Counter(horizon=2000, epsilon=1).release([2**62] * 2000)
    assert abs(int(released[-1]) - 2000 * 2**62) < 10**6


def test_a_stream_refuses_after_its_horizon():
    stream = Counter(horizon=2, epsilon=1).session()
    stream.add(1)
    stream.add(1)
    assert stream.time == 2
    with pytest.raises(HorizonReached, match="declare a longer horizon"):
        stream.add(1)
    with pytest.raises(HorizonReached):
        Counter(horizon=2, epsilon=1).release([1, 1, 1])


def test_a_shorter_stream_is_released_as_far_as_it_goes():
    assert Counter(horizon=100, epsilon=1).release([1, 2, 3]).shape == (3,)
    assert Counter(horizon=100, epsilon=1).release([]).shape == (0,)
    assert Counter(horizon=100, epsilon=1).releases([1, 2, 3], 5).shape == (5, 3)


@pytest.mark.parametrize(
    "bad",
    [
        {"horizon": 0, "epsilon": 1},
        {"horizon": 2.5, "epsilon": 1},
        {"horizon": 2, "epsilon": 0},
        {"horizon": 2, "epsilon": 1, "sensitivity": 0},
        {"horizon": 2, "epsilon": 1, "relation": "none"},
    ],
    ids=str,
)
def test_bad_parameters_are_refused_with_a_fix(bad):
    with pytest.raises(BadParameter, match="Fix: "):
        Counter(**bad)


@pytest.mark.parametrize("exact", [5, [[1]], [1.5], "1"], ids=str)
def test_what_is_no_list_of_whole_numbers_is_refused(exact):
    with pytest.raises(BadParameter, match="exact"):
        Counter(horizon=5, epsilon=1).release(exact)


def test_an_increment_that_is_no_whole_number_is_refused():
    with pytest.raises(BadParameter, match="integers"):
        Counter(horizon=5, epsilon=1).session().add(0.5)
    with pytest.raises(BadParameter, match="one at a time"):
        Counter(horizon=5, epsilon=1).session().add([1, 2])


def test_a_time_beyond_the_horizon_has_no_error():
    with pytest.raises(BadParameter, match="horizon is 5"):
        Counter(horizon=5, epsilon=1).error_at(6)


def test_the_trials_are_streams_within_their_horizon():
    for trial in counter.trials():
        assert len(trial.one) == len(trial.other) <= trial.mechanism.horizon


@pytest.mark.parametrize("epsilon", [1e4, 1e17, 10**400], ids=["1e4", "1e17", "10^400"])
def test_a_large_epsilon_has_a_small_error_and_no_overflow(epsilon):
    assert Counter(horizon=7, epsilon=epsilon).error() <= 1


def test_an_error_beyond_the_floats_is_infinite():
    assert Counter(horizon=7, epsilon=5e-324).error() == math.inf
    assert Counter(horizon=1, epsilon=5e-324, sensitivity=10).error() == math.inf


def test_a_chance_beyond_the_floats_still_has_a_bound():
    made = Counter(horizon=7, epsilon=1)
    assert made.error(1e-300) < made.error(Fraction(1, 10**400)) < 2 * made.error(1e-300)
