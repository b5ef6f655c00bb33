"""Charges and receipts: keys made of the question and the versions, receipts that survive JSON."""

from fractions import Fraction

import pytest

from discreet.account import DiscreteGaussian, Pure
from discreet.core.errors import BadParameter
from discreet.ledger import Charge, Receipt
from tests.ledger.helpers import charge

EVERY_STORE = True


def test_the_key_depends_on_the_question_and_the_versions_alone():
    first = charge("q", Fraction(1, 10), analyst="alice", label="one")
    assert first.key == charge("q", Fraction(1, 5), analyst="bob").key
    assert first.key != charge("r").key
    assert first.key != charge("q", tables={"visits": 2}).key
    assert first.key != charge("q", tables={"visitors": 1}).key


def test_a_fresh_charge_has_a_key_of_its_own():
    asked = charge()
    assert len({asked.key, asked.fresh().key, asked.fresh().key}) == 3
    assert asked.fresh().identity == asked.identity


def test_a_charge_cannot_be_changed_through_what_it_was_made_of():
    losses, tables = {"people": Pure(1)}, {"visits": 1}
    made = Charge("q", losses, tables)
    losses["people"], tables["visits"] = Pure(5), 7
    assert (made.losses["people"], made.tables["visits"]) == (Pure(1), 1)
    with pytest.raises(TypeError):
        made.losses["people"] = Pure(5)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"question": ""}, "question"),
        ({"question": "\ud800"}, "question"),
        ({"losses": {}}, "losses"),
        ({"losses": {"people": 1.0}}, "losses"),
        ({"tables": {}}, "tables"),
        ({"tables": {"visits": True}}, "tables"),
        ({"tables": {"visits": -1}}, "tables"),
        ({"key": ""}, "key"),
        ({"losses": {"": Pure(1)}}, "name"),
    ],
)
def test_a_charge_that_makes_no_sense_is_refused(change, name):
    with pytest.raises(BadParameter) as refusal:
        Charge(**({"question": "q", "losses": {"people": Pure(1)}, "tables": {"visits": 1}} | change))
    assert refusal.value.name == name


def test_a_receipt_survives_json(ledger):
    receipt = ledger.charge(charge())
    assert Receipt.from_json(receipt.to_json()) == receipt
    assert receipt.remaining == {"people": {"currency": "epsilon", "loss": "9/10", "delta": "0"}}
    assert receipt.head == ledger.head[1]


def test_an_entry_holds_the_loss_in_full(ledger):
    ledger.charge(charge("q", Fraction(1, 3)))
    assert [*ledger.entries()][-1].record()["losses"] == {
        "people": {"kind": "Pure", "epsilon": "1/3", "relation": "add_remove"}
    }


def test_a_receipt_of_gaussian_noise_survives_json():
    receipt = Receipt(3, "k", "h", {"a": DiscreteGaussian(Fraction(7, 2))}, {"a": {"loss": "1"}}, replayed=True)
    assert Receipt.from_json(receipt.to_json()) == receipt
