"""Raw values of every kind, and what every statistic must keep: declared sensitivities, errors, distributions."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from scipy.special import bdtrc

from discreet.testing import FALSE_ALARM, fit, seeded

STRANGE = [
    float("nan"),
    float("inf"),
    float("-inf"),
    1e308,
    -1e308,
    5e-324,
    10**400,
    -(10**400),
    None,
    "text",
    b"bytes",
    [1, 2],
    {},
    object(),
    2j,
    True,
    np.float32(3.5),
    np.bool_(True),
    Fraction(1, 3),
    Decimal("NaN"),
    Decimal("-Infinity"),
    Decimal("1e999"),
    np.datetime64("NaT"),
]

VALUES = st.one_of(st.floats(), st.integers(), st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from(STRANGE))
COLUMNS = st.lists(VALUES, max_size=12)
RELATIONS = st.sampled_from(["add_remove", "replace"])


@st.composite
def neighbours(draw, values=VALUES, relation="add_remove"):
    """Two columns that differ by one value, added (the first has it) or replaced."""
    shared = draw(st.lists(values, max_size=8))
    place = draw(st.integers(0, len(shared)))
    one = [*shared[:place], draw(values), *shared[place:]]
    if relation == "add_remove":
        return one, shared
    return one, [*shared[:place], draw(values), *shared[place:]]


def check_moves(mechanism, one, other):
    """Compare how far two neighbours' integers lie apart with the sensitivity that their noise was made for."""
    moved = [abs(a - b) for a, b in zip(mechanism._inner(one), mechanism._inner(other), strict=True)]
    assert all(isinstance(entry, int) for entry in moved)
    for noise, size in mechanism.noises:
        part, moved = moved[:size], moved[size:]
        assert sum(entry != 0 for entry in part) <= noise.sensitivity.l0
        assert max(part) <= noise.sensitivity.linf
        assert sum(part) <= noise.sensitivity.l1
        assert sum(entry * entry for entry in part) <= noise.sensitivity.l2_squared
    assert moved == []


def check_total(mechanism, values):
    """Answer on any values at all: no exception, no warning (they are errors here), no NaN."""
    answer = mechanism(values)
    assert np.isfinite(np.asarray(answer, dtype=float)).all()
    return answer


def check_fit(answers, chances):
    """Compare answers with an exact distribution; a right mechanism fails once in a million times."""
    counts = Counter(answers)
    keys = list(chances)
    expected = np.array([float(low) for low, _ in chances.values()])
    assert sum(counts[key] for key in keys) == len(answers)
    assert fit([counts[key] for key in keys], expected / expected.sum()) > FALSE_ALARM


def check_noise(mechanism, exact, count=4000, seed=1):
    """Compare the noise of every integer of a statistic with the law that its loss is about."""
    (noise, _), *_ = mechanism.noises
    with seeded(seed):
        drawn = np.stack(_noisy(mechanism, exact, count))
    truth = np.array(mechanism._inner(exact), dtype=object)[:, None]
    size = mechanism.noises[0][1]
    check_fit((drawn - truth)[:size].ravel().tolist(), noise.chances())


def _noisy(mechanism, exact, count):
    from discreet.mechanisms.parts.integer_noise import plus

    drawn = [noise.draw((size, count)) for noise, size in mechanism.noises]
    entries = [entry for part in drawn for entry in part]
    return [plus(one, entry).astype(object) for one, entry in zip(mechanism._inner(exact), entries, strict=True)]


def check_error(mechanism, exact, distance, beta=0.1, count=4000, seed=2):
    """Count answers farther off than `error(beta)`: no more than beta allows, but for one time in a million."""
    with seeded(seed):
        answers = mechanism.releases(exact, count)
    half = mechanism.error(beta) * (1 + 1e-12)
    missed = sum(bool(distance(answer) > half) for answer in answers)
    assert bdtrc(missed - 1, count, beta) > FALSE_ALARM if missed else True
    return missed / count
