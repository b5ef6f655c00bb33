"""The authorisation matrix: every route, every role, every token that is none. A route without a row fails."""

import pytest

import discreet as dp
from discreet.curator.curator import Curator
from discreet.curator.remote.problem import MEDIA
from discreet.ledger import custody
from tests.serve.api.served import TERMS, request, served

# Who a route is asked by, with a valid token: one of another table last.
ROLES = ("analyst", "reader", "custodian", "other")
# Statuses by role, and what is sent. Custodians ask like analysts, of all tables.
ALL, CUSTODY = (200, 200, 200, 200), (403, 403, 200, 403)
ABSENT = (404, 404, 404, 404)
BILL = {"tables": ["visits"], "loss": dp.Laplace(2.0).to_json(), "label": "x", "key": "k"}
RECEIPT = {"sequence": 1, "key": "x", "head": "y"}
MATRIX = {
    ("get", "/healthz"): (None, ALL),
    ("get", "/metrics"): (None, ALL),
    ("get", "/v1/session"): (None, ALL),
    ("get", "/v1/tables"): (None, ALL),
    ("get", "/v1/tables/{name}"): (None, (200, 200, 200, 404)),
    ("get", "/v1/tables/{name}/dummy"): (None, (200, 200, 200, 404)),
    ("get", "/v1/public"): (None, ALL),
    ("get", "/v1/public/{name}"): (None, ABSENT),
    ("post", "/v1/preview"): (request(), (200, 200, 200, 422)),
    # The analyst pays; the reader and the custodian are given what was paid for.
    ("post", "/v1/run"): (request(), (200, 200, 200, 422)),
    ("get", "/v1/budget"): (None, ALL),
    ("get", "/v1/releases"): (None, ALL),
    ("get", "/v1/pending"): (None, ALL),
    ("get", "/v1/head"): (None, ALL),
    ("get", "/v1/artefacts/{name}"): (None, ABSENT),
    ("post", "/v1/certificate"): (RECEIPT, (403, 403, 403, 403)),
    ("post", "/v1/receipts"): ({"receipts": []}, ALL),
    ("post", "/v1/bill"): (BILL, (200, 403, 200, 422)),
    ("get", "/v1/grants"): (None, CUSTODY),
    ("post", "/v1/grants"): ({"analyst": "new", "tables": ["visits"]}, (403, 403, 201, 403)),
    ("delete", "/v1/grants/{who}"): (None, (403, 403, 404, 403)),
    ("post", "/v1/tables"): ({}, (403, 403, 422, 403)),
    ("post", "/v1/tables/{name}/refresh"): ({}, (403, 403, 200, 403)),
    ("get", "/v1/policy"): (None, CUSTODY),
    ("patch", "/v1/policy"): ({"work": {}}, CUSTODY),
}
OPEN = {("get", "/healthz"), ("get", "/metrics")}
# What is not in the document, because it is the document.
BESIDE = {("get", "/openapi.json"), ("head", "/openapi.json")}
PLACES = {"{name}": "visits", "{who}": "nobody"}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with served(tmp_path_factory.mktemp("matrix")) as made:
        yield made


@pytest.fixture(scope="module")
def none_at_all(world, tmp_path_factory):
    """Tokens that open nothing, each with the way in which it is none."""
    with Curator(tmp_path_factory.mktemp("elsewhere") / "other.discreet") as other:
        other.register("visits", {"patient": [1], "age": [1], "ward": ["A"], "note": ["x"]},
            budget=dp.Budget(epsilon=1), **TERMS)  # fmt: skip
        elsewhere = other.grant("alice", "visits"), other.grant("kay", role="custodian")
    revoked = world.curator.grant("gone", "visits"), world.curator.grant("gone-too", role="custodian")
    for who in ("gone", "gone-too"):
        world.curator.revoke(who)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(custody, "check_expires", lambda expires, _: expires.isoformat())
        expired = world.curator.grant("dave", "visits", expires="2020-01-01")
    world.ask("GET", "/v1/head", expired)  # which enters that it has expired, once
    analyst, custodian = world.tokens["analyst"], world.tokens["custodian"]
    grant, _, secret = analyst.partition("_")
    last = "0" if secret[-1] != "0" else "1"
    return {
        "none": None,
        "empty": "",
        "text": "x",
        "long": "a" * 10_000,
        "bytes": b"t\xf6ken",
        "edited secret": f"{grant}_{secret[:-1]}{last}",
        "another's secret": f"{grant}_{custodian.partition('_')[2]}",
        "another's grant": f"{custodian.partition('_')[0]}_{secret}",
        "half": grant,
        "expired": expired,
        "revoked analyst": revoked[0],
        "revoked custodian": revoked[1],
        "other vault's analyst": elsewhere[0],
        "other vault's custodian": elsewhere[1],
    }


def sent(world, method, path, token):
    place = path
    for name, value in PLACES.items():
        place = place.replace(name, value)
    content, _ = MATRIX[method, path]
    return world.ask(method.upper(), place, token=token, json=content)


def test_every_route_has_a_row(world):
    document = world.ask("GET", "/openapi.json", None).json()
    assert {(method, path) for path, each in document["paths"].items() for method in each} == set(MATRIX)
    # What answers is in the document, too.
    served_routes = {(method.lower(), each.path) for each in world.app.routes for method in each.methods}
    assert served_routes - BESIDE == set(MATRIX)


@pytest.mark.parametrize(("method", "path"), MATRIX)
def test_a_token_that_is_none_opens_no_route(world, none_at_all, method, path):
    before = world.curator.ledger.head
    for way, token in none_at_all.items():
        response = sent(world, method, path, token)
        if (method, path) in OPEN:
            assert response.status_code == 200
        else:
            assert response.status_code == 401, way
            assert response.headers["content-type"] == MEDIA
            assert response.headers["www-authenticate"].startswith("Bearer")
    assert world.curator.ledger.head == before


@pytest.mark.parametrize(("method", "path"), MATRIX)
def test_each_role_opens_what_is_its_own(world, method, path):
    _, statuses = MATRIX[method, path]
    for role, status in zip(ROLES, statuses, strict=True):
        response = sent(world, method, path, role)
        assert response.status_code == status, (role, response.text)
        if status >= 400:
            assert response.headers["content-type"] == MEDIA
