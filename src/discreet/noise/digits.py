"""Geometric numbers of any scale: independent binary digits under a small exact top."""

from __future__ import annotations

from discreet.noise.arrays import NDArray, np
from discreet.noise.bits import BitSource
from discreet.noise.enclosure import Ratio
from discreet.noise.inversion import Integers, Inverter
from discreet.noise.law import Digit, Geometric, Law, SignedLaw


class GeometricDigits:
    """Draws P(m) proportional to exp(-m / scale), with or without a sign, one table per group of binary digits.

    Guarantee: exact. For a geometric m = top * 2**s + low, exp(-m/scale) factors into a function of `top` and one of
    each digit of `low`, so they are independent. With a sign, minus stands for ~m = -1 - m and weighs
    exp(-1/scale) times plus, whatever m is: the sign is independent too, and P(k) is proportional to exp(-|k|/scale).
    """

    __slots__ = ("_digits", "_shift", "_signed", "_top")

    def __init__(
        self,
        scale: Ratio,
        *,
        signed: bool,
        direct: int = 64,
        top_bits: int = 4,
        digit_bits: int = 10,
        word: int = 16,
        wide: int = 64,
        step: int = 64,
    ) -> None:
        top, bottom = scale
        whole = top // bottom
        # Below `direct` one table holds the law; above, the top keeps a scale of 2**top_bits to twice that.
        self._shift = max(0, whole.bit_length() - 1 - top_bits) if whole >= direct else 0
        self._signed = signed
        rate = (bottom << self._shift, top)
        law: Law = SignedLaw(rate, flip=(bottom, top)) if signed else Geometric(rate)
        self._top = Inverter(law, word, wide, step)
        self._digits: list[tuple[int, Inverter]] = []
        place = self._shift
        groups = -(-self._shift // digit_bits)
        for group in range(groups):
            bits = place // (groups - group)
            place -= bits
            self._digits.append((bits, Inverter(Digit((bottom << place, top), 1 << bits), word, wide, step)))

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the tables hold."""
        return self._top.nbytes + sum(digit.nbytes for _, digit in self._digits)

    def draw(self, source: BitSource, out: NDArray[np.int64]) -> Integers:
        """Fill `out` and return it, or an array of Python integers should 64 bits not hold a value."""
        values = self._top.draw(source, out, limit=1 << (62 - self._shift))
        if not self._digits:
            return values
        minus = np.where(values < 0, -1, 0) if values.dtype == object else values >> 63
        values ^= minus
        for bits, digit in self._digits:
            values <<= bits
            values |= digit.draw(source, np.empty(len(out), dtype=np.int64))
        values ^= minus
        return values

    def one(self, source: BitSource) -> int:
        """Draw a single value."""
        out = self._top.one(source)
        minus = -1 if out < 0 else 0
        out ^= minus
        for bits, digit in self._digits:
            out = out << bits | digit.one(source)
        return out ^ minus
