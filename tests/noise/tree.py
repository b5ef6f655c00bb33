"""Every path of a sampler: run it on all bit strings, and add up their weights in rationals."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from fractions import Fraction

import numpy as np

from discreet.noise.bits import BitSource


class OutOfBits(Exception):
    """The script is too short for what the sampler asked."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted


class Script(BitSource):
    """A source that hands out a given string of bits, and stops when it ends."""

    __slots__ = ("_script", "used")

    def __init__(self, script: str) -> None:
        self._script, self.used = script, 0

    def bits(self, count: int) -> int:
        part = self._script[self.used : self.used + count]
        if len(part) < count:
            raise OutOfBits(count - len(part))
        self.used += count
        return int(part or "0", 2)

    def words(self, count: int, bits: int) -> np.ndarray:
        width = 16 if bits <= 16 else 32 if bits <= 32 else 64
        return np.array([self.bits(bits) for _ in range(count)], dtype=f"u{width // 8}")


def law(run: Callable[[BitSource], Hashable], depth: int) -> tuple[dict[Hashable, Fraction], Fraction]:
    """Return the exact probability of every outcome that at most `depth` bits decide, and of all the rest."""
    found: dict[Hashable, Fraction] = defaultdict(Fraction)
    rest = Fraction(0)
    scripts = [""]
    while scripts:
        script = scripts.pop()
        try:
            source = Script(script)
            outcome = run(source)
        except OutOfBits as short:
            if len(script) + short.wanted > depth:
                rest += Fraction(1, 2 ** len(script))
            else:
                scripts += [script + format(i, f"0{short.wanted}b") for i in range(2**short.wanted)]
            continue
        assert source.used == len(script)
        found[outcome] += Fraction(1, 2**source.used)
    assert sum(found.values()) + rest == 1
    return found, rest
