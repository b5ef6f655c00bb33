"""Requests over HTTP: previews are free, the price is in the ledger, and refusals say what would fit."""

from tests.serve.api.served import request


def test_a_preview_is_free_and_says_what_the_request_costs(vault):
    before = vault.spent()
    found = vault.ask("POST", "/v1/preview", json=request(epsilon=0.3)).json()
    assert (found["price"], found["answered"]) == ("epsilon 0.3", False)
    assert vault.spent() == before
    vault.ask("POST", "/v1/run", json=request(epsilon=0.3))
    assert vault.ask("POST", "/v1/preview", json=request(epsilon=0.3)).json()["answered"]


def test_what_an_engine_is_asked_is_not_shown(vault):
    response = vault.ask("POST", "/v1/preview", json=request(spec={"sql": True}))
    assert response.status_code == 422
    assert "where tables lie" in response.json()["why"]


def test_a_budget_that_refuses_says_what_was_asked_what_remains_and_what_would_fit(vault):
    found = vault.ask("POST", "/v1/run", json=request(epsilon=50))
    assert found.status_code == 403
    problem = found.json()
    assert problem["type"] == "urn:discreet:problem:budget"
    assert problem["account"] == "visits"
    assert float(problem["offer"]["epsilon"]) < 50
