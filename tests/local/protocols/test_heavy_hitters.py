"""Heavy hitters: frequent strings are found, others are not, and counts are unbiased."""

import numpy as np
import pytest

from discreet import local
from discreet.core.errors import BadParameter, Refusal
from discreet.local.poisoning import influence
from discreet.local.protocols.heavy_hitters import OTHERS
from discreet.testing import seeded


@pytest.fixture(autouse=True)
def _hashes():
    """Hash functions are drawn with a protocol: the same ones in every run, so that a right program passes."""
    with seeded(970):
        yield


COMMON = {"no": 9000, "yes": 8000, "maybe": 7000}


def crowd():
    rare = [f"{chr(97 + at % 26)}{chr(97 + at // 26 % 26)}q" for at in range(676)] * 8
    return [text for text, count in COMMON.items() for _ in range(count)] + rare


def test_frequent_strings_of_any_length_are_found_and_counted():
    protocol = local.heavy_hitters(4, length=5, rows=256, width=64)
    values = crowd()
    with seeded(991):
        found = protocol.estimate(protocol.aggregate(protocol.encode(values)))
    assert set(found.strings) == set(COMMON)
    assert found.names[-1] == OTHERS
    for name, value in zip(found.strings, found.value, strict=False):
        # Six standard deviations: a chance below 1e-6.
        assert abs(value - COMMON[name]) < 6 * np.sqrt(protocol.variance(len(values), COMMON[name]))
    assert found.value.sum() == pytest.approx(len(values))
    assert found.low[-1] <= len(values) - sum(COMMON.values()) <= found.high[-1]


def test_strings_that_nobody_has_are_found_no_more_often_than_said():
    # Of 60 searches that go wrong at a rate of 10%, 21 or more do with a chance below 1e-6.
    protocol = local.heavy_hitters(1, length=8, alphabet="01", shortest=8, lengths=(8, 8), rows=64, width=32)
    values = [f"{at % 4:08b}" for at in range(2000)]
    wrong = 0
    with seeded(992):
        for _ in range(60):
            found = protocol.estimate(protocol.aggregate(protocol.encode(values)), false_positives=0.1)
            wrong += bool({*found.strings} - {*values})
    assert wrong < 21


def test_counts_are_unbiased_and_intervals_cover_although_strings_were_selected():
    protocol, runs = local.heavy_hitters(4, length=2, alphabet="abc", lengths=(1, 2, 2), rows=128, width=32), 60
    truth = {"ab": 900, "c": 700, "": 400}
    values = [text for text, count in truth.items() for _ in range(count)]
    scores, covered = [], []
    with seeded(993):
        for _ in range(runs):
            found = protocol.estimate(protocol.aggregate(protocol.encode(values)))
            for name, value, low, high in zip(found.strings, found.value, found.low, found.high, strict=False):
                scores.append((value - truth.get(name, 0)) / np.sqrt(protocol.variance(2000, truth.get(name, 0))))
                covered.append(low <= truth.get(name, 0) <= high)
    assert len(scores) > 2 * runs
    # At most three dependent numbers a run: five standard errors of the 60 runs.
    assert abs(np.mean(scores)) <= 5 / np.sqrt(runs)
    assert np.mean(np.square(scores)) <= 1.6
    assert np.mean(covered) >= 0.95 - 4 * np.sqrt(0.05 * 0.95 / runs)


def test_rounds_are_chosen_so_that_each_extends_a_prefix_in_about_a_thousand_ways():
    assert local.heavy_hitters(1, length=6).lengths == (2, 4, 6, 6)
    assert local.heavy_hitters(1, length=20, alphabet="01", shortest=20).lengths == (10, 20, 20)
    assert local.heavy_hitters(1, length=1).lengths == (1, 1)


def test_a_string_ends_once_and_not_before_the_shortest():
    protocol = local.heavy_hitters(1, length=3, alphabet="ab", shortest=2, rows=2, width=2)
    made = [text.rstrip("\0") for text in protocol._extended([""], 3)]
    assert sorted(made) == sorted(["aa", "ab", "ba", "bb", *(a + b + c for a in "ab" for b in "ab" for c in "ab")])


@pytest.mark.parametrize("wrong", [["abc"], ["x"], [1], [None], [["a"]], ["a\0"], ["A"]], ids=repr)
def test_a_value_of_other_letters_or_length_is_refused_and_not_shown(wrong):
    with pytest.raises(BadParameter, match="values") as refused:
        local.heavy_hitters(1, length=2, alphabet="ab").encode(wrong)
    assert "abc" not in str(refused.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"alphabet": "a"},
        {"alphabet": "aa"},
        {"alphabet": "a\0"},
        {"lengths": (2, 4)},
        {"lengths": (4,)},
        {"lengths": (3, 2, 4, 4)},
        {"lengths": (0, 4, 4)},
        {"shortest": 5},
        {"length": 0},
        {"lengths": (9, 9)},
    ],
    ids=repr,
)
def test_what_makes_no_search_is_refused(wrong):
    with pytest.raises(BadParameter):
        local.heavy_hitters(1, **{"length": 4, **wrong})


def test_a_round_that_does_not_exist_is_malformed():
    protocol = local.heavy_hitters(1, length=1, alphabet="ab", rows=2, width=2)
    sketch = protocol.aggregate([b"\2\0", b"\0\0", b"\1\xff"])
    assert (sketch.reports, sketch.rejected) == (1, 2)


def test_fakes_are_bounded_round_by_round():
    protocol = local.heavy_hitters(1, length=2, alphabet="ab")
    with pytest.raises(Refusal, match="rounds"):
        influence(protocol, 3)
    assert influence(protocol.rounds[-1], 3).high > 3


def test_strings_that_nobody_has_stay_away_where_collisions_are_the_noise():
    wrong = 0
    for seed in range(20):
        made = local.heavy_hitters(6, length=4, lengths=(2, 4, 4), rows=64, width=16)
        with seeded(930 + seed):
            # A crowd of one string: so many reports of its prefix in each round.
            sent = [
                oracle.encode(["aaaa"[:size]] * 20_000).rows
                for size, oracle in zip((2, 4, 4), made.rounds, strict=True)
            ]
        rows = np.concatenate([np.insert(each, 0, at, axis=1) for at, each in enumerate(sent)])
        wrong += set(made.estimate(made.aggregate(rows.tobytes())).strings) != {"aaaa"}
    # Each run errs with probability 0.05 at most: more than eight of twenty err with a chance below 1e-6.
    assert wrong <= 8
