"""A frozen vault behind a server: it says so, charges for nothing and changes nothing, whoever asks."""

import shutil
from fractions import Fraction

import pytest

from discreet.account.losses.pure import Pure
from discreet.serve.api.app import make_app
from discreet.serve.api.settings import ServeSettings
from tests.serve.api.served import Served, request

PAID, LATER = request(epsilon=0.25), request(epsilon=0.5)


@pytest.fixture
def old(tmp_path):
    """A server over a copy of a vault that was taken before the last charge, and the receipt of that charge."""
    (tmp_path / "new").mkdir()
    made = Served(tmp_path / "new")
    assert made.ask("POST", "/v1/run", json=PAID).status_code == 200
    backup = tmp_path / "old"
    made.close()
    shutil.copytree(made.folder, backup, ignore=shutil.ignore_patterns("*.anchor"))
    made.opened(make_app(made.settings))
    receipt = made.ask("POST", "/v1/run", json=LATER).json()["receipt"]
    made.close()
    made.opened(make_app(ServeSettings(str(backup / "vault.discreet"), rate=1e6, burst=10**6)))
    yield made, receipt
    made.close()


def test_a_receipt_that_was_lost_freezes_the_vault_for_everybody_and_nothing_is_charged(old):
    made, receipt = old
    ledger = made.app.state.desks.curator.ledger
    made.ask("POST", "/v1/receipts", json={"receipts": [receipt]})
    assert ledger.frozen is not None
    head = ledger.head
    for role in ("analyst", "custodian"):
        for path in ("/v1/run", "/v1/run?fresh=true"):
            response = made.ask("POST", path, role, json=LATER)
            assert (response.status_code, response.json()["type"]) == (503, "urn:discreet:problem:frozen"), path
    bill = {"tables": ["visits"], "loss": Pure(Fraction(1, 2)).to_json(), "label": "x"}
    for method, path, body in (
        ("POST", "/v1/grants", {"analyst": "new", "tables": ["visits"]}),
        ("PATCH", "/v1/policy", {"work": {"pace": 1}}),
        ("POST", "/v1/bill", bill),
    ):
        response = made.ask(method, path, "custodian", json=body)
        assert (response.status_code, response.json()["type"]) == (503, "urn:discreet:problem:frozen"), path
    assert ledger.head == head
    # What was paid for before the copy was taken is still told, and so are declarations.
    assert made.ask("POST", "/v1/run", json=PAID).status_code == 200
    assert made.ask("GET", "/v1/tables").status_code == 200
    assert made.ask("POST", "/v1/preview", json=LATER).status_code == 200
    assert made.ask("GET", "/healthz", None).status_code == 200
