"""Coins of local reports, exactly: every chance that a client asks for is one that its protocol states."""

from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

from discreet import local
from discreet.local.grid import ONE
from discreet.local.protocols.rappor.client import instantaneous
from discreet.noise.bits import current
from discreet.testing import seeded
from tests.local.test_conformance import EXAMPLES, name, values_of

MODULES = ["bit_flip", "count_mean_sketch", "hadamard", "marginals", "one_bit", "unary"]
STATED = ("lie", "gamma", "flipped", "kept")  # the chances that protocols call by these names
KEY = b"sixteen bytes and some more of a key"


@pytest.fixture
def asked(monkeypatch):
    """Hear every numerator that coins are asked for."""
    heard = []
    modules = [*(f"discreet.local.protocols.{each}" for each in MODULES), "discreet.local.parts.telemetry_client"]
    for module in map(import_module, modules):
        real = module.packed_bernoulli

        def listening(source, numerator, bits, size, real=real):
            heard.append(Fraction(numerator, 1 << bits))
            return real(source, numerator, bits, size)

        monkeypatch.setattr(module, "packed_bernoulli", listening)
    return heard


def stated(protocol):
    """Return the chances that a protocol states, and those of the protocols that it reports by."""
    inner = [protocol, *getattr(protocol, "rounds", ()), getattr(protocol, "oracle", None)]
    return {getattr(each, word, None) for each in inner if each is not None for word in STATED} - {None}


@pytest.mark.parametrize("protocol", EXAMPLES, ids=name)
def test_coins_are_tossed_with_the_stated_chances_and_no_others(protocol, asked):
    with seeded(950):
        values = values_of(protocol)
        protocol.encode(values)
        client = protocol.client(KEY) if protocol.name != "heavy_hitters" else None
        for value in values[:2] if client is not None else ():
            client.report(value)
    assert {*asked} <= stated(protocol)


def test_histograms_toss_for_the_answer_and_then_for_the_report(asked):
    made = local.d_bit_flip(8, 1, d=4, gamma=Fraction(1, 8))
    with seeded(951):
        made.encode([3, 5])
        assert asked == [made.lie, made.gamma]
        asked.clear()
        made.client(KEY).report(3)
        assert asked == [made.lie, *[made.gamma] * 4]
    # The loss that is stated follows from these two and no other number.
    assert made.turned == made.lie * (1 - made.gamma) + (1 - made.lie) * made.gamma
    assert made.lie * ONE == int(made.lie * ONE)


class Words:
    """A source whose every word is the same."""

    def __init__(self, word):
        self.word = word

    def words(self, count, bits):
        return np.full(count, self.word, dtype=np.uint64)


@pytest.mark.parametrize("published", [False, True])
def test_a_client_of_rappor_answers_by_exactly_as_many_words_as_are_stated(published):
    made = local.rappor(8, 2, 4, 0.5, 0.25, 0.75, published=published)
    grid = 1 << 32
    zero, one = made.ones
    assert (Fraction(zero, grid), Fraction(one, grid)) == (made.p, made.q)
    assert Fraction(made.flips, grid) == made.f / 2
    # A permanent bit 0 is reported as 1 for `zero` of all words, a bit 1 for `one` of them.
    everything = (1 << made.bits) - 1
    for permanent, limit in ((0, zero), (everything, one)):
        assert instantaneous(permanent, made, Words(limit - 1)) == everything
        assert instantaneous(permanent, made, Words(limit)) == 0


def test_first_reports_of_rappor_have_exactly_the_stated_rates(monkeypatch):
    module = import_module("discreet.local.protocols.rappor")
    made, heard = local.rappor(8, 2, 4, 0.5, 0.25, 0.75), []
    real = module._below
    monkeypatch.setattr(module, "_below", lambda high, limit, source: heard.append(limit) or real(high, limit, source))
    with seeded(952):
        made.encode(["ada", "bob"])
    zero, one = made.rates
    # Both coins in one: 1 for a permanent bit 1, p for 0, and permanent bits are turned over with chance f / 2.
    assert zero == made.p + (made.q - made.p) * made.f / 2
    assert one == made.q - (made.q - made.p) * made.f / 2
    assert [Fraction(limit, 1 << 64) for limit in heard] == [zero, one, one]
    # A limit is compared with 64 bits of which 16 may decide: below it is a one, at it is none.
    limit = heard[0]
    for word, said in ((limit - 1, True), (limit, False)):
        high = np.array([word >> 48], dtype=np.uint64)
        assert bool(real(high, limit, Words(word & ((1 << 48) - 1)))[0]) is said


@pytest.mark.parametrize(("people", "dropout", "colluding"), [(10, 0, 0), (10, 0.3, 0), (10, 0.2, 3)])
@pytest.mark.parametrize("length", [1, 4])
def test_the_noise_of_a_secure_sum_is_dealt_out_among_the_honest_alone(monkeypatch, people, dropout, colluding, length):
    module = import_module("discreet.local.secure_sum")
    plan = module.secure_sum(people=people, epsilon=2, dropout=dropout, colluding=colluding, bound=3, length=length)
    heard = []

    def polya(share, scale, size):
        heard.append((share, scale, size))
        return np.zeros(size, np.int64)

    monkeypatch.setattr(module, "polya", polya)
    plan.client([1] + [0] * (length - 1))
    moved = 3 if length == 1 else 6
    honest = people - int(people * Fraction(str(dropout))) - colluding
    assert heard == [(Fraction(1, honest), Fraction(moved, 2), length)] * 2
    # So many honest people together have the noise of a centre, whatever all others do.
    assert honest * heard[0][0] == 1
    assert plan.loss.epsilon(0) <= 2 * (1 + 1e-12)


def test_a_secure_sum_adds_one_noise_and_takes_another_off(monkeypatch):
    module = import_module("discreet.local.secure_sum")
    given = iter([np.array([100]), np.array([7])])
    monkeypatch.setattr(module, "polya", lambda share, scale, size: next(given))
    plan = module.secure_sum(people=5, epsilon=1)
    with seeded(953):
        _, shares = plan.client(1)
        assert current() is not None
    assert module.combined(shares).tolist() == [1 + 100 - 7]
