"""What the tests of elementary mechanisms share: fits against exact chances, and exact privacy losses."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np

from discreet.testing import FALSE_ALARM, fit, seeded


def outcomes(released):
    """The releases as hashable values."""
    return [tuple(row) if isinstance(row, list) else row for row in np.asarray(released).tolist()]


def check_fit(mechanism, exact, *, seed, draws=100_000):
    """Releases follow the mechanism's own exact chances, at the house's false-alarm rate of 1e-6."""
    chances = mechanism.chances(exact)
    with seeded(seed):
        seen = Counter(outcomes(mechanism.releases(exact, draws)))
    keys = list(chances)
    expected = [float(low) for low, _ in chances.values()]
    beyond = sum(count for key, count in seen.items() if key not in chances)
    assert beyond == 0
    assert fit([seen[key] for key in keys], np.array(expected) / sum(expected)) > FALSE_ALARM


def check_sum(chances, slack=Fraction(1, 2**60)):
    """The bounds are ordered, and together within 2**-60 of 1."""
    assert all(0 <= low <= high for low, high in chances.values())
    assert 1 - slack <= sum(low for low, _ in chances.values()) <= 1
    assert sum(high for _, high in chances.values()) >= 1 - slack


def surest(mechanism, one, other):
    """The largest privacy loss that is certain, over all outputs and both directions."""
    p, q = mechanism.chances(one), mechanism.chances(other)
    ratios = [p[key][0] / q[key][1] for key in p if key in q] + [q[key][0] / p[key][1] for key in p if key in q]
    return math.log(max(ratios))


def delta(mechanism, one, other, epsilon):
    """The exact delta at an epsilon, from below."""
    p, q = mechanism.chances(one), mechanism.chances(other)
    nothing = (Fraction(0), Fraction(1, 2**70))
    odds = Fraction(math.exp(epsilon))
    return float(sum(max(Fraction(0), p[key][0] - odds * q.get(key, nothing)[1]) for key in p))
