"""Microsoft's telemetry: unbiased means and histograms, memos that answer alike, and exact costs over time."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from discreet import local
from discreet.core.errors import BadParameter
from discreet.noise.bits import current
from discreet.testing import FALSE_ALARM, fit, seeded

KEY = b"a secret key of its own."


def test_alpha_rounding_makes_the_bit_right_on_average():
    protocol = local.one_bit_mean(0, 24, 1, step=1)
    q = protocol.lie
    for hours in (0, 5, 12, 24):
        assert protocol.likelihood(hours)[b"\1"] == q + (1 - 2 * q) * Fraction(hours, 24)
    assert protocol.odds == (1 - q) / q
    assert 0.999 * np.e <= float(protocol.odds) <= np.e


@pytest.mark.parametrize("value", [0, 3, 12])
def test_means_are_unbiased_with_the_stated_variance_and_intervals_cover(value):
    protocol, n, runs = local.one_bit_mean(0, 24, 1, step=1), 500, 300
    values = np.full(n, value)
    with seeded(971):
        found = [protocol.estimate(protocol.aggregate(protocol.encode(values))) for _ in range(runs)]
    scores = np.array([(each.value[0] - n * value) for each in found]) / np.sqrt(protocol.variance(n, value))
    # 300 nearly normal numbers: their mean within 5 standard errors, their mean square within 6 of 0.082.
    assert abs(scores.mean()) <= 5 / np.sqrt(runs)
    assert (scores**2).mean() == pytest.approx(1, abs=0.49)
    covered = np.mean([each.low[0] <= n * value <= each.high[0] for each in found])
    assert covered >= 0.95 - 4 * np.sqrt(0.05 * 0.95 / runs)
    assert protocol.variance(n) == protocol.variance(n, 12) >= protocol.variance(n, value)


def test_the_mean_is_the_sum_over_the_reports():
    protocol = local.one_bit_mean(10, 20, 2)
    with seeded(972):
        total = protocol.estimate(protocol.aggregate(protocol.encode(np.full(2000, 13.5))))
    assert total.mean.value[0] == total.value[0] / 2000 == pytest.approx(13.5, abs=1.5)
    assert total.mean.names == ("mean",)
    assert total.mean.low[0] < 13.5 < total.mean.high[0]


def test_post_processing_keeps_a_sum_within_its_bounds():
    protocol = local.one_bit_mean(0, 1, 1)
    sketch = protocol.aggregate([b"\0"] * 50)
    assert protocol.estimate(sketch).value[0] < 0
    cut = protocol.estimate(sketch, post="simplex")
    assert cut.value[0] == cut.low[0] == 0
    with pytest.raises(BadParameter, match="post"):
        protocol.estimate(sketch, post="other")


def test_a_memo_keeps_alpha_and_both_answers():
    protocol = local.one_bit_mean(0, 24, 1, step=1)
    reports = set()
    for person in range(40):
        client = protocol.client(memo=KEY + bytes([person]))
        said = [client.report(hours) for hours in range(25)]
        assert said == [client.report(hours) for hours in range(25)]
        # One alpha, two answers: over all values in order the answer changes once at most.
        assert sum(one != other for one, other in pairwise(said)) <= 1
        reports.add(tuple(said))
    assert len(reports) > 10
    kept: dict = {}
    mapped = protocol.client(memo=kept)
    assert len({mapped.report(7) for _ in range(9)}) == 1
    assert len(kept) == 1


def test_a_remembered_answer_has_the_law_of_a_report():
    protocol = local.one_bit_mean(0, 24, 1, step=1)
    said = [protocol.client(memo=KEY + at.to_bytes(4, "big")).report(9)[0] for at in range(4000)]
    law = protocol.likelihood(9)
    # false-alarm rate 1e-6
    assert fit(np.bincount(said, minlength=2), [float(law[b"\0"]), float(law[b"\1"])]) > FALSE_ALARM


def ratio(protocol, one, other):
    first, second = protocol.history(one), protocol.history(other)
    assert sum(first.values()) == sum(second.values()) == 1
    return max(
        (first[said] / second[said] if second[said] else (np.inf if first[said] else 1) for said in first), default=1
    )


def test_a_value_that_stays_costs_one_answer_for_ever_exactly():
    for gamma in (0, Fraction(1, 10)):
        protocol = local.one_bit_mean(0, 4, 1, step=1, gamma=gamma)
        forever = (1 - protocol.lie) / protocol.lie
        costs = [ratio(protocol, [0] * r, [4] * r) for r in range(1, 7)]
        assert costs[0] == protocol.odds
        assert all(one <= other <= forever for one, other in pairwise(costs))
        assert protocol.loss_forever.epsilon(0) >= np.log(float(costs[-1]))


def test_a_change_is_seen_without_gamma_and_bounded_with_it():
    open_ = local.one_bit_mean(0, 4, 1, step=1)
    assert ratio(open_, [0, 4], [2, 2]) == np.inf
    with pytest.raises(BadParameter, match="gamma"):
        open_.loss_after(2)
    assert open_.loss_after(1).epsilon(0) == open_.loss.epsilon(0)
    hidden = local.one_bit_mean(0, 4, 1, step=1, gamma=Fraction(1, 5))
    pairs = [(one, other) for one in product(range(5), repeat=3) for other in ([0, 0, 0], [2, 2, 2], [4, 0, 4])]
    worst = max(float(ratio(hidden, one, other)) for one, other in pairs)
    assert np.log(worst) <= hidden.loss_after(3).epsilon(0) <= 3 * np.log(4) + 1e-9
    assert worst > float(hidden.odds)


def test_histograms_are_unbiased_with_the_stated_variance_and_intervals_cover():
    for d, gamma in ((1, 0), (3, 0), (9, Fraction(1, 10))):
        protocol, n, runs = local.d_bit_flip(k=9, epsilon=2, d=d, gamma=gamma), 1500, 150
        values = np.arange(n) % 4
        truth = np.bincount(values, minlength=9)
        with seeded(973 + d):
            found = [protocol.estimate(protocol.aggregate(protocol.encode(values))) for _ in range(runs)]
        spread = np.array([protocol.variance(n, int(count)) for count in truth])
        scores = np.array([(each.value - truth) / np.sqrt(spread) for each in found])
        # 9 means of 150 nearly normal numbers, within 6 standard errors; their mean square has an error of 0.04.
        assert np.abs(scores.mean(axis=0)).max() <= 6 / np.sqrt(runs)
        assert (scores**2).mean() == pytest.approx(1, abs=0.25)
        covered = np.array([((each.low <= truth) & (truth <= each.high)).mean() for each in found])
        assert covered.mean() >= 0.95 - 4 * max(covered.std(), 0.05) / np.sqrt(runs)


def test_one_bit_uses_the_whole_epsilon_and_more_bits_half_of_it_each():
    one, many = local.d_bit_flip(k=9, epsilon=2, d=1), local.d_bit_flip(k=9, epsilon=2, d=2)
    assert one.lie < many.lie
    assert 0.999 * np.exp(2) <= float(one.odds) <= np.exp(2)
    assert 0.999 * np.exp(2) <= float(many.odds) <= np.exp(2)
    assert local.d_bit_flip(k=100, epsilon=1).d == 16


def test_every_set_of_buckets_is_equally_likely():
    protocol = local.d_bit_flip(k=6, epsilon=1, d=3)
    with seeded(974):
        buckets = protocol.asked_buckets(20_000, current())
    assert (np.diff(buckets, axis=1) > 0).all()
    _, counts = np.unique(buckets @ [1, 6, 36], return_counts=True)
    assert len(counts) == 20
    # false-alarm rate 1e-6
    assert fit(counts, [1 / 20] * 20) > FALSE_ALARM


def test_a_client_of_histograms_keeps_buckets_and_answers():
    protocol = local.d_bit_flip(k=20, epsilon=1, d=4)
    client = protocol.client(memo=KEY)
    said = [client.report(value) for value in range(20)]
    assert said == [client.report(value) for value in range(20)]
    assert len({report[:4] for report in said}) == 1
    # An answer for each of the four buckets at most, and one for all the others.
    assert len(set(said)) <= 5
    assert protocol.aggregate(said).rejected == 0
    fresh = {local.d_bit_flip(k=20, epsilon=1, d=4, gamma=0.4).client(memo=KEY).report(3) for _ in range(30)}
    assert len(fresh) > 1


def test_buckets_out_of_order_and_stray_bits_are_malformed():
    protocol = local.d_bit_flip(k=9, epsilon=1, d=2)
    wrong = [b"\2\1\0", b"\3\3\0", b"\1\x09\0", b"\1\2\4"]
    sketch = protocol.aggregate([*wrong, b"\1\2\3"])
    assert (sketch.reports, sketch.rejected) == (1, 4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: local.one_bit_mean(1, 1, 1),
        lambda: local.one_bit_mean(0, 1, 1, step=0.3),
        lambda: local.one_bit_mean(0, 1, 1, step=1e-9),
        lambda: local.one_bit_mean(0, 1, 1, gamma=0.5),
        lambda: local.d_bit_flip(k=5, epsilon=1, d=6),
        lambda: local.d_bit_flip(k=5, epsilon=1, d=0),
        lambda: local.d_bit_flip(k=5, epsilon=1, gamma=-0.1),
    ],
)
def test_what_makes_no_protocol_is_refused(make):
    with pytest.raises(BadParameter):
        make()


@pytest.mark.parametrize(
    "wrong", [[-1], [25], [float("nan")], [float("inf")], ["a"], [None], [[1]], [True], [Fraction(1), "2"]], ids=repr
)
def test_a_number_outside_its_bounds_is_refused_and_not_shown(wrong):
    with pytest.raises(BadParameter, match="values") as refused:
        local.one_bit_mean(0, 24, 1).encode(wrong)
    assert "nan" not in str(refused.value)
    assert "25" not in str(refused.value)
