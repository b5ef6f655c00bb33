"""The audit: known figures, every registered mechanism on its own worst neighbours, and refusals."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest

from discreet import noise
from discreet.account.losses.discrete_laplace import DiscreteLaplace
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.pure import Pure, RandomizedResponse
from discreet.account.losses.renyi import Renyi
from discreet.core.errors import BadParameter, UnknownName
from discreet.lab import Finding, audit, examine, trials
from discreet.lab.audits.audit import ALARM
from discreet.mechanisms import registry
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.parts.mechanism import Enumerable
from discreet.testing import FALSE_ALARM, fit, seeded

# Every audit accuses an honest mechanism with probability at most 1e-6.
TRIALS = [pytest.param(name, trial, id=f"{name}-{trial.name}") for name in registry for trial in trials(name)]


class TwoCoins:
    """A coin decides whether to answer truthfully; if not, a second coin is the answer."""

    loss = RandomizedResponse(math.log(3))

    def error(self, beta=0.05):
        return 1.0

    def release(self, bit):
        return bit if noise.bernoulli(Fraction(1, 2)) else noise.bernoulli(Fraction(1, 2))

    def releases(self, bit, count):
        honest, second = noise.bernoulli(Fraction(1, 2), count), noise.bernoulli(Fraction(1, 2), count)
        return np.where(honest, bit, second)

    def chances(self, bit):
        truth, lie = Fraction(3, 4), Fraction(1, 4)
        return {bit: (truth, truth), 1 - bit: (lie, lie)}


def affordable(trial, seconds=0.4, most=100_000):
    """Return how many runs fit some time, so that slow mechanisms are audited with fewer."""
    many = getattr(trial.mechanism, "releases", None)
    started, count = time.perf_counter(), 100
    if many is None:
        for _ in range(count):
            trial.mechanism.release(trial.one)
    else:
        many(trial.one, count)
    return int(min(most, max(1000, count * seconds / (time.perf_counter() - started))))


def test_two_coins_are_seen_to_cost_nearly_the_logarithm_of_three():
    with seeded(1):
        finding = audit(TwoCoins(), 0, 1, samples=10**6, layers=["black_box"])
    assert 1.05 <= finding.lower <= math.log(3)
    assert finding.claimed == pytest.approx(math.log(3))


def test_two_coins_cost_exactly_the_logarithm_of_three():
    finding = audit(TwoCoins(), 0, 1, layers=["exact"])
    assert finding.lower == pytest.approx(math.log(3), abs=1e-12)
    assert finding.point == (0.25, 0.25)


def test_laplace_at_epsilon_one_is_seen_to_cost_nearly_one_and_never_more():
    with seeded(2):
        finding = audit(Laplace(epsilon=1), 0, 1, samples=10**6, layers=["black_box"])
    assert 0.95 <= finding.lower <= 1
    assert finding.samples == 10**6


def test_by_all_layers_laplace_costs_what_it_claims():
    findings = examine(Laplace(epsilon=1), 0, 1, samples=10_000)
    assert [finding.layer for finding in findings] == ["exact", "black_box", "replay"]
    assert [finding.lower for finding in findings if finding.layer != "black_box"] == pytest.approx([1, 1])


@pytest.mark.parametrize(("name", "trial"), TRIALS)
def test_every_registered_mechanism_keeps_its_promise(name, trial):
    with seeded(3):
        findings = examine(trial.mechanism, trial.one, trial.other, samples=affordable(trial))
    assert findings
    assert [finding for finding in findings if finding.violated] == []


@pytest.mark.parametrize(("name", "trial"), TRIALS)
def test_no_registered_mechanism_shows_more_than_its_claim_in_the_other_order(name, trial):
    with seeded(4):
        findings = examine(trial.mechanism, trial.other, trial.one, samples=1000, layers=["exact", "replay"])
    assert [finding for finding in findings if finding.violated] == []


@pytest.mark.parametrize(
    ("name", "trial"), [param for param in TRIALS if isinstance(param.values[1].mechanism, Enumerable)]
)
def test_written_chances_are_those_of_the_releases(name, trial):
    # One chi-square test a trial, with a false-alarm rate of 1e-6.
    try:
        chances = trial.mechanism.chances(trial.one)
    except BadParameter:
        pytest.skip("too many outputs to write down")
    with seeded(5):
        drawn = trial.mechanism.releases(trial.one, affordable(trial, most=20_000)).tolist()
    outputs = {output: place for place, output in enumerate(chances)}
    counts = np.zeros(len(outputs) + 1)
    for output in drawn:
        counts[outputs.get(tuple(output) if isinstance(output, list) else output, len(outputs))] += 1
    likely = np.array([float(low + high) / 2 for low, high in chances.values()] + [2.0**-60])
    assert fit(counts, likely / likely.sum()) > FALSE_ALARM


@pytest.mark.soak
@pytest.mark.parametrize(("name", "trial"), TRIALS)
def test_every_registered_mechanism_keeps_its_promise_a_hundred_times(name, trial):
    runs = affordable(trial, seconds=0.05, most=50_000)
    for _ in range(100):
        finding = audit(trial.mechanism, trial.one, trial.other, samples=runs, layers=["black_box"])
        assert not finding.violated, finding


@pytest.mark.parametrize("beta", [0.1, 0.01])
def test_laplace_errors_exceed_their_bound_at_the_stated_rate(beta):
    # M4: P(|error| > scale ln(1/beta)) is at most beta; and the declared half-width is no less rare than beta.
    # Normal tail of 5 standard errors: one in 3.5 million.
    count, scale = 1_000_000, 10
    with seeded(6):
        errors = np.abs(Laplace(scale=scale).releases(0, count))
    spread = 5 * math.sqrt(beta * (1 - beta) / count)
    for bound in (scale * math.log(1 / beta), Laplace(scale=scale).error(beta)):
        assert (errors > bound).mean() <= beta + spread


@pytest.mark.parametrize("surplus", [1.0, 2.0, 4.6])
def test_the_exponential_mechanism_is_worse_than_its_bound_at_most_at_the_stated_rate(surplus):
    # M9: P(score <= best - (2 sensitivity / epsilon)(ln(all / best ones) + b)) <= e^-b; 5 standard errors as above.
    epsilon, scores, count = 0.5, np.arange(1000), 20_000
    with seeded(7):
        chosen = scores[Exponential(epsilon=epsilon).releases(scores, count)]
    worst = scores.max() - 2 / epsilon * (math.log(len(scores)) + surplus)
    rate = math.exp(-surplus)
    assert (chosen <= worst).mean() <= rate + 5 * math.sqrt(rate * (1 - rate) / count)


def test_a_million_runs_of_a_vectorised_mechanism_take_two_seconds_of_one_core():
    audit(Laplace(epsilon=1), 0, 1, samples=1000)

    def seconds():
        started = time.process_time()
        audit(Laplace(epsilon=1), 0, 1, samples=10**6)
        return time.process_time() - started

    assert min(seconds() for _ in range(2)) < 2


def test_a_function_is_audited_against_a_claim():
    with seeded(8):
        finding = audit(lambda count: count + noise.laplace(2), 0, 1, Pure(1), 5000)
    assert (finding.verdict, finding.claimed) == ("bounded", 1.0)


def test_another_claim_than_the_mechanisms_own_can_be_put_to_it():
    finding = audit(Laplace(epsilon=2), 0, 1, DiscreteLaplace(1), 1000)
    assert finding.violated
    assert finding.lower == pytest.approx(2)


def test_a_delta_is_subtracted():
    # Laplace at epsilon 1 at delta 0.2 costs ln((p - 0.2) / q), with p and q the chances of a positive answer.
    finding = audit(Laplace(epsilon=1), 0, 1, delta=0.2, layers=["exact"])
    p = 1 / (1 + math.exp(-1))
    assert finding.delta == 0.2
    assert finding.lower == pytest.approx(math.log((p - 0.2) / (1 - p)), abs=1e-9)


def test_the_default_rate_of_false_alarms_is_one_in_a_million():
    assert ALARM == FALSE_ALARM


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"samples": 10}, "samples"),
        ({"samples": 1e6}, "samples"),
        ({"alarm": 0}, "alarm"),
        ({"alarm": 1.5}, "alarm"),
        ({"delta": -1}, "delta"),
        ({"delta": 1}, "delta"),
        ({"claim": 1.0}, "claim"),
        ({"layers": []}, "layers"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_with_the_fix(given, name):
    with pytest.raises(BadParameter) as refused:
        audit(Laplace(epsilon=1), 0, 1, **given)
    assert refused.value.name == name
    assert refused.value.fix


def test_an_unknown_layer_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="black_box"):
        audit(Laplace(epsilon=1), 0, 1, layers=["blackbox"])


def test_what_cannot_be_run_is_refused():
    with pytest.raises(BadParameter, match="neither released nor called"):
        audit(3, 0, 1, Pure(1))


def test_a_function_without_a_claim_is_refused():
    with pytest.raises(BadParameter, match="does not state its guarantee"):
        audit(lambda data: data, 0, 1)


def test_a_claim_that_promises_nothing_at_a_delta_is_refused():
    with pytest.raises(BadParameter, match="no finite epsilon"):
        audit(lambda data: data, 0, 1, Renyi({2: 1}), delta=0)


def test_the_loss_of_a_mechanism_is_its_claim():
    finding = audit(Laplace(epsilon=1), 0, 1, samples=1000)
    assert isinstance(finding, Finding)
    assert isinstance(finding.claim, PrivacyLoss)
    assert finding.claim == Laplace(epsilon=1).loss
