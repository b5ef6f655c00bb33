"""Facts: losses are counted by the kinds of what they are made of."""

from discreet.account.losses.gaussian import Gaussian
from discreet.account.losses.pure import Pure
from discreet.curator.disclosure.ledger_facts import kinds_of


def test_the_kinds_of_a_sum_are_those_of_its_parts():
    assert [*kinds_of(Pure(1).record())] == ["Pure"]
    loss = Gaussian(9).sampled(0.01) * 10 + Pure(1)
    assert set(kinds_of(loss.record())) == {"Gaussian", "Pure"}
