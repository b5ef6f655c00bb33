"""Moments: the quantities that sums, means, variances and covariances are, from the noisy integers of a release.

Each takes what its mechanism drew, in the order in which it drew it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.answers.quantity import FunctionQuantity, LinearQuantity, NoisyInteger, Quantity, RatioQuantity, linear
from discreet.core.value import dataclass


@dataclass(frozen=True, slots=True)
class SharedMoments:
    """What the noisy integers of one `Moments` mechanism say: all of it is computed from the same numbers.

    The integers are the terms of (u + (w - u))^order, and with `nulls` that of the null rows; `whole` is w^order, times
    the parts that a row is counted in.
    """

    noisy: tuple[NoisyInteger, ...]
    low: Fraction
    high: Fraction
    order: int
    nulls: bool
    whole: int

    @property
    def rows(self) -> LinearQuantity:
        """The number of rows."""
        return self._sum([Fraction(1)] * len(self.noisy))

    @property
    def present(self) -> LinearQuantity:
        """In how many rows there is a value."""
        return self._sum([Fraction(1)] * (self.order + 1))

    @property
    def total(self) -> LinearQuantity:
        """The sum of the values."""
        return self._sum([self.low + (self.high - self.low) * place for place in self._places])

    @property
    def mean(self) -> RatioQuantity:
        """The mean of the values."""
        return RatioQuantity(self.total, self.present, self.low, self.high)

    @property
    def variance(self) -> FunctionQuantity:
        """The variance of the values, from the sums of y / w and of its square, with y = 2u - w."""
        centred = self._sum([2 * place - 1 for place in self._places])
        squares = self._sum([Fraction(1), Fraction(-1), Fraction(1)])
        most = (self.high - self.low) ** 2 / 4
        return FunctionQuantity("covariance", (centred, centred, squares, self.present), (most,), Fraction(0), most)

    @property
    def std(self) -> FunctionQuantity:
        """The standard deviation: the root of the variance."""
        return FunctionQuantity("root", (self.variance,))

    @property
    def _places(self) -> list[Fraction]:
        """How much of each term is u / w: 1 and 0, or 1, 1/2 and 0."""
        return [Fraction(self.order - place, self.order) for place in range(self.order + 1)]

    def _sum(self, weights: Sequence[Fraction]) -> LinearQuantity:
        return LinearQuantity(
            tuple((weight / self.whole, noisy) for weight, noisy in zip(weights, self.noisy, strict=False))
        )


def mean(
    noisy: Sequence[NoisyInteger],
    low: Fraction,
    high: Fraction,
    *,
    step: Fraction,
    rows: int | None = None,
    grain: int = 1,
) -> Quantity:
    """Return the mean of values between two bounds, from how far they lie above one and below the other.

    With a public number of `rows` the one noisy integer is the sum of 2x - (low + high), in steps.
    """
    low, high = Fraction(low), Fraction(high)
    if rows is not None:
        return FunctionQuantity("clip", (linear(noisy[0], step / (2 * rows * grain), (low + high) / 2),), (), low, high)
    above, below = noisy
    # What is below is the number of rows.
    each = (step / (high - low) if high > low else Fraction(1)) / grain
    # low + (high - low) A / (A + B), as one quotient.
    return RatioQuantity(
        LinearQuantity(((high * each, above), (low * each, below))),
        LinearQuantity(((each, above), (each, below))),
        low,
        high,
    )


def covariance(
    noisy: Sequence[NoisyInteger],
    widths: tuple[int, int],
    *,
    steps: tuple[Fraction, Fraction],
    rows: int | None = None,
    grain: int = 1,
) -> Quantity:
    """Return the covariance of two columns."""
    (one, other, _, both, _), size = _sums(noisy, widths, rows, grain)
    reach = widths[0] * steps[0] * widths[1] * steps[1] / 4
    return FunctionQuantity("covariance", (one, other, both, size), (reach,), -reach, reach)


def correlation(
    noisy: Sequence[NoisyInteger], widths: tuple[int, int], *, rows: int | None = None, grain: int = 1
) -> Quantity:
    """Return the correlation of two columns, between -1 and 1."""
    (one, other, squares, both, others), size = _sums(noisy, widths, rows, grain)
    return FunctionQuantity("correlation", (one, other, squares, others, both, size), (), Fraction(-1), Fraction(1))


def _sums(
    noisy: Sequence[NoisyInteger], widths: Sequence[int], rows: int | None, grain: int
) -> tuple[list[LinearQuantity], LinearQuantity]:
    """Return the sums of y_i / w_i, then of the products over w_i w_j, and the size: public, or the squares' own."""
    given = iter(noisy)
    sums = [linear(next(given), Fraction(1, width * grain)) for width in widths]
    sizes = []
    for i, width in enumerate(widths):
        for j in range(i, len(widths)):
            product = linear(next(given), Fraction(1, width * widths[j] * grain))
            sums.append(product)
            if i == j and rows is None:
                sizes.append(product.plus(linear(next(given), Fraction(1, width**2 * grain))))
    if rows is not None:
        return sums, LinearQuantity((), Fraction(rows))
    size = LinearQuantity(())
    for each in sizes:
        size = size.plus(each.times(Fraction(1, len(sizes))))
    return sums, size
