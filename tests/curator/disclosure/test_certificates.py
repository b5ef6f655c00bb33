"""Certificates of releases: what declarations say, who may have one, and where the policy has them written."""

import json
from pathlib import Path

import pytest

import discreet as dp
from discreet.account.losses.pure import Pure
from discreet.core.errors import BadParameter, Refusal
from discreet.curator.curator import Curator
from discreet.curator.disclosure.certificates import CertificatePolicy
from discreet.curator.policy import read
from discreet.ledger.integrity.certificate import checked
from discreet.ledger.refusals import AccessRefused

ROWS = {"id": ["1", "2", "3"], "age": ["31", "42", "57"], "ward": ["A", "B", "A"]}
TERMS = {"unit": dp.person("id", max_rows=2), "columns": {"age": dp.between(0, 99), "ward": dp.one_of("A", "B")}}


@pytest.fixture
def curator(tmp_path):
    with Curator(tmp_path / "vault.discreet") as made:
        made.register("visits", ROWS, budget=dp.Budget(epsilon=4, delta=1e-6), rows=1_000, **TERMS)
        yield made


@pytest.fixture
def session(curator):
    return curator.session(curator.grant("zoe", "visits"))


def asked(session, epsilon=0.5, **more):
    return session.table("visits").agg(n=dp.count()).release(epsilon=epsilon, **more)


def test_an_answer_has_a_certificate_that_anyone_checks(curator, session):
    answer = asked(session)
    certificate = session.certificate(answer)
    assert checked(certificate.to_json(), [curator.ledger.public_key]) == certificate
    claims = certificate.claims
    assert claims["protects"] == answer.unit
    assert claims["unit"]["max_rows"] == 2
    assert claims["accounts"]["visits"]["loss"] == answer.loss.record()
    assert (claims["invariants"], claims["files"], claims["code"]) == ([], [], dp.__version__)
    names = [each["name"] for each in claims["assumptions"]]
    assert names == ["people", "declared size", "code", "bits"]
    assert curator.certificate(answer.receipt["sequence"]).to_json() == certificate.to_json()
    assert session.certificate(answer.receipt).to_json() == certificate.to_json()


def test_a_certificate_does_not_depend_on_rows(tmp_path):
    """Two vaults with other people: certificates differ in what is random or dated, and in the answer's hash alone."""
    found = []
    for name, rows in (("one", ROWS), ("other", {each: values[:1] for each, values in ROWS.items()})):
        with Curator(tmp_path / f"{name}.discreet") as made:
            made.register("visits", rows, budget=dp.Budget(epsilon=4), **TERMS)
            session = made.session(made.grant("ann", "visits"))
            claims = dict(session.certificate(asked(session)).claims)
            for each in ("vault", "public_key", "entry", "settled"):
                claims.pop(each)
            found.append(claims)
    assert found[0] == found[1]


def test_it_holds_no_name_of_an_analyst_and_no_token(curator, session):
    text = session.certificate(asked(session)).to_json()
    assert "zoe" not in text
    assert session.desk.grant not in text


def test_who_has_no_receipt_is_told_nothing(curator, session):
    receipt = dict(asked(session).receipt)
    curator.register("stays", {"id": ["8"], "age": ["1"], "ward": ["A"]}, budget=dp.Budget(epsilon=1), **TERMS)
    stranger = curator.session(curator.grant("bob", "stays"))
    texts = set()
    wrong = ({"head": "0" * 64}, {"key": "another"}, {"sequence": 1}, {"sequence": 10_000})
    for holder, shown in ((stranger, receipt), *((session, {**receipt, **each}) for each in wrong)):
        with pytest.raises(AccessRefused) as caught:
            holder.certificate(shown)
        texts.add(str(caught.value))
    assert len(texts) == 1
    for nonsense in (None, {}, 7, {**receipt, "sequence": "x"}):
        with pytest.raises(BadParameter, match="receipt"):
            session.certificate(nonsense)
    curator.revoke("zoe")
    with pytest.raises(AccessRefused, match="revoked"):
        session.certificate(receipt)


def test_the_unit_is_that_of_the_question_and_declarations_are_those_of_its_time(curator, session):
    answer = asked(session, max_rows=1)
    curator.declare("visits", rows=2_000, **TERMS)
    claims = session.certificate(answer).claims
    assert claims["unit"]["max_rows"] == 1
    assert any("1,000 rows" in each["words"] for each in claims["assumptions"])


def test_a_bill_has_a_certificate(curator):
    claims = curator.certificate(curator.bill("visits", Pure(0.25), "training").sequence).claims
    assert (claims["question"]["words"], claims["unit"]["identifier"]) == ("training", "id")


def test_words_of_the_custodian_are_named(tmp_path):
    with Curator(tmp_path / "vault.discreet") as made:
        made.register("visits", ROWS, budget=dp.Budget(epsilon=4), group="people", **TERMS)
        columns = {"age": dp.between(0, 99)}
        rows = {"pid": ["1", "2"], "age": ["3", "4"]}
        terms = {"unit": dp.person("pid", max_rows=2), "columns": columns}
        made.register("stays", rows, group="people", people="same", **terms)
        claims = made.certificate(made.bill("stays", Pure(0.25), "training").sequence).claims
    assert [each["name"] for each in claims["assumptions"]][:2] == ["people", "same people"]


def test_the_policy_has_a_certificate_of_every_release_written(curator, session, tmp_path):
    folder = tmp_path / "certificates"
    assert curator.certificates(folder)
    assert not curator.certificates(folder)
    answer = asked(session)
    (place,) = folder.iterdir()
    assert checked(place.read_bytes().decode(), [curator.ledger.public_key]) == session.certificate(answer)
    asked(session)  # a replay writes nothing
    bill = curator.bill("visits", Pure(0.125), "training")
    assert len([*folder.iterdir()]) == 2
    assert any(each.name.endswith(f"-{bill.sequence}.certificate.json") for each in folder.iterdir())
    assert curator.certificates(None)
    asked(session, 0.25)
    assert len([*folder.iterdir()]) == 2


def test_a_folder_that_cannot_be_written_keeps_no_answer_back(curator, session, tmp_path):
    (tmp_path / "full").write_text("a file")
    curator.certificates(tmp_path / "full" / "certificates")
    assert asked(session).receipt is not None


def test_the_policy_file_says_where(curator, tmp_path):
    file = tmp_path / "discreet.toml"
    file.write_text('[certificates]\nfolder = "papers"\n')
    assert [each.action for each in read(file).apply(curator)] == ["certificates set"]
    assert [each.action for each in read(file).apply(curator)] == ["left"]
    assert CertificatePolicy.of(curator.ledger).folder == str(Path(tmp_path / "papers").absolute())
    for wrong in ("[certificates]\n", "[certificates]\nfolder = 7\n", '[certificates]\nfoldr = "x"\n'):
        file.write_text(wrong)
        with pytest.raises(Refusal, match=r"discreet\.toml:"):
            read(file)
    for folder in ("", "  ", 7):
        with pytest.raises(BadParameter):
            CertificatePolicy(folder)


def test_certificates_are_plain_json(curator, session):
    assert json.loads(session.certificate(asked(session)).to_json())["discreet"] == 1
