"""Person hashes: uniform, keyed by the vault's secret, and moved by nobody else."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import chdtri

import discreet as dp
from discreet.plan.person_hash import block_numbers, derived, person_hashes, sampled

MANY = 60_000
# People who were numbered one after the other, as an identity would be.
KEYS, PLACES = np.arange(MANY), np.zeros(MANY, np.int64)
FALSE_ALARM = 1e-6


def hashes(secret=b"a secret", keys=KEYS):
    return person_hashes(keys, PLACES[: len(keys)], secret)


def test_a_hash_follows_from_the_secret_the_key_and_the_place():
    assert (hashes() == hashes()).all()
    assert not (hashes() == hashes(b"another")).any()
    assert not (hashes() == person_hashes(KEYS, PLACES + 1, b"a secret")).any()
    assert (hashes(keys=KEYS[5:9]) == hashes()[5:9]).all()
    assert len(set(hashes().tolist())) == MANY


def test_without_a_secret_there_is_no_hash():
    with pytest.raises(dp.BadParameter, match="anybody could compute"):
        hashes(b"")


def is_uniform(numbers, many):
    """Whether counts fit equal chances, at a false-alarm rate of one in a million."""
    counts, expected = np.bincount(numbers, minlength=many), len(numbers) / many
    return ((counts - expected) ** 2 / expected).sum() < chdtri(many - 1, FALSE_ALARM)


@pytest.mark.parametrize("many", [2, 10, 64])
def test_blocks_are_of_equal_chance_and_those_of_two_names_independent(many):
    one, other = (block_numbers(hashes(), many, name) for name in ("trees", "medians"))
    assert is_uniform(one, many)
    assert is_uniform(other, many)
    assert is_uniform(one * many + other, many * many)


def test_whoever_comes_or_goes_moves_nobody_else_to_another_block():
    everyone = block_numbers(hashes(), 10, "trees")
    rest = np.flatnonzero(KEYS != 31_337)
    assert (block_numbers(hashes(keys=KEYS[rest]), 10, "trees") == everyone[rest]).all()


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1, 50)])
def test_a_sample_takes_everyone_with_its_rate_and_anew_with_another_key(rate):
    one, other = (sampled(hashes(), rate, key) for key in (b"1" * 32, b"2" * 32))
    assert (one == sampled(hashes(), rate, b"1" * 32)).all()
    for taken, chance in ((one, rate), (other, rate), (one & other, rate**2)):
        deviation = (MANY * chance * (1 - chance)) ** 0.5
        assert abs(int(taken.sum()) - MANY * chance) < 4.9 * float(deviation)  # beyond it once in a million


def test_rates_and_blocks_that_are_none_are_refused():
    assert sampled(hashes(), Fraction(1), b"k").all()
    assert not sampled(hashes(), Fraction(0), b"k").any()
    for rate in (Fraction(-1, 9), Fraction(10, 9)):
        with pytest.raises(dp.BadParameter, match="probability"):
            sampled(hashes(), rate, b"k")
    with pytest.raises(dp.BadParameter, match="at least one"):
        block_numbers(hashes(), 0, "trees")


def test_derived_numbers_of_two_keys_have_nothing_in_common():
    assert not (derived(hashes(), b"1") == derived(hashes(), b"2")).any()
    assert is_uniform((derived(hashes(), b"1") ^ derived(hashes(), b"2")).astype(np.int64) & 15, 16)
