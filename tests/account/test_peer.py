"""Compositions on random samples against dp-accounting, whose two estimates enclose the truth.

The golden table was written by tools/peer_accounting.py, on a grid fine enough that the enclosure is narrow.
"""

import json
from pathlib import Path

import pytest

from discreet.account import Gaussian, Laplace, total

RECORD = json.loads((Path(__file__).parent / "golden" / "peer.json").read_text())
CASES = RECORD["cases"]
KINDS = {"gaussian": Gaussian, "laplace": Laplace}


def loss_of(case):
    """Return the composition of a case."""
    return total(KINDS[kind](noise).sampled(rate) * count for kind, noise, rate, count in case["parts"])


def check(case):
    """Hold a case to the peer's enclosure: not below its lower end, at most half a percent above its upper end."""
    found = loss_of(case).epsilon(case["delta"])
    assert case["low"] * (1 - 1e-9) <= found <= case["high"] * 1.005, case


def test_the_table_names_its_peer_and_holds_two_hundred_cases():
    assert RECORD["peer"].startswith("dp-accounting ")
    assert len(CASES) >= 200
    assert sum(case["high"] / case["low"] < 1.01 for case in CASES) > 150  # so narrow that the bars have teeth


@pytest.mark.numeric
@pytest.mark.parametrize("place", range(0, len(CASES), 12))
def test_epsilon_of_sampled_noise_is_what_others_find(place):
    check(CASES[place])


@pytest.mark.soak
@pytest.mark.parametrize("place", range(len(CASES)))
def test_epsilon_of_sampled_noise_is_what_others_find_in_every_case(place):
    check(CASES[place])
