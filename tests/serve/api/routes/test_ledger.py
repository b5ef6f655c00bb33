"""The ledger over HTTP: limits, releases, certificates to whoever has the receipt, bills."""

import json

import discreet as dp
from tests.serve.api.served import request


def test_releases_head_and_certificates(vault):
    receipt = vault.ask("POST", "/v1/run", json=request(epsilon=0.2)).json()["receipt"]
    assert vault.ask("GET", "/v1/releases").json()["releases"][-1]["key"] == receipt["key"]
    assert vault.ask("GET", "/v1/releases", "reader").json()["releases"] == []
    text = vault.ask("POST", "/v1/certificate", json=receipt).json()["certificate"]
    vault.curator.ledger.check_certificate(text)
    stolen = vault.ask("POST", "/v1/certificate", json={**receipt, "head": "0" * 64})
    assert stolen.status_code == 403
    assert vault.ask("POST", "/v1/certificate", "other", json=receipt).status_code == 403
    assert vault.ask("GET", "/v1/head").json()["hash"] == vault.curator.ledger.head[1]


def test_limits_are_own_or_shared(vault):
    limits = vault.ask("GET", "/v1/budget").json()["limits"]
    assert {(each["scope"], each["own"]) for each in limits} == {("account", False), ("grant", True)}


def test_a_bill_is_charged_once_for_a_key(vault):
    bill = {"tables": ["visits"], "loss": dp.Laplace(2.0).to_json(), "label": "training", "key": "t1"}
    first, again = (json.loads(vault.ask("POST", "/v1/bill", json=bill).json()["receipt"]) for _ in range(2))
    assert (first["receipt"]["replayed"], again["receipt"]["replayed"]) == (False, True)
    assert vault.ask("POST", "/v1/bill", json={**bill, "loss": "x"}).status_code == 422
    assert vault.ask("POST", "/v1/bill", json={**bill, "tables": ["secrets"]}).status_code == 422


def test_receipts_are_shown_and_only_what_was_signed_has_an_effect(vault):
    receipt = vault.ask("POST", "/v1/run", json=request(epsilon=0.2)).json()["receipt"]
    assert vault.ask("POST", "/v1/receipts", json={"receipts": [receipt]}).json() == {"frozen": None}
    forged = {**receipt["attested"], "sequence": 10**6}
    for body in ({"receipts": [forged]}, {"receipts": [{}]}, {"receipts": 1}, {"receipts": [receipt] * 101}, {}):
        assert vault.ask("POST", "/v1/receipts", json=body).status_code == 422
    assert vault.curator.frozen is None
