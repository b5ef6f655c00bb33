"""The endpoint: what goes over HTTP, fixed answers, limits before reading, and silence about who sends."""

import asyncio
import json
import os
import signal
import subprocess
import sys

import httpx
import pytest

from discreet.core.errors import BadParameter, MissingExtra
from discreet.local.sender import Sender, fetch
from discreet.serve.collector import collector_app, listen
from discreet.serve.receive import Receiver
from tests.serve.collections import COLLECTION, PROTOCOL, SIGNED, batch, reports, sqlite


@pytest.fixture
def receiver(tmp_path):
    store = sqlite(tmp_path)
    yield Receiver(COLLECTION, store, most_bytes=10_000)
    store.disconnect()


@pytest.fixture
def ask(receiver):
    """Ask the app without a socket."""
    app = collector_app(receiver, SIGNED)

    def request(method, path, **content):
        async def run():
            transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
            async with httpx.AsyncClient(transport=transport, base_url="http://collector") as client:
                return await client.request(method, path, **content)

        return asyncio.run(run())

    return request


def test_a_batch_is_accepted_and_counted(ask, receiver):
    made = reports(40)
    reply = ask("POST", "/v1/reports", content=batch(made))
    assert (reply.status_code, reply.text) == (202, "accepted")
    assert receiver.store.sketch(0) == PROTOCOL.aggregate(made)


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        (b"", 422, "this is not a batch of reports"),
        (b"\xa5" + b"\x5f" * 100, 422, "this is not a batch of reports"),
        (batch(reports(4), spec=bytes(32)), 409, "these reports were made for another collection"),
        (batch(reports(4), epoch=9), 409, "the collection has no such epoch"),
        (batch(reports(4), count=5), 422, "count and length of the reports do not fit"),
        (bytes(10_001), 413, "the batch is too large"),
    ],
    ids=["nothing", "no CBOR", "another spec", "another epoch", "another count", "too much"],  # bodies are random
)
def test_answers_are_fixed_texts(ask, receiver, body, status, text):
    reply = ask("POST", "/v1/reports", content=body)
    assert (reply.status_code, reply.text) == (status, text)
    assert sum(receiver.store.rejected().values()) == 1
    assert receiver.store.sketch(0).reports == 0


def test_a_body_is_not_read_beyond_the_limit(ask, receiver):
    read = []

    async def endless():
        for number in range(1000):
            read.append(number)
            yield bytes(1000)

    reply = ask("POST", "/v1/reports", content=endless())
    assert reply.status_code == 413
    assert receiver.store.rejected() == {"too_large": 1}


def test_a_declared_length_beyond_the_limit_is_refused_unread(ask):
    reply = ask("POST", "/v1/reports", content=b"x", headers={"content-length": str(10**30)})
    assert reply.status_code == 413


def test_a_declared_length_that_is_no_number_does_no_harm(ask):
    assert ask("POST", "/v1/reports", content=b"x", headers={"content-length": "-1"}).status_code == 422


def test_a_sender_that_leaves_has_sent_nothing(receiver):
    app = collector_app(receiver, SIGNED)
    said = []

    async def gone():
        return {"type": "http.disconnect"}

    async def told(message):
        said.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/reports",
        "query_string": b"",
        "headers": [],
        "http_version": "1.1",
    }
    asyncio.run(app(scope, gone, told))
    assert said[0]["status"] == 400
    assert receiver.store.sketch(0).reports == 0
    assert receiver.store.rejected() == {}  # nor is it counted as malformed


def test_bodies_that_are_held_open_take_no_more_than_the_limit_and_shut_nobody_out(receiver):
    app = collector_app(receiver, SIGNED, most_held=20_000)
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/reports",
        "query_string": b"",
        "headers": [],
        "http_version": "1.1",
    }

    async def run():
        parts, said = asyncio.Event(), []

        async def ask(messages, waits=None):
            left = list(messages)

            async def receive():
                if not left:
                    await waits.wait()
                    return {"type": "http.disconnect"}
                return left.pop(0)

            async def send(message):
                said.append(message.get("status"))

            await app(scope, receive, send)

        held = [
            asyncio.create_task(ask([{"type": "http.request", "body": bytes(9_000), "more_body": True}], parts))
            for _ in range(6)
        ]
        await asyncio.sleep(0)
        await ask([{"type": "http.request", "body": batch(reports(4)), "more_body": False}])
        first = [status for status in said if status]
        parts.set()
        await asyncio.gather(*held)
        return first

    assert asyncio.run(run()) == [202]
    assert receiver.store.sketch(0).reports == 4
    assert receiver.store.rejected() == {}


def test_the_signed_collection_can_be_fetched(ask):
    reply = ask("GET", "/v1/collection")
    assert reply.status_code == 200
    assert reply.text == SIGNED


def test_the_description_is_open_and_fetches_nothing(ask):
    described = ask("GET", "/openapi.json").json()
    assert set(described["paths"]) == {"/v1/reports", "/v1/collection"}
    assert set(described["paths"]["/v1/reports"]["post"]["responses"]) >= {"202", "409", "413", "422"}
    assert ask("GET", "/docs").status_code == 404


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/reports"), ("POST", "/v1/collection"), ("GET", "/x")])
def test_other_ways_in_are_closed(ask, method, path):
    assert ask(method, path).status_code in (404, 405)


def test_a_port_that_is_taken_is_refused():
    with listen("127.0.0.1", 0) as taken, pytest.raises(BadParameter, match="nothing can listen"):
        listen("127.0.0.1", taken.getsockname()[1])


def test_packages_that_are_not_installed_are_refused_with_the_pip_line(monkeypatch, receiver):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(MissingExtra, match=r"pip install 'discreet\[collect\]'"):
        collector_app(receiver, SIGNED)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_real_process_collects_over_a_socket_and_says_nothing_of_senders(tmp_path, ending):
    (tmp_path / "collection.json").write_text(SIGNED)
    sqlite(tmp_path).disconnect()
    words = [sys.executable, "-m", "discreet", "collect", "serve", str(tmp_path), "--port", "0", "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        url = json.loads(process.stdout.readline())["result"]["url"]
        asked = fetch(url, key=COLLECTION.key, patience=30)
        assert asked == COLLECTION
        sender = Sender(url, asked)
        sender.send(reports(30), 0, key=b"k" * 16)
        sender.send(reports(30), 0, key=b"k" * 16)
        sender.close()
        assert httpx.post(f"{url}/v1/reports", content=b"nonsense", headers={"User-Agent": "traced"}).status_code == 422
    finally:
        os.kill(process.pid, ending)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert (out, err) == ("", "")  # no line for a request, malformed or not
    store = sqlite(tmp_path)
    assert store.sketch(0).reports == 30
    assert store.rejected() == {"malformed": 1, "replayed": 1}
    store.disconnect()
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"traced" not in content
    assert b"127.0.0.1" not in content
