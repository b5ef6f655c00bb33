"""Random bits: AES-256 in counter mode, keyed by the operating system, one stream per thread; or a debit's own."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from io import BytesIO
from typing import TypeAlias
from weakref import ref

from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from discreet.core.errors import Refusal
from discreet.noise.arrays import NDArray, np

Words: TypeAlias = "NDArray[np.unsignedinteger]"

_KEY_BYTES = 32
_NONCE_BYTES = 16
# A key lives for at most this many bytes of stream: what leaks with a stolen key is bounded, and so is the
# distance from the truly random (a counter never repeats a block; 2^20 blocks stay far from the birthday bound).
KEY_LIFE = 1 << 24
_BLOCK = 1 << 20
_ZEROS = memoryview(bytes(_BLOCK))
_SCALAR_BYTES = 4096


class BitSource:
    """A stream of independent fair bits.

    Guarantee: no bit is handed out twice, whatever threads, forks or signal handlers do: a stream belongs to one
    thread of one process, and bytes leave it only through single calls that both read and advance. The one exception
    is a stream that is `fixed` with a debit (`discreet.noise.draws`): it is repeated, on purpose, wherever the same
    question is worked on, and how its bits become values depends on nothing that this process did before.
    """

    __slots__ = ("_buffer", "_cipher", "_entropy", "_left", "fixed", "process")

    def __init__(self, entropy: Callable[[int], bytes] = os.urandom, *, fixed: bool = False) -> None:
        self.process = os.getpid()
        self.fixed = fixed
        self._entropy = entropy
        self._buffer = BytesIO()
        self._renew()

    def words(self, count: int, bits: int) -> Words:
        """Draw `count` independent uniform integers of `bits` bits (at most 64)."""
        width = 16 if bits <= 16 else 32 if bits <= 32 else 64
        out = np.empty(count, dtype=f"u{width // 8}")
        if count:
            self._fill(out.data.cast("B"))
        if bits < width:
            out &= out.dtype.type((1 << bits) - 1)
        return out

    def bits(self, count: int) -> int:
        """Draw one uniform integer of `count` bits."""
        size = (count + 7) >> 3
        data = self._buffer.read(size)
        if len(data) < size:
            data = self._refill(size)
        return int.from_bytes(data, "little") >> (8 * size - count)

    def new_key(self) -> bytes:
        """Draw a key from where this stream has its own."""
        return self._entropy(_KEY_BYTES)

    def restart(self) -> None:
        """Go on with a new key, and with nothing of the stream so far."""
        self._buffer = BytesIO()
        self._renew()
        self.process = os.getpid()

    def end(self) -> None:
        """Hand out nothing any more."""
        self._buffer, self._left, self._entropy = BytesIO(), 0, _ended

    def _refill(self, size: int) -> bytes:
        """Replace the buffer of small draws; what was left in the old one is thrown away."""
        fresh = bytearray(max(size, _SCALAR_BYTES))
        self._fill(memoryview(fresh))
        buffer = BytesIO(fresh)
        data = buffer.read(size)
        self._buffer = buffer
        return data

    def _fill(self, out: memoryview) -> None:
        for start in range(0, len(out), _BLOCK):
            part = out[start : start + _BLOCK]
            if self._left < len(part):
                self._renew()
            self._left -= len(part)
            self._cipher.update_into(_ZEROS[: len(part)], part)

    def _renew(self) -> None:
        """Take a new key; the old one goes with its context, and no copy of the new one stays behind."""
        key = bytearray(self._entropy(_KEY_BYTES))
        self._cipher: CipherContext = Cipher(algorithms.AES(key), modes.CTR(self._entropy(_NONCE_BYTES))).encryptor()
        key[:] = bytes(_KEY_BYTES)
        self._left = KEY_LIFE


def _ended(_: int) -> bytes:
    why, fix = "the block that it was fixed for has ended", "draw inside the block"
    raise Refusal("a fixed stream of random bits", why=why, fix=fix)


def _nothing() -> None:
    """Stand in for a reference to a block where there is none."""


class _Threads(threading.local):
    source: BitSource | None = None
    fixed: Callable[[], drawing | None] = staticmethod(_nothing)


_threads = _Threads()


def current() -> BitSource:
    """Return this thread's stream; a new thread and a forked child start one of their own.

    Inside `drawing` it is the stream that was fixed, in a child that is forked there, too, as long as it stays in that
    block: it works on the same debit. A child that was forked anywhere else knows of no fixed stream.
    """
    block = _threads.fixed()
    return own() if block is None else block.source


def own() -> BitSource:
    """Return this thread's stream from the operating system, whatever is fixed at the moment."""
    source = _threads.source
    if source is None or source.process != os.getpid():
        source = _threads.source = BitSource()
    return source


class drawing:  # noqa: N801  (reads as a word of its `with` statement)
    """Makes this thread draw from a fixed stream, inside a `with` block, at whose end the stream is over.

    Guarantee: an interrupt leaves no other work with the stream. It is found through the block alone, which is gone
    with its `with` statement even if that was left before it could be ended; and `let_go` forgets it in any case.
    """

    __slots__ = ("__weakref__", "_before", "source")

    def __init__(self, source: BitSource) -> None:
        self.source = source
        self._before: Callable[[], drawing | None] = _nothing

    def __enter__(self) -> None:
        self._before = _threads.fixed
        # The last thing that happens here, and nothing is called after it: no signal handler runs before the block.
        _threads.fixed = ref(self)

    def __exit__(self, *_: object) -> None:
        _threads.fixed = self._before
        self.source.end()


def let_go() -> None:
    """Draw from this thread's own stream again, whatever was fixed."""
    _threads.fixed = _nothing


def _forget() -> None:
    """Start again; a draw that was under way when a signal handler forked goes on with other bits than its parent's."""
    source, _threads.source = _threads.source, None
    if source is not None:
        source.restart()
    if _threads.fixed() is None:  # a block that was left is none, also for the child
        let_go()


# A child created by os.fork must not go on with its parent's stream. The process number that `current` compares
# tells as much, also after a fork made outside Python, but not in a new namespace where the numbers start again.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
