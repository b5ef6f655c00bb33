"""Batches on the wire: five fields in CBOR (RFC 8949), written and read without room for surprises.

A batch is a CBOR map of exactly these fields, of definite lengths, in any order:

    spec   32 bytes   the hash of the collection
    key    16 bytes   random, chosen by the sender: a batch that is sent again under the same key counts once
    epoch  integer    of the collection
    count  integer    how many reports follow
    data   bytes      the reports, one after another

Any CBOR library writes it. Nothing else is read: no tags, no nesting, no indefinite lengths, so what a stranger
sends is looked at once, from left to right, and costs no more than its length.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

SPEC_BYTES = 32
KEY_BYTES = 16
_UNSIGNED, _BYTES, _TEXT, _MAP = 0, 2, 3, 5
_KINDS = {"spec": _BYTES, "key": _BYTES, "epoch": _UNSIGNED, "count": _UNSIGNED, "data": _BYTES}


class MalformedBatch(ValueError):
    """Bytes that are no batch. Its text is fixed: nothing of the bytes is repeated."""


@dataclass(frozen=True, slots=True)
class ReportBatch:
    """Reports of one epoch of a collection, under a key that makes sending them twice harmless."""

    spec: bytes
    key: bytes
    epoch: int
    count: int
    data: bytes

    def encode(self) -> bytes:
        """Return the batch as CBOR."""
        fields = ((name, getattr(self, name)) for name in _KINDS)
        return _head(_MAP, len(_KINDS)) + b"".join(_text(name) + _value(value) for name, value in fields)

    @staticmethod
    def decode(body: bytes) -> ReportBatch:
        """Return the batch that the bytes are, or raise MalformedBatch, and nothing else."""
        kind, size, at = _read_head(body, 0)
        if kind != _MAP or size != len(_KINDS):
            raise MalformedBatch("not a map of five fields")
        found: dict[str, int | bytes] = {}
        for _ in range(size):
            name, at = _read_name(body, at)
            if name in found:
                raise MalformedBatch("a field is given twice")
            found[name], at = _read_value(body, at, _KINDS[name])
        if at != len(body):
            raise MalformedBatch("something follows the map")
        batch = ReportBatch(**found)  # type: ignore[arg-type]  # every field was read as its kind
        if len(batch.spec) != SPEC_BYTES or len(batch.key) != KEY_BYTES:
            raise MalformedBatch("a field has a wrong length")
        return batch


def new_batch_key() -> bytes:
    """Return a fresh idempotency key."""
    return secrets.token_bytes(KEY_BYTES)


def _value(value: int | bytes) -> bytes:
    return _head(_UNSIGNED, value) if isinstance(value, int) else _head(_BYTES, len(value)) + value


def _text(name: str) -> bytes:
    return _head(_TEXT, len(name)) + name.encode("ascii")


def _head(kind: int, size: int) -> bytes:
    if size < 24:
        return bytes([kind << 5 | size])
    width = next(width for width in (1, 2, 4, 8) if size < 1 << 8 * width)
    return bytes([kind << 5 | 24 + (1, 2, 4, 8).index(width)]) + size.to_bytes(width, "big")


def _read_head(body: bytes, at: int) -> tuple[int, int, int]:
    """Return kind, argument and the place after them."""
    first = body[at : at + 1]
    if not first:
        raise MalformedBatch("it ends too early")
    kind, short = first[0] >> 5, first[0] & 31
    if short < 24:
        return kind, short, at + 1
    if short > 27:
        raise MalformedBatch("a length is not definite")
    width = 1 << (short - 24)
    number = body[at + 1 : at + 1 + width]
    if len(number) < width:
        raise MalformedBatch("it ends too early")
    return kind, int.from_bytes(number, "big"), at + 1 + width


def _read_name(body: bytes, at: int) -> tuple[str, int]:
    kind, size, at = _read_head(body, at)
    name = body[at : at + size].decode("ascii", errors="replace") if kind == _TEXT and size <= 5 else ""
    if name not in _KINDS:
        raise MalformedBatch("a field is not one of the five")
    return name, at + size


def _read_value(body: bytes, at: int, wanted: int) -> tuple[int | bytes, int]:
    kind, size, at = _read_head(body, at)
    if kind != wanted:
        raise MalformedBatch("a field has a wrong kind")
    if wanted == _UNSIGNED:
        return size, at
    if len(body) - at < size:
        raise MalformedBatch("it ends too early")
    return body[at : at + size], at + size
