"""Poisoning: fakes never move an estimate beyond the bound, some reach it, and odd parts are flagged."""

from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

from discreet import local
from discreet.core.errors import BadParameter, Refusal
from discreet.local.parts.oracle import Oracle
from discreet.local.poisoning import Influence, influence, outliers
from discreet.local.protocol import KINDS
from discreet.noise import uniform
from discreet.testing import seeded

ORACLES = [
    example
    for name in ("randomized_response", "unary", "local_hash", "hadamard")
    for example in import_module(f"discreet.local.protocols.{KINDS[name]}").examples()
    if isinstance(example, Oracle) and example.bytes_per_report <= 2
]

OTHERS = sorted(
    name
    for name, module in KINDS.items()
    if name not in ("randomized_response", "unary", "local_hash", "hadamard")
    and find_spec(f"discreet.local.protocols.{module}")
)


def raw(protocol, sketch):
    return protocol.estimate(sketch).value


def distinct(protocol):
    """All reports of a small protocol."""
    return list(protocol.likelihood(0))


@pytest.mark.parametrize("protocol", ORACLES, ids=str)
def test_no_fake_moves_any_estimate_beyond_the_bound_and_some_fake_reaches_it(protocol):
    honest = protocol.aggregate(protocol.encode(np.arange(1_000_000) % protocol.k))
    before, fakes = raw(protocol, honest), 40
    bound = influence(protocol, fakes)
    moved = np.array(
        [raw(protocol, honest + protocol.aggregate([fake] * fakes)) - before for fake in distinct(protocol)]
    )
    assert moved.max() <= bound.high
    assert moved.min() >= bound.low
    assert moved.max() >= bound.high * (1 - 1e-6)
    assert moved.min() <= bound.low * (1 - 1e-6)


@pytest.mark.parametrize("protocol", ORACLES, ids=str)
def test_mixed_fakes_stay_within_the_bound(protocol):
    honest = protocol.aggregate(protocol.encode(np.arange(1_000_000) % protocol.k))
    choices = distinct(protocol)
    with seeded(5):
        mixed = [choices[place] for place in uniform(len(choices), 60).tolist()]
    moved = raw(protocol, honest + protocol.aggregate(mixed)) - raw(protocol, honest)
    bound = influence(protocol, 60)
    assert bound.low <= moved.min() <= moved.max() <= bound.high


def test_the_bound_grows_with_the_fakes_and_as_epsilon_falls():
    assert influence(local.unary(k=9, epsilon=1), 0) == Influence(0, 0.0, 0.0)
    one, ten = (influence(local.unary(k=9, epsilon=1), fakes) for fakes in (1, 10))
    assert ten.high == pytest.approx(10 * one.high)
    assert influence(local.unary(k=9, epsilon=0.1), 1).most > one.most > 1


class Odd:
    """A protocol of another kind: its only report decodes to 2 and -1."""

    name = "odd"

    def likelihood(self, _):
        return {b"a": 1}

    def aggregate(self, reports):
        return reports

    def estimate(self, reports):
        return type("Estimate", (), {"value": np.array([2.0, -1.0]) * len(reports)})


def test_a_protocol_of_another_kind_is_decoded_report_by_report_or_asked():
    found = influence(Odd(), 3)
    assert (found.low, found.high) == pytest.approx((-3, 6))

    class Asked(Odd):
        contribution = (-5, 7)

    found = influence(Asked(), 2)
    assert (found.low, found.high) == pytest.approx((-10, 14))


def test_a_protocol_whose_estimate_is_no_sum_over_reports_is_refused():
    class Curved(Odd):
        def likelihood(self, _):
            return {b"a": 1, b"b": 1}

        def estimate(self, reports):
            return type("Estimate", (), {"value": np.array([float(len(reports) ** 2)])})

    with pytest.raises(Refusal, match="no sum over reports"):
        influence(Curved(), 1)


@pytest.mark.parametrize("name", OTHERS)
def test_protocols_of_every_other_kind_are_bounded_or_refused(name):
    examples = import_module(f"discreet.local.protocols.{KINDS[name]}").examples()
    for protocol in (example for example in examples if example.name == name):
        try:
            bound = influence(protocol, 25)
        except Refusal:
            continue
        choices = distinct(protocol)
        with seeded(6):
            picked = [choices[place] for place in uniform(len(choices), 125).tolist()]
        honest = protocol.aggregate(picked[:100])
        moved = raw(protocol, honest + protocol.aggregate(picked[100:])) - raw(protocol, honest)
        assert bound.low <= moved.min() <= moved.max() <= bound.high


def test_a_protocol_with_too_many_reports_has_to_say_what_one_weighs():
    class Large(Odd):
        def likelihood(self, _):
            return dict.fromkeys(range(5000))

    with pytest.raises(Refusal, match="contribution"):
        influence(Large(), 1)


def parts(protocol, count, size, values=None):
    made = np.arange(size) % protocol.k if values is None else values
    return [protocol.aggregate(protocol.encode(made)) for _ in range(count)]


@pytest.mark.parametrize("protocol", [local.unary(k=9, epsilon=1), local.hadamard(k=9, epsilon=1)], ids=str)
def test_a_part_of_fakes_is_flagged_and_honest_parts_are_not(protocol):
    with seeded(8):
        honest = parts(protocol, 9, 4000)
        fake = protocol.aggregate([distinct(protocol)[-1]] * 400)
        found = outliers([*honest[:4], fake + parts(protocol, 1, 3600)[0], *honest[4:]])
    assert found[0].part == 4
    assert found[0].chance < 1e-6
    trials = 10 * len(honest[0].counts)  # parts and cells; the law of each has two tails
    assert found[0].chance == pytest.approx(2 * trials * np.exp(-found[0].statistic / 2), rel=1e-6, abs=0)


def test_parts_that_are_alike_raise_an_alarm_no_more_often_than_said():
    # 400 trials at a rate of at most 5%: 45 alarms or more has a probability below 1e-6.
    protocol = local.randomized_response(k=3, epsilon=1)
    with seeded(9):
        alarms = sum(bool(outliers(parts(protocol, 5, 300), false_alarm=0.05)) for _ in range(400))
    assert alarms < 45


def test_a_difference_of_a_real_population_is_a_flag_too():
    protocol = local.unary(k=9, epsilon=2)
    with seeded(10):
        found = outliers([*parts(protocol, 4, 3000), *parts(protocol, 1, 3000, np.zeros(3000, dtype=int))])
    assert {each.part for each in found} >= {4}
    assert found[0].cell == 0


def test_nothing_to_compare_is_no_alarm():
    protocol = local.unary(k=9, epsilon=1)
    assert outliers([]) == []
    assert outliers(parts(protocol, 1, 50)) == []
    assert outliers([*parts(protocol, 2, 50), protocol.aggregate([])]) == []


def test_sketches_whose_cells_are_no_counts_of_reports_are_refused():
    from discreet.local.sketch import Sketch

    with pytest.raises(BadParameter, match="at most one"):
        outliers([Sketch("x", np.array([9]), 3), Sketch("x", np.array([1]), 3)])


def test_a_mean_from_one_bit_is_bounded_whatever_its_range_is():
    made = local.one_bit_mean(10, 20, 1, step=1)
    bound = influence(made, 1)
    alone = [float(made.estimate(made.aggregate([report])).value[0]) for report in (b"\0", b"\1")]
    assert (bound.low, bound.high) == (pytest.approx(alone[0]), pytest.approx(alone[1]))
