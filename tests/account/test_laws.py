"""Laws that every loss obeys, whatever its parameters."""

import math
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account import PrivacyLoss, Pure
from tests.account.cases import counted, deltas, events, losses, stated

ROUND = 1 + 1e-4  # numerical answers may lie this much above the least


@given(losses, losses)
def test_composition_commutes(a, b):
    assert a + b == b + a


@given(counted, counted, counted)
def test_composition_associates(a, b, c):
    assert (a + b) + c == a + (b + c)


@given(events, st.integers(1, 20), st.integers(1, 20))
def test_repetition_is_addition(a, j, k):
    assert a * j + a * k == a * (j + k)
    assert (a * j) * k == a * (j * k)


@given(st.one_of(losses, stated))
def test_losses_come_back_from_json_as_they_were(a):
    again = PrivacyLoss.from_json(a.to_json())
    assert again == a
    assert again.to_json() == a.to_json()


@settings(max_examples=60, deadline=None)
@given(counted, deltas)
def test_epsilon_grows_with_repetition(a, delta):
    assert a.epsilon(delta) <= (a + a).epsilon(delta) * ROUND


@settings(max_examples=60, deadline=None)
@given(losses, st.tuples(deltas, deltas))
def test_epsilon_falls_as_delta_grows(a, pair):
    low, high = sorted(pair)
    assert a.epsilon(high) <= a.epsilon(low) * ROUND


@settings(max_examples=60, deadline=None)
@given(losses, deltas)
def test_the_epsilon_found_holds(a, delta):
    found = a.epsilon(delta)
    assert found >= 0
    if math.isfinite(found):
        # delta falls by a factor of e^(theta x) over a step x; both answers are within 1e-5 of the truth in epsilon.
        assert a.delta(found * ROUND + 1e-9) <= delta * (1 + 1e-3)


@settings(max_examples=60, deadline=None)
@given(losses, deltas)
def test_every_accountant_is_above_the_tightest(a, delta):
    best = a.epsilon(delta)
    for method in a.methods():
        assert best <= a.epsilon(delta, method=method) * ROUND + 1e-9


@settings(max_examples=40, deadline=None)
@given(events, deltas)
def test_nothing_is_lost_by_adding_nothing(a, delta):
    assert (a + Pure(0)).epsilon(delta) <= a.epsilon(delta) * (1 + 1e-3) + 1e-9


@settings(max_examples=40, deadline=None)
@given(events, st.integers(1, 4), deltas)
def test_a_larger_group_costs_more(a, k, delta):
    assert a.epsilon(delta) <= a.group(k).epsilon(delta) * ROUND + 1e-9


@settings(max_examples=40, deadline=None)
@given(events, st.integers(1, 5), st.integers(1, 5))
def test_groups_of_groups_are_groups(a, j, k):
    if a.slack == 0:
        assert a.group(j).group(k) == a.group(j * k)


@settings(max_examples=40, deadline=None)
@given(events, st.floats(0.01, 1.0), deltas)
def test_sampling_never_costs_more(a, rate, delta):
    assert a.sampled(rate).epsilon(delta) <= a.epsilon(delta) * (1 + 1e-3) + 1e-9


@settings(max_examples=40, deadline=None)
@given(events, st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_a_trade_off_curve_falls_and_stays_below_the_diagonal(a, rates):
    curve = a.tradeoff(sorted(rates))
    assert all(0 <= value <= 1 - rate + 1e-12 for value, rate in zip(curve, sorted(rates), strict=True))
    assert all(earlier >= later - 1e-9 for earlier, later in pairwise(curve))
