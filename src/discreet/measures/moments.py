"""Moments: the quantities that mean, variance, covariance and correlation are, from the noisy integers of a release.

Each function takes what the mechanism of the same name drew, in the order in which it drew it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.answers.quantity import FunctionQuantity, LinearQuantity, NoisyInteger, Quantity, RatioQuantity, linear


def mean(
    noisy: Sequence[NoisyInteger], low: Fraction, high: Fraction, *, step: Fraction, rows: int | None = None
) -> Quantity:
    """Return the mean of values between two bounds, from how far they lie above one and below the other.

    With a public number of `rows` the one noisy integer is the sum of 2x - (low + high), in steps.
    """
    low, high = Fraction(low), Fraction(high)
    if rows is not None:
        return FunctionQuantity("clip", (linear(noisy[0], step / (2 * rows), (low + high) / 2),), (), low, high)
    above, below = noisy
    each = step / (high - low) if high > low else Fraction(1)  # what is below is the number of rows
    # low + (high - low) A / (A + B), as one quotient.
    return RatioQuantity(
        LinearQuantity(((high * each, above), (low * each, below))),
        LinearQuantity(((each, above), (each, below))),
        low,
        high,
    )


def variance(noisy: Sequence[NoisyInteger], width: int, *, step: Fraction, rows: int | None = None) -> Quantity:
    """Return the variance of values whose bounds lie `width` steps apart, from the sums of y and y^2 (and the rest).

    y is 2x - (low + high) in steps; without a public number of `rows` the rest, width^2 - y^2, tells it.
    """
    sums, size = _sums(noisy, (width,), rows)
    total, square = sums
    reach = (width * step) ** 2
    return FunctionQuantity("covariance", (total, total, square, size), (reach / 4,), Fraction(0), reach / 4)


def std(noisy: Sequence[NoisyInteger], width: int, *, step: Fraction, rows: int | None = None) -> Quantity:
    """Return the standard deviation: the root of the variance."""
    return FunctionQuantity("root", (variance(noisy, width, step=step, rows=rows),))


def covariance(
    noisy: Sequence[NoisyInteger], widths: tuple[int, int], *, steps: tuple[Fraction, Fraction], rows: int | None = None
) -> Quantity:
    """Return the covariance of two columns."""
    (one, other, _, both, _), size = _sums(noisy, widths, rows)
    reach = widths[0] * steps[0] * widths[1] * steps[1] / 4
    return FunctionQuantity("covariance", (one, other, both, size), (reach,), -reach, reach)


def correlation(noisy: Sequence[NoisyInteger], widths: tuple[int, int], *, rows: int | None = None) -> Quantity:
    """Return the correlation of two columns, between -1 and 1."""
    (one, other, squares, both, others), size = _sums(noisy, widths, rows)
    return FunctionQuantity("correlation", (one, other, squares, others, both, size), (), Fraction(-1), Fraction(1))


def _sums(
    noisy: Sequence[NoisyInteger], widths: Sequence[int], rows: int | None
) -> tuple[list[LinearQuantity], LinearQuantity]:
    """Return the sums of y_i / w_i, then of the products over w_i w_j, and the size: public, or the squares' own."""
    given = iter(noisy)
    sums = [linear(next(given), Fraction(1, width)) for width in widths]
    sizes = []
    for i, width in enumerate(widths):
        for j in range(i, len(widths)):
            product = linear(next(given), Fraction(1, width * widths[j]))
            sums.append(product)
            if i == j and rows is None:
                sizes.append(product.plus(linear(next(given), Fraction(1, width**2))))
    if rows is not None:
        return sums, LinearQuantity((), Fraction(rows))
    size = LinearQuantity(())
    for each in sizes:
        size = size.plus(each.times(Fraction(1, len(sizes))))
    return sums, size
