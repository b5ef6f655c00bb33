"""Person total: what one person moves, in one group and in several; the noise that covers it."""

import itertools

import pytest

from discreet.core.errors import BadParameter
from discreet.mechanisms import PersonTotal

BOUNDS = [(0, 3), (-5, 2), (-4, -1), (2, 7)]


def totals(low, high):
    """What a person may add to a group: nothing, or anything between the bounds."""
    return [0, *range(low, high + 1)]


@pytest.mark.parametrize(("low", "high"), BOUNDS)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_no_person_moves_two_groups_further_than_the_noise_was_made_for(low, high, groups, relation):
    ((noise, size),) = PersonTotal(low=low, high=high, epsilon=1, groups=groups, relation=relation).noises
    held = [pair for pair in itertools.product(totals(low, high), repeat=2) if sum(map(bool, pair)) <= groups]
    pairs = itertools.product(held, held if relation == "replace" else [(0, 0)])
    moves = [[a - b for a, b in zip(one, other, strict=True)] for one, other in pairs]
    assert size == 1
    assert max(sum(map(bool, move)) for move in moves) <= noise.sensitivity.l0
    assert max(max(map(abs, move)) for move in moves) <= noise.sensitivity.linf
    assert max(sum(map(abs, move)) for move in moves) <= noise.sensitivity.l1
    assert max(sum(each**2 for each in move) for move in moves) <= noise.sensitivity.l2_squared


@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_one_person_moves_a_group_by_the_farther_bound_and_not_by_the_distance_of_both(low, high):
    most = max(abs(low), abs(high))
    assert PersonTotal(low=low, high=high, epsilon=1).noises[0][0].scale == most
    assert PersonTotal(low=low, high=high, epsilon=1, groups=4).noises[0][0].scale == 4 * most
    assert PersonTotal(low=low, high=high, epsilon=1, groups=4, relation="replace").noises[0][0].scale == 8 * most
    normal = PersonTotal(low=low, high=high, rho=0.5, groups=4).noises[0][0]
    assert float(normal.scale) == pytest.approx(2 * most, rel=1e-6)
    assert normal.loss.zcdp() <= 0.5 * (1 + 1e-9)


def test_a_total_is_clamped_and_counted_in_steps():
    total = PersonTotal(low=-1, high=2.5, step=0.5, epsilon=1)
    assert total.exact([9, -9, 1.2, None, float("nan")]) == 5 - 2 + 2
    assert total.unit == 0.5


@pytest.mark.parametrize(
    "given", [{"low": 1, "high": 0}, {"low": 2, "high": 2}, {"low": 0, "high": 1, "contributions": 2}]
)
def test_what_is_no_total_is_refused(given):
    with pytest.raises(BadParameter):
        PersonTotal(epsilon=1, **given)
