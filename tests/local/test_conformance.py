"""What every protocol promises, tried on the examples that each keeps beside its code."""

import json
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations

import numpy as np
import pytest
from mpmath import mp, mpf

from discreet import local, noise
from discreet.core.errors import BadParameter
from discreet.local.parts.oracle import Oracle
from discreet.local.protocol import KINDS, Protocol
from discreet.local.reports import Reports
from discreet.local.sketch import Sketch
from discreet.noise import bits
from discreet.testing import FALSE_ALARM, fit, seeded

# Protocols whose reports are drawn in more than one stage, so that no single report attains the bound that is paid for.
STAGED = {"rappor", "heavy_hitters", "marginals", "one_bit_mean", "d_bit_flip", "mean"}


def examples():
    """Find the examples of every protocol; those of a module that serves several names are told apart by theirs."""
    for module in sorted(set(KINDS.values())):
        if find_spec(f"discreet.local.protocols.{module}") is not None:
            yield from getattr(import_module(f"discreet.local.protocols.{module}"), "examples", tuple)()


with seeded(900):  # hash functions are drawn with a protocol; the names of tests tell them apart
    EXAMPLES = list(examples())
ORACLES = [protocol for protocol in EXAMPLES if isinstance(protocol, Oracle)]


def name(protocol):
    return f"{protocol.name}-{protocol.spec_hash[:6]}"


def values_of(protocol):
    """Return a few values that the protocol reports: its own trial values, or the first and last of 0 .. k-1."""
    if hasattr(protocol, "trial_values"):
        return list(protocol.trial_values())
    k = protocol.k
    return [*range(k)] if k <= 8 else [0, 1, 2, k // 2, k - 2, k - 1]


every = pytest.mark.parametrize("protocol", EXAMPLES, ids=name)
every_oracle = pytest.mark.parametrize("protocol", ORACLES, ids=name)


def test_every_protocol_keeps_examples():
    assert {protocol.name for protocol in EXAMPLES} == set(KINDS)


@every
def test_it_is_a_frozen_value_that_its_spec_describes(protocol):
    assert isinstance(protocol, Protocol)
    again = Protocol.from_spec(json.loads(json.dumps(protocol.spec())))
    assert again == protocol
    assert again.spec_hash == protocol.spec_hash
    assert len(protocol.spec_hash) == 64
    with pytest.raises((AttributeError, TypeError)):
        protocol.epsilon = 1


@every
def test_likelihoods_are_exact_and_no_ratio_exceeds_what_is_paid(protocol):
    laws = [protocol.likelihood(value) for value in values_of(protocol)]
    assert all(sum(law.values()) == 1 for law in laws)
    largest = Fraction(1)
    for one, other in combinations(laws, 2):
        for report in one.keys() | other.keys():
            here, there = one.get(report, Fraction(0)), other.get(report, Fraction(0))
            assert (here == 0) == (there == 0)
            if here:
                largest = max(largest, here / there, there / here)
    assert largest <= protocol.odds
    with mp.workprec(300):
        exact = mp.log(mpf(protocol.odds.numerator) / protocol.odds.denominator)
        asked = mpf(protocol.epsilon.numerator) / protocol.epsilon.denominator
        assert exact <= mpf(protocol.loss.epsilon(0))
        if protocol.name not in STAGED:
            assert exact <= asked * (1 + mpf(2) ** -52)
            assert float(largest) >= 0.999 * float(mp.exp(asked))


@every
def test_reports_have_the_exact_distribution(protocol):
    value = values_of(protocol)[1]
    law = protocol.likelihood(value)
    runs = 40_000
    with seeded(901):
        found = list(protocol.encode([value] * runs))
    assert {len(report) for report in found} == {protocol.bytes_per_report}
    places = {report: at for at, report in enumerate(law)}
    counts = np.bincount([places[report] for report in found], minlength=len(law))
    # false-alarm rate 1e-6
    assert fit(counts, [float(chance) for chance in law.values()]) > FALSE_ALARM


@every
def test_its_loss_protects_the_value_and_not_the_fact_of_reporting(protocol):
    assert protocol.loss.relation == "replace"
    assert 0 < protocol.loss.epsilon(0) < 100


def some(protocol, count=300):
    values = values_of(protocol)
    return [values[at % len(values)] for at in range(count)]


@every
def test_a_sketch_does_not_depend_on_how_reports_arrive(protocol):
    with seeded(902):
        reports = protocol.encode(some(protocol))
    whole = protocol.aggregate(reports)
    assert isinstance(reports, Reports)
    assert whole.reports == 300
    assert whole.rejected == 0
    assert protocol.aggregate(bytes(reports)) == whole
    assert protocol.aggregate(list(reports)) == whole
    assert protocol.aggregate(reports.batches(70)) == whole
    assert sum(protocol.aggregate(batch) for batch in reports.batches(41)) == whole
    assert Sketch.from_bytes(whole.to_bytes()) == whole


@every
def test_malformed_reports_are_counted_and_have_no_effect(protocol):
    with seeded(903):
        reports = protocol.encode(some(protocol, 50))
    clean = protocol.aggregate(reports)
    size = protocol.bytes_per_report
    wrong = [b"", bytes(size + 1), b"x" * (size - 1), "text", None, 7]
    mixed = protocol.aggregate([*reports, *wrong])
    assert np.array_equal(mixed.counts, clean.counts)
    assert (mixed.reports, mixed.rejected) == (50, len(wrong))
    other = Reports(reports.data, 50, "0" * 64)
    assert protocol.aggregate(other) == Sketch(protocol.spec_hash, np.zeros_like(clean.counts), 0, 50)
    assert protocol.aggregate(bytes(reports) + b"?" * (size - 1)).reports == (0 if size > 1 else 50)


@every
def test_no_bytes_whatever_raise(protocol):
    size = protocol.bytes_per_report
    with seeded(904):
        noise_bytes = noise.uniform(256, size * 5000).astype(np.uint8).tobytes()
    sketch = protocol.aggregate(noise_bytes)
    assert sketch.reports + sketch.rejected == 5000
    assert len(protocol.estimate(sketch)) >= 1


@every
def test_no_report_at_all_can_be_estimated(protocol):
    estimate = protocol.estimate(protocol.aggregate(b""))
    assert estimate.reports == 0
    assert (estimate.low <= estimate.value).all()
    assert (estimate.value <= estimate.high).all()


@every
def test_a_sketch_of_another_protocol_is_refused(protocol):
    with pytest.raises(BadParameter, match="another protocol"):
        protocol.estimate(Sketch("0" * 64, np.zeros(3, dtype=np.int64), 0))


# A protocol with a client of its own, as RAPPOR's, may keep a memo of something else than whole reports.
memoized = [protocol for protocol in EXAMPLES if type(protocol).client is Protocol.client]


@pytest.mark.parametrize("protocol", memoized, ids=name)
def test_a_memo_answers_alike_when_asked_again(protocol):
    value, other = values_of(protocol)[:2]
    client = protocol.client(memo=b"a secret key of its own.")
    again = protocol.client(memo=b"a secret key of its own.")
    kept: dict = {}
    mapped = protocol.client(memo=kept)
    reports = {client.report(value) for _ in range(5)} | {again.report(value)}
    assert len(reports) == 1
    assert len({mapped.report(value) for _ in range(5)}) == 1
    mapped.report(other)
    assert len(kept) == 2
    fresh = protocol.client()
    assert {len(fresh.report(value)) for _ in range(3)} == {protocol.bytes_per_report}


@every
def test_error_and_variance_are_known_before_anything_is_drawn(protocol):
    assert 0 < protocol.variance(1000) < protocol.variance(100_000)
    assert protocol.error(1000, 0.05) < protocol.error(1000, 0.01)


@every_oracle
@pytest.mark.parametrize("wrong", [[-1], [10**6], [0.5], ["a"], [None], [[0]], [2**80], [True], [1, -3]], ids=repr)
def test_a_value_that_is_none_is_refused_before_a_bit_is_drawn(protocol, wrong, monkeypatch):
    class Dry(bits.BitSource):
        def words(self, count, bits):
            raise AssertionError("a bit was drawn")

    monkeypatch.setattr(bits._threads, "source", Dry())
    with pytest.raises(BadParameter, match="values"):
        protocol.encode(wrong)


@every_oracle
def test_estimates_are_unbiased_with_the_stated_variance(protocol):
    n, runs = 1000, 200
    values = np.arange(n) % min(protocol.k, 3)  # three common values, the others rare
    truth = np.bincount(values, minlength=protocol.k)
    with seeded(905):
        found = np.array([protocol.estimate(protocol.aggregate(protocol.encode(values))).value for _ in range(runs)])
    spread = np.array([protocol.variance(n, int(count)) for count in truth])
    scores = (found - truth) / np.sqrt(spread)
    # Means of 200 nearly normal numbers lie within 6 standard errors of 0 at all of at most 300 values: below 1e-6.
    assert np.abs(scores.mean(axis=0)).max() <= 6 / np.sqrt(runs)
    # At least 199 x 1 degrees of freedom, correlated in part: the mean square of one value has an error of 0.1.
    rare = scores[:, -1]
    assert (rare**2).mean() == pytest.approx(1, abs=0.55)
    assert (scores**2).mean() == pytest.approx(1, abs=0.55)


@every_oracle
@pytest.mark.parametrize("n", [40, 400])
def test_intervals_cover(protocol, n):
    runs = 250
    values = np.arange(n) % min(protocol.k, 3)
    truth = np.bincount(values, minlength=protocol.k)
    with seeded(906):
        estimates = [protocol.estimate(protocol.aggregate(protocol.encode(values))) for _ in range(runs)]
    covered = np.array([(each.low <= truth) & (truth <= each.high) for each in estimates]).mean(axis=1)
    # Values of one run depend on each other: the runs are the sample. Four standard errors, as the bar says.
    assert covered.mean() >= 0.95 - 4 * max(covered.std(), 0.05) / np.sqrt(runs)


def test_the_names_of_the_package_are_factories_however_files_were_imported():
    from discreet.local.protocols.unary import Unary

    assert isinstance(local.unary(k=3, epsilon=1), Unary)
    import_module("discreet.local.protocols.hadamard")
    assert callable(local.hadamard)
    assert set(local.__all__) >= set(KINDS)
    with pytest.raises(AttributeError, match="did you mean 'hadamard'"):
        local.hadamar  # noqa: B018
