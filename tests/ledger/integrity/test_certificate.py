"""Certificates: what the vault signed is read byte for byte, by its key alone, and nothing else is."""

import json
from fractions import Fraction

import pytest

from discreet.account.budgets.budget import Budget
from discreet.account.losses.gaussian import Gaussian
from discreet.account.losses.pure import Pure
from discreet.core.errors import BadParameter, Refusal
from discreet.ledger.entry import canonical
from discreet.ledger.integrity.certificate import CLAIMS, Certificate, checked, epsilons, public_key_of
from discreet.ledger.ledger import Ledger
from discreet.ledger.refusals import Conflict, Tampered
from tests.ledger.helpers import charge, epsilon

SAID = {"unit": None, "protects": "one row", "files": [], "invariants": [], "assumptions": []}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    with Ledger.create(tmp_path_factory.mktemp("certificate") / "vault.discreet") as made:
        made.add_account("people", epsilon(1))
        yield made


@pytest.fixture(scope="module")
def receipt(ledger):
    return ledger.run(charge("{}", label="number of rows"), lambda _: "41")[1]


@pytest.fixture(scope="module")
def certificate(ledger, receipt):
    return ledger.certify(ledger.released(receipt.sequence), SAID)


def test_a_certificate_says_what_the_chain_says_and_is_the_same_every_time(ledger, receipt, certificate):
    claims = certificate.claims
    assert tuple(sorted(claims)) == CLAIMS
    assert claims["entry"]["hash"] == receipt.head
    assert claims["question"] == {"words": "number of rows", "canonical": "{}"}
    assert claims["accounts"]["people"]["loss"] == Pure(Fraction(1, 10)).record()
    assert claims["accounts"]["people"]["figures"][-1]["delta"] == "1/1000000000"
    assert ledger.certify(ledger.released(receipt.sequence), SAID).to_json() == certificate.to_json()
    assert ledger.check_certificate(certificate.to_json()) == certificate


def test_a_certificate_has_the_figure_at_the_delta_of_the_accounts_own_budget(tmp_path):
    own = Fraction(1, 12345678)
    with Ledger.create(tmp_path / "vault.discreet") as made:
        made.add_account("people", Budget(epsilon=1, delta=own))
        receipt = made.run(charge("{}", label="number of rows"), lambda _: "41")[1]
        figures = made.certify(made.released(receipt.sequence), SAID).claims["accounts"]["people"]["figures"]
    assert [each["delta"] for each in figures] == ["1/100000", "1/1000000", str(own), "1/1000000000"]


def test_what_the_chain_says_cannot_be_said_otherwise(ledger, receipt):
    lied = {**SAID, "question": "another", "accounts": {}, "vault": "another"}
    made = ledger.certify(ledger.released(receipt.sequence), lied)
    assert made.claims["question"]["words"] == "number of rows"
    assert made.claims["vault"] == ledger.vault_id


def test_it_is_checked_by_the_public_key_alone(ledger, certificate):
    assert checked(certificate.to_json(), [ledger.public_key]) == certificate
    assert checked(certificate.to_json(), {"0" * 64, ledger.public_key}, ledger.vault_id) == certificate


def test_a_change_of_any_byte_is_refused(ledger, certificate):
    """Every byte, changed in its lowest bit, in its case, to a blank, and left out."""
    text = certificate.to_json()
    keys = [ledger.public_key]
    for at, letter in enumerate(text):
        for other in {chr(ord(letter) ^ 1), letter.swapcase(), " ", ""} - {letter}:
            with pytest.raises(Refusal):
                checked(text[:at] + other + text[at + 1 :], keys)


def test_the_same_claims_in_another_spelling_are_refused(ledger, certificate):
    text, found = certificate.to_json(), json.loads(certificate.to_json())
    spaced = json.dumps(found, sort_keys=True) + "\n"
    doubled = text.replace('{"certificate"', '{"discreet":1,"certificate"', 1)
    escaped = text.replace("number", "n\\u0075mber", 1)
    for other in (
        spaced,
        doubled,
        escaped,
        text.rstrip("\n"),
        text + "\n",
        "\ufeff" + text,
        text.replace("\n", "\r\n"),
    ):
        with pytest.raises(Tampered):
            checked(other, [ledger.public_key])


def test_every_claim_is_signed(ledger, certificate):
    for name in CLAIMS:
        claims = {**certificate.claims, name: "another"}
        forged = Certificate(claims, certificate.signature)
        with pytest.raises(Refusal):
            forged.check([ledger.public_key, "another"])


@pytest.mark.parametrize("text", ["", "{}", "null", "[" * 100_000, '{"certificate":NaN}', "9" * 5000, "\ud800"])
def test_what_is_no_certificate_is_refused(ledger, text):
    with pytest.raises(Tampered, match="no certificate"):
        checked(text, [ledger.public_key])


def test_a_key_of_ones_own_is_not_the_vaults(tmp_path, ledger, certificate):
    with Ledger.create(tmp_path / "other.discreet") as other:
        with pytest.raises(Conflict, match="another public key"):
            checked(certificate.to_json(), [other.public_key])
        with pytest.raises(Conflict, match="another vault"):
            other.check_certificate(certificate.to_json())
        # Signed anew, with the names of the first vault, by whoever holds another key.
        forged = Certificate.signed(certificate.claims, other._anchors.sign)
        with pytest.raises(Tampered, match="not that of its claims"):
            checked(forged.to_json(), [ledger.public_key, other.public_key])
    with pytest.raises(Conflict, match="another vault"):
        checked(certificate.to_json(), [ledger.public_key], "f" * 32)


@pytest.mark.parametrize(("part", "field"), [("entry", "hash"), ("settled", "hash"), ("entry", "sequence")])
def test_entries_that_are_not_on_the_chain_are_refused_even_where_they_are_signed(ledger, certificate, part, field):
    wrong = {**certificate.claims[part], field: 1 if field == "sequence" else "0" * 64}
    signed = Certificate.signed({**certificate.claims, part: wrong}, ledger._anchors.sign)
    assert checked(signed.to_json(), [ledger.public_key]) == signed
    with pytest.raises(Tampered, match="not the one that it names"):
        ledger.check_certificate(signed.to_json())


def test_what_was_never_released_has_no_certificate(ledger):
    with pytest.raises(Conflict, match="no charge"):
        ledger.released(1)
    for number in (0, -1, 10_000, None, "1"):
        with pytest.raises(Conflict, match="no charge"):
            ledger.released(number)
    waiting = ledger.charge(charge("waits"))
    with pytest.raises(Conflict, match="waits for its answer"):
        ledger.released(waiting.sequence)
    with pytest.raises(Refusal):
        ledger.run(charge("fails"), lambda _: 1 / 0)
    failed = next(each.sequence for each in reversed([*ledger.entries()]) if each.kind == "charge")
    with pytest.raises(Conflict, match="nothing was released"):
        ledger.released(failed)


def test_epsilons_are_those_of_each_accountant_and_none_where_there_is_none():
    first, last = epsilons(Pure(Fraction(1, 2)), [Fraction(1, 10**6), Fraction(1, 10**5)])
    assert (first["delta"], last["delta"]) == ("1/100000", "1/1000000")
    assert first["accountants"]["pure"] == 0.5
    gaussian = epsilons(Gaussian(2), [Fraction(1, 10**6)])[0]
    assert "pure" not in gaussian["accountants"]
    assert gaussian["epsilon"] == min(gaussian["accountants"].values())
    assert canonical(gaussian)


@pytest.mark.parametrize("key", ["", "0" * 63, "g" * 64, "0" * 32 + " " + "0" * 31])
def test_a_public_key_is_64_digits(key):
    with pytest.raises(BadParameter, match="64 hexadecimal"):
        public_key_of(key)
    assert public_key_of(" " + "AB" * 32 + "\n") == "ab" * 32


def test_declarations_are_those_of_the_time_of_the_release(tmp_path):
    with Ledger.create(tmp_path / "vault.discreet") as ledger:
        ledger.put("table", "visits", {"said": 1})
        before = ledger.head[0] + 1
        ledger.put("table", "stays", {"said": 3})
        ledger.put("table", "visits", {"said": 2})
        assert ledger.declared("table", "visits", before) == {"said": 1}
        assert ledger.declared("table", "visits", ledger.head[0] + 1) == {"said": 2}
        assert ledger.declared("table", "none", ledger.head[0] + 1) == {}
