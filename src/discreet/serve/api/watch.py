"""Watch: what a server tells of itself: counters for Prometheus, and a log of requests without their values."""

import json
import os
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)


class Watch:
    """Counts requests by route and status, and writes a line for each, where a log was named.

    Guarantee: a line has the time, the grant, the method, the route's template, the status and the process; no path as
    it was typed, no body, no header. Counters have no times, which might tell of data.
    """

    def __init__(self, log: str | None) -> None:
        self._counts: Counter[tuple[str, str, int]] = Counter()
        self._working = 0
        self._lock = Lock()
        self._log = None if log is None else Path(log)
        if self._log is not None:
            self._log.touch(mode=0o600, exist_ok=True)

    def middleware(self, app: "ASGIApp") -> "ASGIApp":
        """Return the app, watched."""

        async def watched(scope: "Scope", receive: "Receive", send: "Send") -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            status = 500

            async def sent(message: "Message") -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                    message["headers"] = [*message["headers"], *_HEADERS]
                await send(message)

            with self._lock:
                self._working += 1
            try:
                await app(scope, receive, sent)
            finally:
                self._done(scope, status)

        return watched

    def _done(self, scope: "Scope", status: int) -> None:
        route = getattr(scope.get("route"), "path", "-")
        with self._lock:
            self._working -= 1
            self._counts[scope["method"] if route != "-" else "-", route, status] += 1
        if self._log is not None:
            self._write(scope, route, status)

    def _write(self, scope: "Scope", route: str, status: int) -> None:
        assert self._log is not None
        line: dict[str, Any] = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "grant": scope.get("state", {}).get("who"),
            "method": scope["method"] if route != "-" else "-",
            "route": route,
            "status": status,
            "process": os.getpid(),
        }
        text = (json.dumps(line) + "\n").encode()
        descriptor = os.open(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, text)  # one write, so that lines of several processes do not mix
        finally:
            os.close(descriptor)

    def metrics(self) -> str:
        """Return the counters of this process in the text format of Prometheus."""
        with self._lock:
            counts, working = sorted(self._counts.items()), self._working
        lines = ["# HELP discreet_requests_total Requests answered.", "# TYPE discreet_requests_total counter"]
        for (method, route, status), number in counts:
            lines.append(f'discreet_requests_total{{method="{method}",route="{route}",status="{status}"}} {number}')
        lines += ["# HELP discreet_requests_working Requests being answered.", "# TYPE discreet_requests_working gauge"]
        lines += [f"discreet_requests_working {working}"]
        lines += ["# HELP discreet_up_since_seconds When this process began.", "# TYPE discreet_up_since_seconds gauge"]
        lines += [f"discreet_up_since_seconds {_BEGUN:.0f}"]
        return "\n".join(lines) + "\n"


_BEGUN = time.time()
