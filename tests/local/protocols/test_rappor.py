"""RAPPOR: its exact costs, its reports and its clients."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from discreet import local
from discreet.core.errors import BadParameter
from discreet.local.protocol import Protocol
from discreet.testing import FALSE_ALARM, fit, seeded

KEY = bytes(range(32))
WORDS = ("ada", "bob", "cyd", "dee", "eve", "fay")

# Named parameter sets of the published simulation, (p, q, f) with two hashes, and the paper's epsilons:
# one report h ln(q*(1-p*) / (p*(1-q*))), forever 2 h ln((1 - f/2)/(f/2)).
PUBLISHED = {
    "eps_1_1": (0.39, 0.61, 0.45),
    "eps_verysmall": (0.125, 0.875, 0.125),
    "eps_small": (0.125, 0.875, 0.5),
    "eps_chrome": (0.25, 0.75, 0.5),
    "uma_rappor_type": (0.50, 0.75, 0.5),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_parameters_cost_what_the_paper_says(name):
    p, q, f = PUBLISHED[name]
    zero, one = p * (1 - f / 2) + q * f / 2, q * (1 - f / 2) + p * f / 2
    made = local.rappor(16, 2, 64, f, p, q)
    assert made.loss.epsilon(0) == pytest.approx(2 * math.log(one * (1 - zero) / (zero * (1 - one))), rel=1e-8)
    assert made.loss_forever.epsilon(0) == pytest.approx(4 * math.log((1 - f / 2) / (f / 2)), rel=1e-8)


def test_the_grid_is_never_dearer_than_what_was_asked():
    made = local.rappor(16, 2, 64, 0.45, 0.39, 0.61)
    assert made.f >= Fraction(45, 100)
    assert made.p >= Fraction(39, 100)
    assert made.q <= Fraction(61, 100)
    assert max(made.f - Fraction(45, 100), made.p - Fraction(39, 100), Fraction(61, 100) - made.q) < Fraction(1, 2**31)
    swapped = local.rappor(16, 2, 64, 0.45, 0.61, 0.39)
    assert (swapped.p, swapped.q) == (made.q, made.p)
    assert swapped.odds == made.odds
    assert local.rappor(16, 2, 64, Fraction(1, 3), 0.25, 0.75, published=True).f == Fraction(43, 128)


def laws_of_permanent(made, reports):
    """Return, for each word, the exact law of several reports of one client in cohort 0, by going through all bits."""
    turned = made.f / 2
    out = []
    for word in WORDS:
        chosen = set(made.places([word])[0, 0].tolist())
        law = {(): Fraction(1)}
        for at in range(made.bits):
            one = 1 - turned if at in chosen else turned
            each = {}
            for ones in range(reports + 1):
                # how many of the reports show a one is all that matters at a bit
                given = [rate**ones * (1 - rate) ** (reports - ones) for rate in (made.p, made.q)]
                each[ones] = math.comb(reports, ones) * ((1 - one) * given[0] + one * given[1])
            law = {(*key, ones): chance * more for key, chance in law.items() for ones, more in each.items()}
        out.append(law)
    return out


@pytest.mark.parametrize("reports", [1, 2, 3, 6])
@pytest.mark.parametrize("noise", [(0.5, 0.25, 0.75), (0.2, 0.4, 0.5), (0.3, 0.75, 0.5), (0.25, 0, 1)], ids=repr)
def test_several_reports_of_one_string_cost_exactly_what_is_stated(reports, noise):
    made = local.rappor(4, 2, 1, *noise)
    largest = Fraction(1)
    for one, other in combinations(laws_of_permanent(made, reports), 2):
        for key, chance in one.items():
            assert (chance == 0) == (other[key] == 0)
            if chance:
                largest = max(largest, chance / other[key], other[key] / chance)
    stated = made.loss_after(reports).epsilon(0)
    exact = math.log(largest.numerator) - math.log(largest.denominator)
    assert exact <= stated * (1 + 1e-12)
    assert exact == pytest.approx(stated, rel=1e-9)
    assert stated <= made.loss_forever.epsilon(0) * (1 + 1e-12)


def test_many_reports_approach_the_cost_for_ever_and_no_permanent_answer_has_none():
    made = local.rappor()
    costs = [made.loss_after(r).epsilon(0) for r in (1, 2, 5, 20, 100, 10_000)]
    assert costs == sorted(costs)
    assert costs[0] == made.loss.epsilon(0)
    assert costs[-1] == pytest.approx(made.loss_forever.epsilon(0))
    fresh = local.rappor(8, 2, 16, 0, 0.225, 0.775)
    assert fresh.loss_after(3).epsilon(0) == pytest.approx(3 * fresh.loss.epsilon(0))
    with pytest.raises(BadParameter, match="no permanent answer"):
        _ = fresh.loss_forever


def test_two_strings_with_the_fewest_bits_attain_the_odds():
    for bits, hashes in ((2, 1), (3, 2), (4, 3), (6, 2)):
        made = local.rappor(bits, hashes, 6, 0.5, 0.25, 0.7, candidates=[f"w{at}" for at in range(30)])
        laws = [made.likelihood(value) for value in range(12)]
        largest = max(max(one[r] / other[r], other[r] / one[r]) for one, other in combinations(laws, 2) for r in one)
        assert largest == made.odds


@pytest.mark.parametrize(
    "wrong",
    [
        {"bits": 1},
        {"bits": 5000},
        {"hashes": 0},
        {"hashes": 16},
        {"cohorts": 0},
        {"f": 1},
        {"f": -0.1},
        {"p": 0.75},
        {"f": 0, "p": 0},
        {"f": 0, "q": 1},
        {"bits": 33, "published": True},
        {"candidates": ["a", "a"]},
        {"candidates": [1]},
        {"topic": 3},
    ],
    ids=repr,
)
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(BadParameter):
        local.rappor(**wrong)


def test_strings_and_numbers_of_candidates_are_values_and_nothing_else_is():
    made = local.rappor(candidates=WORDS)
    assert made.word("anything") == "anything"
    assert made.word(1) == "bob"
    assert len(made.encode(["new", "\ud800", ""])) == 3
    assert len(made.encode(np.array(["x", "y"]))) == 2
    for wrong in ([6], [-1], [1.5], [None], ["a", 1], [b"a"], [["a"]]):
        with pytest.raises(BadParameter, match="values"):
            made.encode(wrong)
    with pytest.raises(BadParameter, match="there are none"):
        local.rappor().encode([1])


def test_a_refusal_does_not_show_the_value():
    with pytest.raises(BadParameter) as caught:
        local.rappor(candidates=WORDS).encode([987654])
    assert "987654" not in str(caught.value)


def test_a_string_sets_as_many_bits_as_there_are_hashes():
    made = local.rappor(9, 4, 50)
    places = made.places([f"w{at}" for at in range(40)])
    assert places.min() == 0
    assert places.max() == 8
    assert all(len(set(row)) == 4 for row in places.reshape(-1, 4).tolist())
    # Evenly, over 2,000 words and cohorts; false-alarm rate 1e-6 (four bits of one filter are only less variable)
    assert fit(np.bincount(places.reshape(-1)), np.full(9, 1 / 9)) > FALSE_ALARM


# Clients ------------------------------------------------------------------------------------------------------------


def test_a_client_with_a_key_has_one_cohort_and_one_permanent_answer_for_each_string():
    made = local.rappor(32, 2, 64, 0.5, 0.25, 0.75)
    one, again, other = made.client(KEY), made.client(KEY), made.client(b"x" * 32)
    assert one.cohort == again.cohort
    assert one.permanent("ada") == again.permanent("ada")
    assert one.permanent("ada") != one.permanent("bob")
    assert one.permanent("ada") != other.permanent("ada")
    assert len({one.report("ada") for _ in range(20)}) > 10
    kept: dict = {}
    assert made.client(kept).permanent("ada") == made.client(kept).permanent("ada")
    assert len(kept) == 1
    fresh = made.client()
    assert made.client(fresh.memo).permanent("ada") == fresh.permanent("ada")


def test_topics_keep_permanent_answers_apart():
    answers = {local.rappor(32, f=0.5, topic=topic).client(KEY, cohort=3).permanent("ada") for topic in "abcdefgh"}
    assert len(answers) == 8


def test_a_client_does_not_show_its_key():
    client = local.rappor().client(KEY)
    assert str(KEY) not in repr(client)
    assert f"cohort={client.cohort}" in repr(client)


def test_a_short_key_and_a_cohort_that_is_none_are_refused():
    with pytest.raises(BadParameter, match="memo"):
        local.rappor().client(b"short")
    with pytest.raises(BadParameter, match="cohort"):
        local.rappor(cohorts=8).client(KEY, cohort=8)


def test_keys_turn_permanent_bits_over_with_probability_f_half():
    made = local.rappor(32, 2, 4, 0.4, 0, 1)
    clients = [made.client(at.to_bytes(32, "big"), cohort=1) for at in range(1500)]
    turned = [client.permanent("ada") ^ client.bloom("ada") for client in clients]
    ones = sum(each.bit_count() for each in turned)
    total = 32 * len(clients)
    # false-alarm rate 1e-6
    assert fit([ones, total - ones], [0.2, 0.8]) > FALSE_ALARM
    # p = 0 and q = 1 report the permanent answer itself
    assert clients[0].report("ada") == made.pack(1, clients[0].permanent("ada"))


def test_keys_spread_evenly_over_cohorts():
    made = local.rappor(cohorts=12)
    found = [made.client(at.to_bytes(32, "big")).cohort for at in range(3000)]
    # false-alarm rate 1e-6
    assert fit(np.bincount(found, minlength=12), np.full(12, 1 / 12)) > FALSE_ALARM


@pytest.mark.parametrize("published", [False, True])
def test_first_reports_of_clients_follow_the_law_of_encode(published):
    made = local.rappor(4, 2, 2, 0.5, 0.25, 0.75, candidates=WORDS, published=published)
    law = made.likelihood(0)
    places = {report: at for at, report in enumerate(law)}
    with seeded(931):
        found = [made.client(at.to_bytes(32, "big")).report("ada") for at in range(4000)]
    counts = np.bincount([places[report] for report in found], minlength=len(law))
    # false-alarm rate 1e-6
    assert fit(counts, [float(chance) for chance in law.values()]) > FALSE_ALARM


# Reports and sketches -----------------------------------------------------------------------------------------------


def test_reports_are_as_short_as_cohort_and_bits_allow():
    sizes = {(8, 1): 1, (8, 128): 2, (16, 64): 3, (16, 300): 4, (128, 128): 17, (9, 2): 3}
    for (bits, cohorts), size in sizes.items():
        made = local.rappor(bits, 2, cohorts)
        assert made.bytes_per_report == size
        assert {len(report) for report in made.encode(["a", "b"])} == {size}


def test_a_sketch_counts_every_bit_of_every_cohort():
    made = local.rappor(11, 2, 5)
    with seeded(932):
        reports = made.encode([f"w{at % 7}" for at in range(500)])
    counts = np.zeros((5, 12), dtype=int)
    for report in reports:
        cohort, bits = report[0], int.from_bytes(report[1:], "little")
        counts[cohort] += [1, *(bits >> at & 1 for at in range(11))]
    assert np.array_equal(made.aggregate(reports).counts.reshape(5, 12), counts)


def test_reports_of_no_cohort_or_beyond_the_last_bit_are_rejected():
    made = local.rappor(11, 2, 5)
    good = made.pack(4, (1 << 11) - 1)
    sketch = made.aggregate([good, made.pack(5, 0), made.pack(255, 0), made.pack(0, 1 << 11), made.pack(0, 1 << 15)])
    assert (sketch.reports, sketch.rejected) == (1, 4)
    assert sketch.counts.sum() == 12


def test_a_spec_brings_back_the_protocol_with_its_candidates():
    made = local.rappor(12, 3, 16, 0.3, 0.2, 0.6, candidates=WORDS, published=True, topic="pages")
    again = Protocol.from_spec(made.spec())
    assert again == made
    assert again.odds == made.odds
    assert again.client(KEY).permanent("ada") == made.client(KEY).permanent("ada")
