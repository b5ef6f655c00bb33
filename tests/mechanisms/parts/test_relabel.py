"""Relabelling: the same loss under another relation, inside compositions too; what cannot be relabelled is refused."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.account import (
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Pure,
    Renyi,
    Zcdp,
    parallel,
)
from discreet.account.losses.composition import under
from discreet.core.errors import BadParameter
from discreet.mechanisms import Covariance, Mean, Quantile, Variance

LOSSES = [
    Approx(1, 1e-6),
    DiscreteGaussian(2, 3),
    DiscreteLaplace(Fraction(1, 3), 2),
    Exponential(1),
    Pure(0.5),
    Renyi({2: 1, 8: 3}),
    Zcdp(0.1),
]


@pytest.mark.parametrize(
    "loss", [*LOSSES, LOSSES[0] * 3, sum(LOSSES[1:], LOSSES[0]), (LOSSES[2] + LOSSES[3]) * 5], ids=repr
)
def test_a_loss_keeps_all_but_its_relation(loss):
    moved = under(loss, "replace")
    assert moved.relation == "replace"
    assert all(part.relation == "replace" for part, _ in moved.parts)
    assert under(moved, "add_remove") == loss
    assert moved.epsilon(1e-5) == loss.epsilon(1e-5)
    assert under(loss, "add_remove") is loss


def test_a_relabelled_sum_is_the_sum_of_the_relabelled():
    one, two = DiscreteLaplace(2, 1), DiscreteLaplace(2, 10)
    assert under(one + two * 2, "replace") == under(one, "replace") + under(two, "replace") * 2


def test_what_holds_for_one_relation_alone_is_refused():
    for loss in (Pure(1).sampled(0.1), parallel(Pure(1), Pure(2))):
        with pytest.raises(BadParameter, match="relation"):
            under(loss, "replace")
    with pytest.raises(BadParameter, match="relation"):
        under(Pure(1), "swap")


VALUES = st.integers(0, 4)
ROWS = st.lists(st.tuples(VALUES, VALUES), max_size=3)


@given(ROWS, ROWS, ROWS)
def test_noise_for_twice_the_rows_covers_an_exchange(shared, out, into):
    # What `under` is for: units of 3 rows, exchanged, against noise made for 6 rows added or removed.
    options = {"epsilon": 1, "contributions": 6}
    for mechanism in (
        Mean(low=0, high=4, **options),
        Variance(low=0, high=4, **options),
        Covariance(bounds=((0, 4), (0, 4)), **options),
    ):
        wide = isinstance(mechanism, Covariance)
        one, other = (
            np.array(
                mechanism._inner(
                    mechanism.exact([[a for a, _ in rows], [b for _, b in rows]] if wide else [a for a, _ in rows])
                ),
                dtype=object,
            )
            for rows in (shared + out, shared + into)
        )
        moved = np.abs(one - other).tolist()
        for noise, size in mechanism.noises:
            part, moved = moved[:size], moved[size:]
            assert sum(part) <= noise.sensitivity.l1
            assert sum(each * each for each in part) <= noise.sensitivity.l2_squared


@given(st.lists(VALUES, max_size=6), st.lists(VALUES, max_size=3), st.lists(VALUES, max_size=3))
def test_scores_for_twice_the_rows_cover_an_exchange(shared, out, into):
    mechanism = Quantile(q=0.25, low=0, high=4, epsilon=1, contributions=6)
    one, other = mechanism.chances(shared + out), mechanism.chances(shared + into)
    ratios = [one[point][0] / other[point][0] for point in one]
    assert max(ratios) / min(ratios) <= Fraction(np.exp(1)) * (1 + Fraction(1, 10**12))
