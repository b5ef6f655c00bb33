"""Served vaults for tests: an app over a small vault, asked without a socket, and the real command."""

import asyncio
import json
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import httpx

import discreet as dp
from discreet.curator.curator import Curator
from discreet.curator.remote.remote_desk import RemoteDesk
from discreet.curator.session import Session
from discreet.serve.api.app import make_app
from discreet.serve.api.settings import ServeSettings

CANARY = 77_345  # an age in no declaration: seen anywhere, it was read from the rows
ROWS = {
    "patient": [f"p{n % 100}" for n in range(300)] + ["canary-person"],
    "age": [n % 90 for n in range(300)] + [CANARY],
    "ward": [*"ABC"] * 100 + ["A"],
    "note": ["usual"] * 300 + ["canary-note"],
}
TERMS = {
    "unit": dp.person("patient", max_rows=3),
    "columns": {"age": dp.between(0, 110), "ward": dp.one_of("A", "B", "C"), "note": dp.text()},
}
SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def request(sql=SQL, epsilon=0.25, verb="sql", **others):
    return {"verb": verb, "question": {"sql": sql}, "price": {"epsilon": epsilon}, **others}


class SyncTransport(httpx.BaseTransport):
    """Sends requests into an app, in the loop of the caller's thread."""

    def __init__(self, app):
        self.inner = httpx.ASGITransport(app=app, raise_app_exceptions=False)

    def handle_request(self, request):
        async def handled():
            response = await self.inner.handle_async_request(request)
            content = b"".join([part async for part in response.stream])
            return httpx.Response(response.status_code, headers=response.headers, stream=httpx.ByteStream(content))

        return asyncio.run(handled())


class Served:
    """A vault with an analyst, a custodian and a reader, and the app over it."""

    def __init__(self, folder, **settings):
        self.folder = folder
        self.curator = Curator(folder / "vault.discreet")
        self.curator.register("visits", ROWS, budget=dp.Budget(epsilon=100, delta=1e-6), **TERMS)
        self.curator.register("secrets", {"x": [1, 2]}, unit=dp.row(), columns={"x": dp.between(0, 9)},
            budget=dp.Budget(epsilon=1))  # fmt: skip
        self.tokens = {
            "analyst": self.curator.grant("alice", "visits", budget=dp.Budget(epsilon=20, delta=1e-7)),
            "custodian": self.curator.grant("kay", role="custodian"),
            "reader": self.curator.grant("rita", "visits", role="reader"),
            "other": self.curator.grant("otto", "secrets"),
        }
        self.settings = ServeSettings(str(folder / "vault.discreet"), **{"rate": 1e6, "burst": 10**6, **settings})
        self.opened(make_app(self.settings))

    def opened(self, app):
        self.app = app
        self.client = httpx.Client(transport=SyncTransport(app), base_url="http://127.0.0.1")

    def ask(self, method, path, token="analyst", headers=None, **content):
        shown = self.tokens.get(token, token)
        given = (
            {}
            if shown is None
            else {"Authorization": b"Bearer " + (shown if isinstance(shown, bytes) else shown.encode())}
        )
        return self.client.request(method, path, headers={**given, **(headers or {})}, **content)

    def session(self, token="analyst"):
        return Session(RemoteDesk("http://127.0.0.1", self.tokens[token], transport=SyncTransport(self.app)))

    def spent(self):
        return self.curator.ledger.spent("visits")

    def close(self):
        self.client.close()
        self.app.state.desks.close()
        self.curator.close()


@contextmanager
def served(folder, **settings):
    made = Served(folder, **settings)
    try:
        yield made
    finally:
        made.close()


def up(url):
    """Wait for a server to answer."""
    for _ in range(300):
        with suppress(httpx.TransportError):
            assert httpx.get(f"{url}/healthz").status_code == 200
            return
        time.sleep(0.05)
    raise AssertionError("the server does not come up")


@contextmanager
def command(vault, *words):
    """Run `discreet serve` on a free port, and give its address and its process."""
    line = [sys.executable, "-m", "discreet", "serve", "--vault", str(vault), "--port", "0", "--json", *words]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        try:
            said = json.loads(process.stdout.readline())
            assert "result" in said, said
            yield said["result"]["url"], process
        finally:
            process.terminate()
            process.wait(30)
