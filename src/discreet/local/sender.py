"""Sending reports to a collector: in batches, each as often as it takes, counted once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from discreet.account.numeric.checks import whole
from discreet.core.errors import BadParameter, Refusal
from discreet.local.batch import ReportBatch, new_batch_key
from discreet.local.collection import Collection, read
from discreet.local.reports import Reports

_ACCEPTED, _TRY_AGAIN = 202, (408, 503)  # too slow this time, or too busy
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 0.4


class NotAccepted(Refusal):
    """A batch that the collector does not take, or a collector that cannot be reached."""


class Sender:
    """Sends reports of one collection to one collector; a batch keeps its key until it is acknowledged.

    Guarantee: what `send` has returned from is counted exactly once, though connections break and the collector is
    killed and started again meanwhile. Headers name nobody: no client, version or address of ours.
    """

    __slots__ = ("_connection", "_patience", "_protocol", "_spec", "_url")

    def __init__(self, url: str, collection: Collection, *, patience: float = 60.0) -> None:
        self._url, self._patience = _checked(url), patience
        self._spec, self._protocol = collection.hash, collection.protocol.spec_hash
        self._connection: HTTPConnection | None = None

    def send(self, reports: Reports, epoch: int, *, key: bytes | None = None) -> None:
        """Send one batch and return when the collector has it on disk; the key of an earlier try goes on with that."""
        if reports.spec_hash != self._protocol:
            why, fix = "they were made under another protocol", "encode values with the collection's protocol"
            raise BadParameter("reports", reports.spec_hash, why=why, fix=fix)
        number = whole("epoch", epoch, least=0)
        batch = ReportBatch(self._spec, key or new_batch_key(), number, len(reports), bytes(reports))
        status, text = self._persist("POST", "/v1/reports", batch.encode())
        if status != _ACCEPTED:
            fix = "check that collection, epoch and size match the collector's"
            raise NotAccepted(f"a batch of {len(reports)} reports", why=f"the collector says: {text}", fix=fix)

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _persist(self, method: str, path: str, body: bytes | None) -> tuple[int, str]:
        """Ask until there is an answer other than "try again", or patience ends."""
        end = time.monotonic() + self._patience
        for wait in _waits():
            try:
                status, text = self._ask(method, path, body)
            except (OSError, HTTPException):
                self.close()
            else:
                if status not in _TRY_AGAIN:
                    return status, text
            if time.monotonic() + wait > end:
                break
            time.sleep(wait)
        fix = "check that the collector runs and can be reached, and send the same batch again"
        raise NotAccepted(f"collector {self._url}", why="it does not answer", fix=fix, value=self._url)

    def _ask(self, method: str, path: str, body: bytes | None) -> tuple[int, str]:
        if self._connection is None:
            self._connection = _connect(self._url)
        prefix = urlsplit(self._url).path.rstrip("/")
        headers = {"Content-Type": "application/cbor"} if body is not None else {}
        self._connection.request(method, prefix + path, body=body, headers=headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read(1 << 20).decode("utf-8", errors="replace")


def fetch(url: str, *, key: str | None = None, patience: float = 10.0) -> Collection:
    """Return the collection that a collector asks for, its signature checked; with `key`, only that signer's."""
    connection = _connect(_checked(url), patience)
    try:
        connection.request("GET", urlsplit(url).path.rstrip("/") + "/v1/collection")
        text = connection.getresponse().read(1 << 24).decode("utf-8", errors="replace")
    except (OSError, HTTPException) as error:
        fix = "check that the collector runs and can be reached"
        raise NotAccepted(f"collector {url}", why="it does not answer", fix=fix, value=url) from error
    finally:
        connection.close()
    return read(text, key=key)


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none, or a broken address
        fits = False
    if not fits:
        why = "a collector has an address that begins with https:// (or http:// inside one machine)"
        raise BadParameter("url", url, why=why, fix="use an address such as https://collect.example.org")
    return url


def _connect(url: str, patience: float = 30.0) -> HTTPConnection:
    parts = urlsplit(url)
    assert parts.hostname is not None
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return kind(parts.hostname, parts.port, timeout=patience)


def _waits() -> Iterator[float]:
    wait = _FIRST_WAIT
    while True:
        yield wait
        wait = min(_LONGEST_WAIT, 2 * wait)
