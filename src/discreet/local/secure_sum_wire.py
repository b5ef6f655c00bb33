"""Parties of a secure sum in processes of their own: shares over a socket, and the same three questions.

A request is one letter, four bytes of length and a body: A (add: ticket and share), T (tickets), S (sum: tickets). The
reply is a status byte, four bytes of length and a body. Put TLS around it between machines: shares of all parties on
one open wire are the value itself.
"""

from __future__ import annotations

import socket
import struct
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.errors import Refusal
from discreet.local.secure_sum import TICKET_BYTES, Party, SecureSum, Ticket, Words

if TYPE_CHECKING:
    from collections.abc import Callable

_HEAD = struct.Struct(">cI")
_MOST = 1 << 28
_DONE, _REFUSED = b"+", b"-"


def serve_party(plan: SecureSum, listener: socket.socket, *, keep_on: Callable[[], bool] = lambda: True) -> None:
    """Answer one connection after another with a party of its own, as long as `keep_on` says."""
    party = Party(plan)
    while keep_on():
        connection, _ = listener.accept()
        with connection, suppress(OSError):  # one who breaks off must not take away what the others sent
            while (request := _read(connection)) is not None:
                _reply(connection, party, *request)


class RemoteParty:
    """A party at the other end of a socket; see `discreet.local.secure_sum.Summing`."""

    __slots__ = ("_socket",)

    def __init__(self, host: str, port: int, *, patience: float = 30.0) -> None:
        self._socket = socket.create_connection((host, port), timeout=patience)

    def add(self, ticket: Ticket, share: Words) -> None:
        """Send a share."""
        self._ask(b"A", ticket + np.asarray(share, dtype=">u8").tobytes())

    def tickets(self) -> frozenset[Ticket]:
        """Ask which clients have been heard."""
        body = self._ask(b"T", b"")
        return frozenset(body[at : at + TICKET_BYTES] for at in range(0, len(body), TICKET_BYTES))

    def total(self, tickets: frozenset[Ticket]) -> Words:
        """Ask for the sum over these clients."""
        return np.frombuffer(self._ask(b"S", b"".join(sorted(tickets))), dtype=">u8").astype(np.uint64)

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def _ask(self, kind: bytes, body: bytes) -> bytes:
        self._socket.sendall(_HEAD.pack(kind, len(body)) + body)
        reply = _read(self._socket)
        if reply is None or reply[0] != _DONE:
            why = "the party refused, or is gone" if reply is None else reply[1].decode(errors="replace")
            raise Refusal("the party's answer", why=why, fix="check that every party runs the same plan", value=None)
        return reply[1]


def _reply(connection: socket.socket, party: Party, kind: bytes, body: bytes) -> None:
    try:
        answer, status = _answer(party, kind, body), _DONE
    except Refusal as refusal:
        answer, status = refusal.why.encode(), _REFUSED
    connection.sendall(_HEAD.pack(status, len(answer)) + answer)


def _answer(party: Party, kind: bytes, body: bytes) -> bytes:
    match kind:
        case b"A":
            whole = len(body) >= TICKET_BYTES and len(body) % 8 == 0  # else no words, which the party refuses
            words = np.frombuffer(body[TICKET_BYTES:] if whole else b"", dtype=">u8")
            party.add(body[:TICKET_BYTES], words.astype(np.uint64))
            return b""
        case b"T":
            return b"".join(sorted(party.tickets()))
        case b"S":
            found = frozenset(body[at : at + TICKET_BYTES] for at in range(0, len(body), TICKET_BYTES))
            return party.total(found).astype(">u8").tobytes()
    why = "the letters are A, T and S"
    raise Refusal("a request", why=why, fix="use RemoteParty", value=kind)


def _read(connection: socket.socket) -> tuple[bytes, bytes] | None:
    """Read one message; None where the other side is gone, or sends more than anyone needs."""
    head = _exactly(connection, _HEAD.size)
    if head is None:
        return None
    kind, size = _HEAD.unpack(head)
    body = _exactly(connection, size) if size <= _MOST else None
    return None if body is None else (kind, body)


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    found = bytearray()
    while len(found) < size:
        part = connection.recv(min(1 << 20, size - len(found)))
        if not part:
            return None
        found += part
    return bytes(found)
