"""The policy of charges: what makes sense is kept exactly, what does not is refused."""

from fractions import Fraction

import pytest

from discreet.core.errors import BadParameter
from discreet.ledger.oversight.charge_policy import EVERY, ChargePolicy
from tests.ledger.helpers import charge


def test_a_policy_is_read_as_it_was_written():
    policy = ChargePolicy.made(["visits", "stays", "visits"], [0.1, 0.5])
    assert policy == ChargePolicy(("stays", "visits"), (Fraction(1, 2), Fraction(1, 10)))
    assert ChargePolicy.from_record(policy.record()) == policy


@pytest.mark.parametrize(
    ("approval", "alerts"), [("visits", ()), ([7], ()), ((), [0]), ((), [1]), ((), 0.5), ([""], ())]
)
def test_what_makes_no_sense_is_refused(approval, alerts):
    with pytest.raises(BadParameter):
        ChargePolicy.made(approval, alerts)


def test_custodians_wait_for_nobody():
    assert not ChargePolicy((EVERY,)).wants_approval(charge())
    assert ChargePolicy((EVERY,)).wants_approval(charge(analyst="ann"))
    assert not ChargePolicy(("stays",)).wants_approval(charge(analyst="ann"))
