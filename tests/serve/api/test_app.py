"""The app: every route, every role and every wrong token; documents, hostile bytes, and rows that never appear."""

import json

import pytest

import discreet as dp
from discreet.answers.answer import Answer
from discreet.curator.remote.problem import MEDIA
from discreet.serve.api.app import make_app
from discreet.serve.api.settings import ServeSettings
from tests.serve.api.served import SQL, TERMS, request, served
from tests.serve.api.test_matrix import OPEN


def test_the_document_is_openapi_3_1_and_every_route_but_those_of_health_asks_for_a_token(vault):
    document = vault.ask("GET", "/openapi.json", token=None).json()
    assert document["openapi"].startswith("3.1")
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert ("security" in operation) == ((method, path) not in OPEN), (method, path)
            assert operation["summary"]
            assert operation["description"]


def test_a_table_outside_the_grant_is_as_unknown_as_one_that_does_not_exist(vault):
    one, other = (vault.ask("GET", f"/v1/tables/{name}") for name in ("secrets", "nothing"))
    assert one.status_code == other.status_code == 404
    assert one.text.replace("secrets", "nothing") == other.text
    one, other = (
        vault.ask("POST", "/v1/run", json=request(f"SELECT COUNT(*) AS n FROM {name}"))
        for name in ("secrets", "nothing")
    )
    assert one.status_code == other.status_code == 422
    assert one.text.replace("secrets", "nothing") == other.text


def test_a_token_that_is_revoked_opens_nothing_more_on_the_same_connection(vault):
    token = vault.curator.grant("mia", "visits")
    assert vault.ask("GET", "/v1/tables", token=token).status_code == 200
    vault.curator.revoke("mia")
    assert vault.ask("GET", "/v1/tables", token=token).status_code == 401


def test_a_reader_replays_and_pays_for_nothing(vault):
    paid = vault.ask("POST", "/v1/run", json=request(epsilon=0.125))
    assert paid.status_code == 200
    before = vault.spent()
    again = vault.ask("POST", "/v1/run", token="reader", json=request(epsilon=0.125))
    assert again.json()["answer"]["answer"]["rows"] == paid.json()["answer"]["answer"]["rows"]
    for path, body in (("/v1/run", request(epsilon=0.124)), ("/v1/run?fresh=true", request(epsilon=0.125))):
        assert vault.ask("POST", path, token="reader", json=body).status_code == 403
    bill = {"tables": ["visits"], "loss": dp.Laplace(2.0).to_json(), "label": "x"}
    assert vault.ask("POST", "/v1/bill", token="reader", json=bill).status_code == 403
    assert vault.spent() == before


HOSTILE = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"x"',
    b"\xff\xfe",
    b'{"verb": "sql"}',
    b'{"verb": 3, "question": {}}',
    b'{"verb": "nothing", "question": {}}',
    b'{"verb": "sql", "question": {"sql": 3}}',
    b'{"verb": "sql", "verb": "ask", "question": {"sql": "SELECT 1"}}',
    b'{"verb": "sql", "question": {"sql": "SELECT COUNT(*) FROM visits"}}',
    b'{"verb": "sql", "question": {"sql": "SELECT COUNT(*) FROM visits"}, "price": {"epsilon": NaN}}',
    b'{"verb": "sql", "question": {"sql": "SELECT COUNT(*) FROM visits"}, "price": {"epsilon": 1e400}}',
    b'{"verb": "sql", "question": {"sql": "SELECT COUNT(*) FROM visits"}, "price": {"epsilon": "1/0"}}',
    b'{"verb": "sql", "question": {"sql": "\\ud800"}, "price": {"epsilon": 1}}',
    b'{"verb": "ask", "question": {"plan": '
    + b"[" * 300
    + b"]" * 300
    + b', "aggregates": []}, "price": {"epsilon": 1}}',
    b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    json.dumps(request("SELECT " + " + ".join(["1"] * 10_000) + " FROM visits")).encode(),
    json.dumps(request("SELECT COUNT(*) FROM visits; DROP TABLE visits")).encode(),
]


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_the_body_is_it_is_refused_as_a_problem(vault, content):
    before = vault.spent()
    for path in ("/v1/preview", "/v1/run", "/v1/bill", "/v1/certificate"):
        response = vault.ask("POST", path, content=content)
        assert response.status_code == 422, (path, response.text)
        found = response.json()
        assert found["what"]
        assert found["why"]
        assert found["fix"]
    assert vault.spent() == before


def test_a_body_that_is_too_large_is_not_read_to_its_end(vault):
    assert vault.ask("POST", "/v1/run", content=b" " * (5 << 20)).status_code == 413


@pytest.mark.parametrize(
    "path",
    ["/v1/tables/..%2f..%2fetc", "/v1/tables/a%0d%0ax:y", "/v1/tables/%00", "/v1/tables/" + "x" * 5000, "/v1//tables"],
)
def test_odd_paths_are_unknown(vault, path):
    assert vault.ask("GET", path).status_code == 404


def test_other_methods_are_refused_as_problems(vault):
    for method, path in (("PUT", "/v1/tables"), ("DELETE", "/v1/run"), ("TRACE", "/v1/head"), ("GET", "/nothing")):
        response = vault.ask(method, path)
        assert response.status_code in (404, 405)
        assert response.headers["content-type"] == MEDIA


def test_an_analysts_responses_have_no_value_of_a_row_and_no_place(vault, tmp_path):
    with served(tmp_path, log=str(tmp_path / "log")) as made:
        texts = [
            made.ask(*each).text
            for each in (
                *(
                    ("GET", path)
                    for path in ("/v1/session", "/v1/tables", "/v1/tables/visits", "/v1/budget", "/v1/head")
                ),
                *(("GET", path) for path in ("/v1/releases", "/v1/tables/visits/dummy?rows=50", "/metrics")),
            )
        ]
        asks = [request(), request("SELECT AVG(age) AS a FROM visits"), request("SELECT SUM(agee) AS a FROM visits")]
        for path in ("/v1/preview", "/v1/run"):
            texts += [made.ask("POST", path, json=each).text for each in asks]
        texts.append((tmp_path / "log").read_text())
    for text in texts:
        for told in ("canary", "77345", str(tmp_path)):
            assert told not in text


def test_limits_hold_before_the_ledger_is_asked(tmp_path):
    with served(tmp_path, rate=0.001, burst=3) as made:
        entries = len([*made.curator.ledger.entries()])
        responses = [made.ask("POST", "/v1/run", json=request(epsilon=99)) for _ in range(8)]
        # What the budget refuses leaves an entry, and so counts as ten requests.
        assert [each.status_code for each in responses] == [403] + [429] * 7
        assert int(responses[-1].headers["retry-after"]) >= 1
        assert len([*made.curator.ledger.entries()]) - entries == 1


def test_refusals_do_not_fill_the_disk_however_long_the_question_is(tmp_path):
    with served(tmp_path) as made:
        before = made.curator.ledger.head[0]
        ages = ", ".join(map(str, range(1000)))
        long = request(f"SELECT COUNT(*) AS n FROM visits WHERE age IN ({ages})", epsilon=99)
        assert made.ask("POST", "/v1/run", json=long).status_code == 403
        parts = dp.Laplace(2.0)
        for scale in range(3, 400):
            parts = parts + dp.Laplace(float(scale) / 100)
        bill = {"tables": ["visits"], "loss": parts.to_json(), "label": "much"}
        assert made.ask("POST", "/v1/bill", json=bill).status_code == 403
        refused = [each for each in made.curator.ledger.entries(before) if each.kind == "refusal"]
        assert len(refused) == 2
        assert max(len(each.body) for each in refused) < 10_000
        made.curator.verify()


def test_a_vault_that_is_not_there_is_no_server(tmp_path):
    with pytest.raises(dp.Refusal):
        make_app(ServeSettings(str(tmp_path / "no.discreet")))


def test_the_same_question_in_every_format(vault):
    body = request(SQL, epsilon=0.5)
    as_json = vault.ask("POST", "/v1/run", json=body).json()
    counts = [each.value for each in Answer.from_json(json.dumps(as_json["answer"])).column("n").cells]
    text = vault.ask("POST", "/v1/run", json=body, headers={"Accept": "text/csv"})
    assert text.headers["content-type"].startswith("text/csv")
    assert [float(line.split(",")[1]) for line in text.text.splitlines()[1:]] == counts
    import pyarrow as pa

    arrow = vault.ask("POST", "/v1/run", json=body, headers={"Accept": "application/vnd.apache.arrow.stream"})
    assert pa.ipc.open_stream(arrow.content).read_all()["n"].to_pylist() == counts
    events = vault.ask("POST", "/v1/run", json=body, headers={"Accept": "text/event-stream"}).text
    assert events.startswith("event: ")
    assert '"replayed": true' in events
    assert vault.ask("POST", "/v1/run", json=body, headers={"Accept": "image/png"}).status_code == 422


def test_a_fresh_answer_under_a_key_is_paid_once(vault):
    def run(key):
        return vault.ask("POST", "/v1/run?fresh=true", json=request(epsilon=0.0625), headers={"Idempotency-Key": key})

    first, again, other = run("one"), run("one"), run("two")
    before = vault.spent()
    assert [run(key).status_code for key in ("", " ", "a" * 1000, "a\tb")] == [422] * 4
    assert vault.spent() == before
    assert first.json()["receipt"]["key"] == again.json()["receipt"]["key"] != other.json()["receipt"]["key"]
    assert (first.json()["receipt"]["replayed"], again.json()["receipt"]["replayed"]) == (False, True)


def test_terms_of_the_tests_hold_a_canary():
    assert TERMS["columns"]["age"].bounds[1] == 110
