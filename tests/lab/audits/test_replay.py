"""Record and replay: the same randomness on a neighbour shows divergence, excess and unpaid releases."""

import secrets
import sys
import threading
from fractions import Fraction

import numpy as np
import pytest

from discreet import noise
from discreet.account.losses.discrete_gaussian import DiscreteGaussian
from discreet.account.losses.discrete_laplace import DiscreteLaplace
from discreet.account.losses.pure import Pure
from discreet.account.losses.zcdp import Zcdp
from discreet.lab import audit, examine
from discreet.lab.audits.tape import Tape, TapedDraw, TapedRelease, listening
from discreet.mechanisms.laplace import Laplace

REPLAY = ["replay"]


def test_a_tape_gives_back_what_was_drawn():
    with listening() as deck:
        deck.tape = Tape()
        first = [noise.laplace(10), noise.gaussian(3, 4).tolist(), noise.uniform(9)]
        deck.tape.rewind()
        second = [noise.laplace(10), noise.gaussian(3, 4).tolist(), noise.uniform(9)]
        calls = deck.tape.calls
    assert first == second
    assert calls == [TapedDraw("laplace", 10, None), TapedDraw("gaussian", 3, 4), TapedDraw("uniform", 9, None)]


def test_releases_are_taped_as_a_whole():
    with listening() as deck:
        deck.tape = Tape()
        first = Laplace(epsilon=Fraction(1, 10)).release(5)
        deck.tape.rewind()
        assert Laplace(epsilon=Fraction(1, 10)).release(7) == first
        assert deck.tape.calls == [TapedRelease(Laplace(epsilon=Fraction(1, 10)), 5)]


def test_everything_is_put_back_afterwards():
    before = (noise.laplace, Laplace.release, vars(sys.modules["discreet.mechanisms.laplace"])["laplace"])
    with listening():
        during = noise.laplace
    assert during is not before[0]
    assert (noise.laplace, Laplace.release, vars(sys.modules["discreet.mechanisms.laplace"])["laplace"]) == before


def test_other_threads_draw_fresh_noise_while_one_is_taped():
    drawn = []
    with listening() as deck:
        deck.tape = Tape()
        noise.laplace(10**6)
        other = threading.Thread(target=lambda: drawn.extend(noise.laplace(10**6) for _ in range(3)))
        other.start()
        other.join()
        assert len(deck.tape.calls) == 1
    assert len(set(drawn)) == 3


def test_an_answer_that_moves_further_than_its_noise_covers_is_found():
    finding = audit(lambda total: total + noise.laplace(1), 0, 3, DiscreteLaplace(1), layers=REPLAY)
    assert finding.violated
    assert finding.lower == 3
    assert "3" in finding.event


def test_an_answer_scaled_at_the_end_is_counted_in_steps():
    def release(steps):
        return (steps + noise.laplace(5)) * 0.01

    assert not audit(release, 0, 5, DiscreteLaplace(5, sensitivity=5), layers=REPLAY).violated
    assert audit(release, 0, 6, DiscreteLaplace(5, sensitivity=5), layers=REPLAY).violated


def test_a_vector_pays_for_all_of_its_moves():
    def release(counts):
        return np.array(counts) + noise.laplace(2, len(counts))

    assert audit(release, [0, 0], [1, -1], Pure(1), layers=REPLAY).lower == 1
    assert audit(release, [0, 0], [1, 2], Pure(1), layers=REPLAY).violated


def test_gaussian_vectors_pay_in_rho():
    def release(counts):
        return np.array(counts) + noise.gaussian(2, len(counts))

    assert not audit(release, [0, 0], [1, 1], Zcdp(Fraction(1, 4)), layers=REPLAY).violated
    assert audit(release, [0, 0], [1, 2], Zcdp(Fraction(1, 4)), layers=REPLAY).violated
    assert audit(release, [0, 0], [1, 0], Pure(5), layers=REPLAY).violated


def test_a_scale_that_depends_on_data_is_a_divergence():
    finding = audit(lambda values: noise.laplace(max(values)), [1, 2], [1, 3], DiscreteLaplace(1), layers=REPLAY)
    assert finding.violated
    assert finding.event == "call 1 is laplace(3) where it was laplace(2)"


def test_a_number_of_draws_that_depends_on_data_is_a_divergence():
    def release(values):
        return [value + noise.laplace(1) for value in values]

    finding = audit(release, [0, 0], [0], DiscreteLaplace(1), layers=REPLAY)
    assert finding.event == "call 2 is none where it was laplace(1)"
    assert audit(release, [0], [0, 0], DiscreteLaplace(1), layers=REPLAY).violated


def test_releases_with_the_same_inputs_cost_nothing():
    def groups(counts):
        return [Laplace(epsilon=1).release(count) for count in counts]

    assert not audit(groups, [3, 4, 5], [3, 4, 6], DiscreteLaplace(1), layers=REPLAY).violated
    finding = audit(groups, [3, 4, 5], [3, 5, 6], DiscreteLaplace(1), layers=REPLAY)
    assert finding.violated
    assert finding.lower == pytest.approx(2)


def test_a_release_fed_with_more_than_its_sensitivity_is_found():
    finding = audit(lambda count: Laplace(epsilon=1).release(count), 0, 2, Pure(5), layers=REPLAY)
    assert finding.violated
    assert "release 1 (Laplace(" in finding.event


def test_an_output_that_bypasses_the_releases_is_found():
    finding = audit(lambda count: (Laplace(epsilon=1).release(count), count), 0, 1, Pure(5), layers=REPLAY)
    assert finding.violated
    assert "same releases" in finding.event


def test_an_output_that_is_no_number_on_both_neighbours_is_the_same():
    def release(count):
        return {"n": Laplace(epsilon=1).release(count), "mean": float("nan"), "bins": np.zeros(2)}

    assert not audit(release, 0, 1, DiscreteLaplace(1), layers=REPLAY).violated


def test_a_release_under_another_relation_than_the_claim_is_found():
    claim = DiscreteLaplace(1, relation="replace")
    finding = audit(lambda count: Laplace(epsilon=1).release(count), 0, 1, claim, layers=REPLAY)
    assert finding.violated
    assert "add_remove" in finding.event


def test_mechanisms_whose_parameters_depend_on_data_are_another_mechanism():
    def release(values):
        return Laplace(sensitivity=max(values), epsilon=1).release(sum(values))

    assert audit(release, [1, 2], [1, 2, 3], Pure(1), layers=REPLAY).violated


def test_randomness_that_the_tape_does_not_hear_accuses_nobody():
    def release(count):
        return Laplace(epsilon=1).release(count), secrets.token_hex(8)

    assert examine(release, 0, 1, DiscreteLaplace(1), layers=REPLAY) == ()


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda bit: bit ^ noise.bernoulli(Fraction(1, 4)),  # coins
        lambda count: max(0, count + noise.laplace(1)),  # not proportional to its noise
        lambda count: count,  # no noise at all
        lambda count: str(count + noise.laplace(1)),  # no number
    ],
)
def test_where_replay_can_tell_nothing_it_says_nothing(mechanism):
    assert examine(mechanism, 0, 1, Pure(1), layers=REPLAY) == ()


def test_one_gaussian_is_charged_its_discrete_loss():
    finding = audit(lambda count: count + noise.gaussian(2), 0, 1, DiscreteGaussian(2), layers=REPLAY)
    assert finding.lower == finding.claimed == DiscreteGaussian(2).epsilon(finding.delta)
