"""Uploads: bodies that are being received, and how much of them is held in all."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_HELD = 64 << 20


@dataclass(slots=True, eq=False)
class Upload:
    """One body, as far as it has come; `given_up` once another one needed its room."""

    data: bytearray = field(default_factory=bytearray)
    complete: bool = False
    given_up: bool = False


class Uploads:
    """All bodies that are held, the oldest first.

    Guarantee: never more than `most` bytes of them. Where there is no room, the oldest one that is not complete is
    given up for the newer one: bodies that are held open shut nobody out.
    """

    __slots__ = ("_held", "_most", "_size")

    def __init__(self, most: int = MOST_HELD) -> None:
        self._held: dict[Upload, None] = {}
        self._most, self._size = most, 0

    @property
    def size(self) -> int:
        """How many bytes are held."""
        return self._size

    def begin(self) -> Upload:
        """Begin a body."""
        upload = Upload()
        self._held[upload] = None
        return upload

    def add(self, upload: Upload, part: bytes) -> bool:
        """Add a part of a body, and say whether there was room for it."""
        if upload.given_up:
            return False
        while self._size + len(part) > self._most:
            oldest = next((each for each in self._held if not each.complete and each is not upload and each.data), None)
            if oldest is None:
                self._give_up(upload)
                return False
            self._give_up(oldest)
        upload.data += part
        self._size += len(part)
        return True

    def end(self, upload: Upload) -> None:
        """Let go of a body."""
        self._give_up(upload)

    def _give_up(self, upload: Upload) -> None:
        if upload in self._held:
            del self._held[upload]
            self._size -= len(upload.data)
            upload.data, upload.given_up = bytearray(), True
