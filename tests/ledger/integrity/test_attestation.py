"""Attestations: signed with every answer, read from whatever holds them, and believed from their vault alone."""

import json

import pytest

from discreet.core.errors import BadParameter
from discreet.ledger import Ledger
from discreet.ledger.charge import Receipt
from discreet.ledger.integrity.attestation import Attestation
from tests.ledger.helpers import charge, epsilon

EVERY_STORE = True


def test_every_receipt_attests_the_newest_head_and_what_was_spent(ledger):
    _, receipt = ledger.run(charge(), lambda _: "41")
    found = Attestation.from_record(receipt)
    assert (found.sequence, found.head) == ledger.head
    assert found.spent == {"people": [str(ledger.spent("people").loss), "0"]}
    found.check(ledger._anchors.signer)
    ledger.refused(None, "q", "why")
    _, again = ledger.run(charge(), lambda _: "41")
    assert again.replayed
    assert (again.attested["sequence"], again.attested["head"]) == ledger.head
    bill = ledger.bill(charge("bill"))
    assert (bill.attested["sequence"], bill.attested["head"]) == ledger.head


def test_an_attestation_is_read_from_a_receipt_an_answer_or_their_json(ledger):
    _, receipt = ledger.run(charge(), lambda _: "41")
    whole = Attestation.from_record(receipt)
    for shown in (receipt.record(), receipt.attested, {"answer": {"receipt": {"attested": receipt.attested}}}):
        assert Attestation.from_record(json.loads(json.dumps(shown))) == whole
    assert Receipt.from_json(receipt.to_json()) == receipt


@pytest.mark.parametrize("field", ["vault", "sequence", "head", "spent", "public_key", "signature"])
def test_a_changed_attestation_is_refused_and_freezes_nothing(ledger, field):
    _, receipt = ledger.run(charge(), lambda _: "41")
    value = receipt.attested[field]
    match value:
        case int():
            changed = value + 100
        case dict():
            changed = {"people": ["0", "0"]}
        case _:
            changed = ("1" if value[0] == "0" else "0") + value[1:]
    with pytest.raises(BadParameter, match=r"not signed|another vault"):
        ledger.show([{**receipt.attested, field: changed}])
    assert ledger.frozen is None


def test_a_receipt_of_another_vault_is_refused(ledger, tmp_path):
    with Ledger.create(tmp_path / "other.discreet") as other:
        other.add_account("people", epsilon(1))
        _, receipt = other.run(charge(), lambda _: "41")
    with pytest.raises(BadParameter, match="another vault"):
        ledger.show([receipt])


@pytest.mark.parametrize("shown", [None, 1, {}, {"attested": {}}, {"attested": 3}, {"receipt": {"sequence": 1}}])
def test_what_attests_nothing_is_refused(ledger, shown):
    with pytest.raises(BadParameter):
        ledger.show([shown])
