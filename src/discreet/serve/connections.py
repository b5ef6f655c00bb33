"""Connections of a server: how many there may be, how long each may take, and how much is said about them."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import time
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Seconds for the head of a request, for its body, and for the client to take what was written to it.
HEAD_SECONDS, BODY_SECONDS, WRITE_SECONDS = 10.0, 30.0, 10.0
MOST_CONNECTIONS = 256
_MOST_BACKLOG = 64
_LINES, _EVERY = 10, 60.0
_PHRASES = {408: b"Request Timeout", 411: b"Length Required", 503: b"Service Unavailable"}
_END = re.compile(rb"\r?\n\r?\n")


def descriptors() -> int:
    """Return how many files and sockets the process may have open."""
    if sys.platform == "win32":  # which has no such limit
        return 4 * MOST_CONNECTIONS
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 4 * MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else soft


def most_connections() -> int:
    """Return how many connections are held at once: half of the descriptors at most, so the store has its own."""
    return max(1, min(MOST_CONNECTIONS, descriptors() // 2))


def backlog() -> int:
    """Return how many connections are accepted in one go, before any can be closed."""
    return max(1, min(_MOST_BACKLOG, descriptors() // 16))


class BoundedConnection(H11Protocol):
    """A connection that has to ask, and to read the response, in time, and makes room for another one while it has not.

    Guarantee: at most `most_connections()` are held. A new one takes the place of one that does not read what was
    written to it, or else of the one that has been asking longest; where all are being answered, it is told to try
    again. So connections that send nothing, or read nothing, shut nobody out.
    """

    _deadline: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _waits_for: object = None
    since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, if there is room or another one can go."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # to hear of every byte that cannot be sent yet
        self.since = time.monotonic()
        if len(self.connections) > most_connections() and not self._made_room():
            self.refuse(503)
            return
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Read on, and see what is still missing of the request.

        Bodies come with their length. Of chunks, a client could send so many tiny ones that nothing else is done.
        """
        if self.conn.their_state is h11.IDLE and _is_chunked(self.conn.trailing_data[0] + data):
            self.refuse(411)
            return
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request; who has sent it already, before the response, has to connect again."""
        if self.conn.trailing_data[0]:
            self.transport.close()
        super().on_response_complete()
        self.since = time.monotonic()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the connection."""
        self._forget()
        self._heed()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait for the client to read, for so long and no longer, whatever else becomes of the connection."""
        super().pause_writing()
        self._heed()
        self._unread = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on, now that everything is on its way."""
        self._heed()
        super().resume_writing()

    def shutdown(self) -> None:
        """End the connection: at once, if the client does not read."""
        if self.unread:
            self.transport.abort()
        else:
            super().shutdown()

    def _heed(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
        self._unread = None

    @property
    def asking(self) -> bool:
        """Whether the request has not been read to its end."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    @property
    def unread(self) -> bool:
        """Whether the client does not read what was written to it."""
        return self._unread is not None

    def _made_room(self) -> bool:
        others = [each for each in self.connections if isinstance(each, BoundedConnection) and each is not self]
        for chosen in ([each for each in others if each.unread], [each for each in others if each.asking]):
            if chosen:
                min(chosen, key=lambda each: each.since).refuse(503)
                return True
        return False

    def _watch(self) -> None:
        """Set a deadline for the head or the body of a request, once for each."""
        state = self.conn.their_state
        if state is self._waits_for and self._deadline is not None:
            return
        self._forget()
        if self.asking and not self.transport.is_closing():
            self._waits_for = state
            seconds = HEAD_SECONDS if state is h11.IDLE else BODY_SECONDS
            self._deadline = self.loop.call_later(seconds, self.refuse, 408)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline, self._waits_for = None, None

    def refuse(self, status: int) -> None:
        """Answer with a status, if nothing was answered yet, and close."""
        self._forget()
        self.connections.discard(self)
        if self.unread:
            self.transport.abort()
        if self.transport.is_closing():
            return
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            phrase = _PHRASES[status]
            head = b"HTTP/1.1 %d %s\r\nconnection: close\r\ncontent-length: 0\r\n\r\n" % (status, phrase)
            self.transport.write(head)
        if self.unread:  # to close is to wait for the client
            self.transport.abort()
        self.transport.close()


def _is_chunked(data: bytes) -> bool:
    """Return whether the head of a request, as far as it has come, announces a body in chunks."""
    return b"transfer-encoding" in _END.split(data, maxsplit=1)[0].lower()


class FewLines(logging.Handler):
    """Writes log records to stderr, ten a minute at most, and without tracebacks: no flood fills a disk.

    Guarantee: the level, and the type of an error where there was one; nothing of a request.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._begun, self._written = -_EVERY, 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, unless there were too many."""
        now = time.monotonic()
        if now - self._begun >= _EVERY:
            self._begun, self._written = now, 0
        if self._written >= _LINES:
            return
        self._written += 1
        kind = record.exc_info[0] if record.exc_info else None
        text = f"{record.name}: {record.levelname.lower()}" + (f" ({kind.__name__})" if kind else "")
        more = "; more within this minute are not shown" if self._written == _LINES else ""
        sys.stderr.write(f"{text}{more}\n")


def quieted(options: dict[str, Any]) -> dict[str, Any]:
    """Return options of uvicorn with bounded connections and logs."""
    handler = FewLines()
    for name in ("uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
    bounded = {"http": BoundedConnection, "ws": "none", "backlog": backlog(), "log_config": None}
    ends = {"timeout_keep_alive": 5, "timeout_graceful_shutdown": 5}
    return {**options, **bounded, **ends, "h11_max_incomplete_event_size": 16 << 10}
