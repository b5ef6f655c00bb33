"""Lattice measures under an exponential tilt, and their convolution with every error accounted for.

A plain Fourier transform errs by 1e-16 of the *whole* mass, which ruins a delta of 1e-10. Under the tilt (Esscher
transform) mass at loss l is weighted by e^(theta l), with theta such that the losses that decide delta become the bulk:
an error of 1e-13 of the whole is then about 1e-13 of delta. What round-off may have lost is tracked as two numbers,
`error`, a bound on the tilted mass that is missing at any one place, and `norm`, a bound on the root of the sum of
squares of what is missing at all places: over many places the second says less is missing than so many times the first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from discreet.account.numeric.loss_measure import Index, LossMeasure
from discreet.account.numeric.pair import Array
from discreet.account.numeric.rounding import CALL
from discreet.account.numeric.scipy_functions import fft
from discreet.core.value import dataclass, replace

# One butterfly of a transform errs by at most this share of the mass it handles (Higham 2002, Theorem 24.2: about seven
# units of 2^-53), and log2(length) of them lie on every path.
BUTTERFLY = 2.0**-50
SILENT = 60.0  # frequencies at which the product is below e^-60 are left out, and counted as errors of that size
DIRECT = 4.0  # what a term of a direct sum costs, against one of length * log2(length) of a transform


@dataclass(frozen=True, slots=True)
class Lattice:
    """Tilted masses at the losses index * spacing; the true masses are e^(log_scale - theta loss) times them."""

    theta: float
    spacing: float
    index: Index
    mass: Array
    log_scale: float
    error: float = 0.0
    norm: float = 0.0

    @classmethod
    def of(cls, measure: LossMeasure, index: Index, theta: float, spacing: float) -> Lattice:
        """Tilt a measure whose losses are index * spacing."""
        exponent = theta * measure.losses
        top = float(exponent[measure.masses > 0].max())
        weighted = measure.masses * np.exp(np.minimum(exponent - top, 0.0))
        if not weighted.sum() > 1e-200:  # the largest is not where the tilt is, and both together underflow
            with np.errstate(divide="ignore"):
                both = np.log(measure.masses) + exponent
            top = float(both.max())
            weighted = np.exp(both - top) * (1 + 2.0**-39)
        total = float(weighted.sum())
        # Exponents are rounded to 2^-53 of their size, once here and once where the tilt is undone.
        guard = 1 + CALL * (2 + float(np.abs(exponent).max()))
        return cls(theta, spacing, index, weighted * (guard / total), top + math.log(total))

    @property
    def losses(self) -> Array:
        """The losses of the masses."""
        return np.asarray(self.index * self.spacing, dtype=np.float64)

    def log_moment(self, rate: float) -> float:
        """Return ln of the true E e^(rate loss)."""
        exponent = (rate - self.theta) * self.losses
        top = float(exponent[self.mass > 0].max())
        return top + math.log(float(self.mass @ np.exp(np.minimum(exponent - top, 0.0)))) + self.log_scale

    def coarser(self) -> Lattice:
        """Double the spacing of a gapless lattice, dividing mass at odd places so that P and Q keep their weights."""
        odd = int(self.index[0]) % 2
        mass = np.pad(self.mass, (odd, (len(self.mass) + odd + 1) % 2))
        even, between = mass[0::2].copy(), mass[1::2]
        # Under P the upper neighbour gets 1/(1 + e^-spacing); the tilt weighs a step up by e^(theta spacing).
        step, decay = self.theta * self.spacing, math.exp(-self.spacing)
        even[1:] += between * (math.exp(step) / (1 + decay))
        even[:-1] += between * (math.exp(-step) * decay / (1 + decay))
        index = (int(self.index[0]) - odd) // 2 + np.arange(len(even))
        # Each place may miss what it missed before and what its two neighbours pass on; and so for the norm.
        grown = 1 + math.exp(step)
        error, norm = self.error * grown, self.norm * grown
        return replace(self, spacing=2 * self.spacing, index=index, mass=even, error=error, norm=norm)


def product(parts: Iterable[tuple[Lattice, int]], low: int, high: int, around: int = 0) -> Lattice:
    """Convolve the parts, each as often as it says, on a circle of at least `around` places, from low to high.

    Sums outside the circle are wrapped into it: mass at losses where it does not belong. Mass that should lie in the
    window is all there, so nothing is missing but what lies above it.
    """
    length = int(fft.next_fast_len(max(high - low + 1, around), real=True))
    # Of every frequency that is still heard: the product, a bound on its modulus, the sum of relative errors.
    heard = np.arange(length // 2 + 1)
    values, size, relative = np.ones(len(heard), complex), np.ones(len(heard)), np.zeros(len(heard))
    first, whole, log_scale = None, 0.0, 0.0
    for part, count in parts:
        first = first or part
        total = float(part.mass.sum())
        whole, log_scale = whole + count * math.log(total), log_scale + count * part.log_scale
        spectrum = _spectrum(part, heard, length)
        noise = BUTTERFLY * math.log2(length) * total
        modulus = np.hypot(spectrum.real, spectrum.imag) + noise
        size = size * (modulus if count == 1 else modulus**count)
        some = size > math.exp(-SILENT)
        if not some.all():
            heard, size, spectrum, modulus = heard[some], size[some], spectrum[some], modulus[some]
            values, relative = values[some], relative[some]
        # |prod a - prod b| <= prod of the larger moduli * sum |a - b| / modulus, and every product is rounded.
        relative = relative + count * noise / modulus + 2.0**-50
        if count > 1:
            logs = count * np.log(np.where(spectrum == 0, noise, spectrum))
            spectrum, relative = np.exp(logs), relative + CALL * (1 + np.abs(logs))
        values = values * spectrum
    assert first is not None
    spectra = np.zeros(length // 2 + 1, complex)
    spectra[heard] = values
    wrong = size * relative * math.exp(min(1.0, float(relative.max(initial=0.0))))
    wrong += (BUTTERFLY * math.log2(length) + 2.0**-50) * size  # the transform back
    left_out = math.exp(max(whole, 0.0) - SILENT)
    # Places count from zero around the circle; the window says which turn is meant.
    mass = np.roll(fft.irfft(spectra, length), -(low % length))[: high - low + 1]
    # A transform back is a mean over frequencies, of which half are mirrored; and it keeps the norm (Parseval).
    most = float(wrong.max(initial=0.0)) or 1.0
    norm = most * math.sqrt(2 * float(((wrong / most) ** 2).sum()) / length) + left_out if most < math.inf else math.inf
    error = 2 * float(wrong.sum()) / length + left_out
    return Lattice(first.theta, first.spacing, np.arange(low, high + 1), np.maximum(mass, 0.0), log_scale, error, norm)


def _spectrum(part: Lattice, heard: Index, length: int) -> npt.NDArray[np.complex128]:
    """Return the transform at the frequencies heard: all of it while they are many, sums over the places when few."""
    if DIRECT * len(heard) * len(part.index) > length * math.log2(length):
        dense = np.bincount(part.index % length, part.mass, length)
        return np.asarray(fft.rfft(dense)[heard], dtype=np.complex128)
    if int(part.index[-1] - part.index[0]) >= len(part.index):
        cosines, sines = _waves(part.index, heard, length)
        return np.asarray(part.mass @ cosines - 1j * (part.mass @ sines))
    # Without gaps the places are a first one plus rows times columns, and so are the angles: far fewer waves will do.
    columns = math.isqrt(len(part.index)) + 1
    rows = -(-len(part.index) // columns)
    table = np.zeros((rows, columns))
    table.flat[: len(part.mass)] = part.mass
    within, across = (
        _waves(places, heard, length) for places in (np.arange(columns), int(part.index[0]) + columns * np.arange(rows))
    )
    even, odd = table @ within[0], table @ within[1]
    real = (even * across[0] - odd * across[1]).sum(axis=0)
    imaginary = (even * across[1] + odd * across[0]).sum(axis=0)
    return np.asarray(real - 1j * imaginary)


def _waves(places: Index, heard: Index, length: int) -> tuple[Array, Array]:
    """Return cosines and sines of 2 pi place frequency / length, the angles reduced exactly before they are rounded."""
    turns = (np.multiply.outer(places % length, heard) % length) * (2 * math.pi / length)
    return np.cos(turns), np.sin(turns)
