"""RAPPOR without a dictionary: strings found from n-grams alone."""

import numpy as np
import pytest

from discreet import noise
from discreet.core.errors import BadParameter
from discreet.local.protocols.rappor.ngrams import ngrams
from discreet.testing import seeded

ALPHABET = "abcdeno"
WORDS = ("bacon", "dance", "ode", "cocoa", "beacon")
SHARES = (40, 25, 18, 12, 5)
KEY = bytes(range(32))


def protocol(**given):
    return ngrams(
        **({"length": 6, "size": 2, "alphabet": ALPHABET, "cohorts": 32, "f": 0.2, "p": 0.2, "q": 0.8} | given)
    )


def test_unknown_strings_are_discovered_and_counted():
    made = protocol()
    table = np.repeat(np.arange(5), SHARES)
    with seeded(961):
        values = table[noise.uniform(100, 30_000)]
        reports = made.encode([WORDS[at] for at in values])
    found = made.discover(reports)
    truth = dict(zip(WORDS, np.bincount(values).tolist(), strict=True))
    assert set(WORDS[:4]) <= set(found.found)
    assert set(found.found) <= set(WORDS)
    for name, value, low, high in zip(found.names, found.value, found.low, found.high, strict=True):
        # each misses by chance in 1 of 20; twice as wide they hold but for 1 in 10,000
        assert 2 * low - value <= truth.get(name, 0) <= 2 * high - value


def test_without_reports_nothing_is_discovered():
    made = protocol()
    assert made.discover(made.encode([])).found == ()


def test_the_string_and_two_n_grams_are_three_answers_and_are_paid_as_three():
    made = protocol()
    assert made.loss.epsilon(0) == pytest.approx(3 * made.strings.loss.epsilon(0))
    assert made.loss_forever.epsilon(0) == pytest.approx(3 * made.strings.loss_forever.epsilon(0))
    assert len({made.strings.spec_hash, made.firsts.spec_hash, made.seconds.spec_hash}) == 3


def test_strings_are_cut_and_padded():
    made = protocol()
    assert made.cut("ode") == ("ode", ("od", "e ", "  "))
    assert made.cut("beaconed") == ("beacon", ("be", "ac", "on"))
    assert made.cut("") == ("", ("  ", "  ", "  "))
    assert made.pairs == ((0, 1), (0, 2), (1, 2))
    assert len(made.grams) == 64


def test_a_client_reports_the_same_positions_and_permanent_answers_for_ever():
    made = protocol(f=0.3, p=0, q=1)  # the permanent answers themselves
    client, again = made.client(KEY), made.client(KEY)
    assert client.report("bacon") == again.report("bacon") == client.report("bacon")
    assert {client.report(word)[0] for word in WORDS} == {client.pair}
    assert {made.client(bytes([at]) * 32).pair for at in range(40)} == {0, 1, 2}
    assert client.report("bacon") != client.report("dance")


def test_equal_n_grams_at_two_positions_have_independent_answers():
    made = protocol(f=0.5, p=0, q=1, cohorts=1, bits=16)
    reports = [made.client(at.to_bytes(32, "big")).report("cococo") for at in range(300)]
    assert sum(first == second for _, _, first, second in reports) < 30


@pytest.mark.parametrize(
    "wrong",
    [
        {"length": 5},
        {"length": 2},
        {"size": 0},
        {"alphabet": ""},
        {"size": 3, "alphabet": "abcdefghijklmnopqrstuvwxyz0123"},
    ],
    ids=repr,
)
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(BadParameter):
        protocol(**wrong)


def test_a_key_is_long_and_is_not_shown():
    assert str(KEY) not in repr(protocol().client(KEY))
    with pytest.raises(BadParameter, match="memo"):
        protocol().client(b"short")


def test_only_strings_are_cut():
    with pytest.raises(BadParameter, match="values"):
        protocol().encode([1, 2])


def test_strings_with_a_common_ngram_answer_for_it_apart():
    made = ngrams(length=4, size=2, bits=8, hashes=1, cohorts=1, f=0.5, p=0, q=1)
    first = [made.client(bytes([at] * 32)).report("abcd") for at in range(64)]
    second = [made.client(bytes([at] * 32)).report("abxy") for at in range(64)]
    assert [one[0] for one in first] == [other[0] for other in second]
    assert any(one[2] != other[2] for one, other in zip(first, second, strict=True))
    assert first == [made.client(bytes([at] * 32)).report("abcd") for at in range(64)]
