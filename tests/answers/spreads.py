"""Variances as `mechanisms.variance` draws them: of the sums of y, of y^2 and of the rest, y twice from the middle."""

from fractions import Fraction

from discreet.answers.quantity import FunctionQuantity, linear


def variance(noisy, width, *, step=Fraction(1)):
    """Return the variance of values whose bounds lie `width` steps apart."""
    total, square, rest = (
        linear(each, Fraction(1, by)) for each, by in zip(noisy, (width, width**2, width**2), strict=True)
    )
    most = (width * step) ** 2 / 4
    return FunctionQuantity("covariance", (total, total, square, square.plus(rest)), (most,), Fraction(0), most)


def std(noisy, width, *, step=Fraction(1)):
    """Return the standard deviation."""
    return FunctionQuantity("root", (variance(noisy, width, step=step),))
