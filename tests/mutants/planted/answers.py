"""Planted bugs of `answers`: intervals that promise too much. (Nothing here sees an exact value.)"""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "answers/spread.py",
        "return weight * tail(scale, 1 - Fraction(repr(level)))",
        "return weight * (tail(scale, 1 - Fraction(repr(level))) - 1)",
        "the interval of a single noise is a step too short",
        ("answers/test_interval.py::test_the_interval_of_one_noisy_integer_is_the_least_symmetric_one",),
    ),
    SourceMutant(
        "answers/spread.py",
        "counted[key] = counted.get(key, 0) + 1",
        "counted[key] = 1",
        "several noises of one scale count as one",
        ("answers/test_interval.py::test_a_sum_of_a_hundred_thousand_noises_is_as_wide_as_the_normal_law_says",),
    ),
    SourceMutant(
        "answers/spread.py",
        'found = int(np.searchsorted(inside, level + _ROUNDING, side="left"))',
        'found = int(np.searchsorted(inside, level - 0.01, side="left"))',
        "intervals of sums cover one percent less than they say",
        ("answers/test_interval.py::test_the_interval_of_a_sum_on_a_lattice_is_the_least_symmetric_one",),
    ),
    SourceMutant(
        "answers/interval.py",
        'if function.name == "absolute" and ends[0] < 0 < ends[1]:',
        'if function.name == "absolute" and ends[1] < 0 < ends[0]:',
        "the interval of an absolute value leaves zero out",
        ("answers/test_interval.py::test_a_size_near_zero_may_be_zero",),
    ),
    SourceMutant(
        "answers/interval.py",
        "return -math.inf, math.inf\n    corners",
        "return 0.0, 0.0\n    corners",
        "a quotient by what may be zero is said to be zero",
        ("answers/test_interval.py::test_brackets_are_combined_corner_by_corner",),
    ),
]
