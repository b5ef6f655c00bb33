"""Key selection: the promise in exact arithmetic, never worse than noise and a threshold, order by key, refusals."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account import Approx
from discreet.core.errors import BadParameter
from discreet.mechanisms import KeySelection, key_selection
from discreet.mechanisms.parts.chances import BITS, Tails
from discreet.mechanisms.parts.mechanism import Enumerable, Mechanism, Repeatable
from discreet.noise import enclosure
from discreet.testing import seeded
from tests.mechanisms.elementary import check_fit, check_sum

EPSILONS = st.fractions(Fraction(1, 2), 20)
DELTAS = st.one_of(st.fractions(Fraction(1, 10**12), Fraction(1, 2)), st.sampled_from([Fraction(1, 10**40), 1e-6]))


def growth(epsilon):
    """A rational that is at most e^epsilon, and one that is at least that."""
    low, high = enclosure.exp(Fraction(epsilon).as_integer_ratio(), 512)
    return Fraction(1 << 512, high), Fraction(1 << 512, low)


@settings(max_examples=60)
@given(EPSILONS, DELTAS, st.integers(1, 4), st.sampled_from(["add_remove", "replace"]))
def test_one_person_changes_no_chance_by_more_than_the_share_allows(epsilon, delta, groups, relation):
    mechanism = KeySelection(epsilon=epsilon, delta=delta, groups=groups, relation=relation)
    share, slack = mechanism.share
    factor = growth(share)[0]
    chances = [mechanism.probability(people) for people in range(mechanism.threshold + 3)]
    assert chances[0] == 0
    assert chances[-1] == 1
    for few, more in pairwise(chances):
        assert few <= more <= factor * few + slack
        assert 1 - few <= factor * (1 - more) + slack


@settings(max_examples=60)
@given(EPSILONS, DELTAS)
def test_no_rule_could_keep_keys_more_often(epsilon, delta):
    # The recursion with e^epsilon rounded up and nothing rounded down: what exact arithmetic could not exceed.
    mechanism = KeySelection(epsilon=epsilon, delta=delta)
    factor, ideal = growth(epsilon)[1], Fraction(0)
    for people in range(1, min(mechanism.threshold, 60) + 1):
        ideal = min(factor * ideal + Fraction(delta), 1 - (1 - ideal - Fraction(delta)) / factor, 1)
        assert ideal * (1 - Fraction(1, 2**90)) <= mechanism.probability(people) <= ideal


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, 3])
@pytest.mark.parametrize("delta", [Fraction(1, 1000), Fraction(1, 10**8)])
def test_it_is_never_worse_than_noise_and_a_threshold(epsilon, delta):
    # The key of one person passes n + noise >= threshold with probability at most delta.
    mechanism = KeySelection(epsilon=epsilon, delta=delta)
    tails = Tails(1 / Fraction(epsilon), 2000)
    threshold = next(t for t in range(1, 2000) if Fraction(tails.at_least(t - 1)[1], 1 << BITS) <= delta)
    gains = []
    for people in range(2 * threshold):
        plain = Fraction(tails.at_least(threshold - people)[0], 1 << BITS) if people else Fraction(0)
        gains.append(mechanism.probability(people) - plain)
    assert min(gains) >= 0
    assert max(gains) > Fraction(1, 20)
    assert mechanism.threshold < 2 * threshold


def test_the_error_is_the_number_of_people_that_is_enough():
    mechanism = KeySelection(epsilon=1, delta=1e-6)
    people = int(mechanism.error(0.05))
    assert mechanism.probability(people) >= 0.95 > mechanism.probability(people - 1)
    assert mechanism.error(1e-9) <= mechanism.threshold
    assert mechanism.probability(mechanism.threshold - 1) < 1 == mechanism.probability(10**9)
    # Figures to expect: a key of about 16 people is shown, one of 28 always.
    assert (people, mechanism.threshold) == (16, 28)


def test_the_loss_is_split_over_the_keys_of_one_person():
    one, three = KeySelection(epsilon=1, delta=1e-6), KeySelection(epsilon=1, delta=1e-6, groups=3)
    assert one.loss == Approx(1, Fraction(1e-6))
    assert three.loss == Approx(Fraction(1, 3), Fraction(1e-6) / 3) * 3
    assert three.loss.slack == Fraction(1e-6)
    assert three.loss.delta(1) <= 1e-6
    moved = KeySelection(epsilon=1, delta=1e-6, groups=2, relation="replace")
    assert moved.loss == Approx(Fraction(1, 4), Fraction(1e-6) / 4, relation="replace") * 4


@pytest.mark.parametrize("exact", [{"A": 3, "B": 6, "C": 40}, {"B": 5}, {}])
def test_every_key_is_kept_with_its_chance(exact):
    mechanism = KeySelection(epsilon=1, delta=0.01)
    check_sum(mechanism.chances(exact))
    check_fit(mechanism, exact, seed=50, draws=20_000)


def test_coins_that_64_bits_leave_open_are_settled(monkeypatch):
    # With words of so few bits that most coins tie, the chances must stay the same.
    monkeypatch.setattr(key_selection, "_WORD", 2)
    mechanism = KeySelection(epsilon=1, delta=0.01)
    check_fit(mechanism, {"A": 3, "B": 6, "C": 40}, seed=51, draws=5000)


def test_keys_come_out_in_their_own_order():
    mechanism = KeySelection(epsilon=1, delta=0.01)
    many = mechanism.threshold
    assert mechanism.release({"b": many, "a": many, "é": many, "B": many}) == ("B", "a", "b", "é")
    mixed = {("x", 2): many, ("x", None): many, (None, 3): many, ("x", 10): many}
    assert mechanism.release(mixed) == ((None, 3), ("x", None), ("x", 2), ("x", 10))
    assert mechanism.release({2: many, None: many, True: many, "a": many}) == (None, True, 2, "a")
    with seeded(52):
        one = mechanism.release({"a": 4, "b": 5, "c": 4})
    with seeded(52):
        assert mechanism.release({"c": 4, "b": 5, "a": 4}) == one


def test_keys_of_nobody_are_never_kept_and_certain_ones_always():
    mechanism = KeySelection(epsilon=1, delta=0.4)
    kept = mechanism.releases({"none": 0, "below": -3, "all": mechanism.threshold}, 2000)
    assert set(kept.tolist()) == {("all",)}


def test_many_keys_are_drawn_at_once():
    mechanism = KeySelection(epsilon=1, delta=1e-6)
    exact = {f"key {place:06}": place % 40 for place in range(50_000)}
    kept = mechanism.release(exact)
    assert list(kept) == sorted(kept)
    assert np.mean([exact[key] >= 10 for key in kept]) > 0.9


@pytest.mark.parametrize("delta", [Fraction(1, 10**6), Fraction(1, 10**40)])
def test_an_epsilon_without_bounds_selects_as_any_large_one_does_and_as_fast(delta):
    large = KeySelection(epsilon=1000, delta=delta)
    endless = KeySelection(epsilon=10**12, delta=delta)
    assert [endless.probability(people) for people in range(5)] == [large.probability(people) for people in range(5)]
    assert endless.probability(2) < endless.probability(3) == 1


def test_it_is_a_mechanism_that_can_be_repeated_and_enumerated():
    mechanism = KeySelection(epsilon=1, delta=1e-6)
    assert all(isinstance(mechanism, kind) for kind in (Mechanism, Repeatable, Enumerable))


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 1e-7, "delta": 1e-9}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"groups": 0}, "groups"),
        ({"relation": "swap"}, "relation"),
    ],
)
def test_bad_parameters_are_refused_by_name(given, name):
    with pytest.raises(BadParameter) as caught:
        KeySelection(**{"epsilon": 1, "delta": 1e-6} | given)
    assert caught.value.name == name
    assert caught.value.fix
