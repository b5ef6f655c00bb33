"""Planted bugs of `answers`: intervals that are a little too short."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "answers/inversion.py",
        "return self._tail(weights, abs(self._difference(m))) <= 1 - self._level",
        "return self._tail(weights, abs(self._difference(m))) <= (1 - self._level) * 2",
        "quotients are excluded at twice the chance",
        ("answers/test_corners.py::test_a_mean_that_its_noise_carried_beyond_its_bound_has_no_narrow_interval",),
    ),
    SourceMutant(
        "answers/inversion.py",
        "    if test.excludes(start):\n        return low, high\n",
        "",
        "a mean that noise has carried away has a short interval",
        ("answers/test_corners.py::test_a_mean_that_its_noise_carried_beyond_its_bound_has_no_narrow_interval",),
    ),
    SourceMutant(
        "answers/inversion.py",
        "largest = np.maximum(sums[:-1], sums[1:]).reshape(len(edges) - 1, -1)",
        "largest = sums[:-1].reshape(len(edges) - 1, -1)",
        "a piece of the range is excluded by one of its ends",
        ("answers/test_corners.py::test_intervals_of_means_cover_every_data_set_over_all_draws",),
    ),
    SourceMutant(
        "answers/inversion.py",
        "room = size - sum(weight for weight, _ in fine)",
        "room = size",
        "discrete noise is taken for continuous noise in quotients",
        ("answers/test_corners.py::test_intervals_of_means_cover_every_data_set_over_all_draws",),
    ),
    SourceMutant(
        "answers/inversion.py",
        "return 2 * float(chances @ one_sided(law, sizes[0], rooms)) + 1.0 - float(chances.sum())",
        "return float(chances @ one_sided(law, sizes[0], rooms)) + 1.0 - float(chances.sum())",
        "one of two tails of a quotient's noise is counted",
        ("answers/test_interval.py::test_it_covers_as_often_as_it_says_and_is_hardly_wider_than_it_has_to_be",),
    ),
    SourceMutant(
        "answers/inversion.py",
        "        if noisy in above:\n            shared.add(noisy)\n",
        "",
        "noise that is above and below is counted twice",
        ("answers/test_interval.py::test_it_covers_as_often_as_it_says_and_is_hardly_wider_than_it_has_to_be",),
    ),
    SourceMutant(
        "answers/inversion.py",
        "    if (bounded and below <= 0) or",
        "    if",
        "a mean of a group without a size has an interval",
        ("answers/test_corners.py::test_intervals_of_means_cover_every_data_set_over_all_draws",),
    ),
    SourceMutant(
        "answers/noise_tail.py",
        "room = np.asarray(distances, dtype=np.float64) - weights.sum(axis=-1)",
        "room = np.asarray(distances, dtype=np.float64)",
        "discrete noise is taken for continuous noise in moments",
        ("answers/test_noise_tail.py::test_a_half_width_is_that_of_the_lattice_from_above",),
    ),
    SourceMutant(
        "answers/noise_tail.py",
        "np.maximum(ordered[..., at], ordered[..., at - 1] * _APART, out=ordered[..., at])",
        "np.minimum(ordered[..., at], ordered[..., at] * _APART, out=ordered[..., at])",
        "sizes that are nearly alike cancel in a tail",
        ("answers/test_noise_tail.py::test_a_half_width_is_that_of_the_lattice_from_above",),
    ),
    SourceMutant(
        "answers/noise_tail.py",
        "found: Array = outer\n",
        "found: Array = inner\n",
        "the reach of a sum of noises is rounded inwards",
        ("answers/test_noise_tail.py::test_a_half_width_is_that_of_the_lattice_from_above",),
    ),
    SourceMutant(
        "answers/sampling_interval.py",
        "_normal(level) ** 2 * rows.most_rows * each",
        "_normal(level) ** 2 * each",
        "people with several rows are sampled as rows are",
        (
            "answers/test_sampling_interval.py::test_rows_of_one_person_widen_an_interval_by_the_root_of_how_many_there_are",
        ),
    ),
    SourceMutant(
        "answers/sampling_interval.py",
        "return float(ndtri((1 + level) / 2))",
        "return float(ndtri(level))",
        "intervals of sampling are one-sided",
        ("answers/test_sampling_interval.py::test_sampling_and_noise_are_added_as_a_root_of_squares",),
    ),
    SourceMutant(
        "answers/moment_inversion.py",
        "ends = _mean(forms, sums, 3, miss * _ASIDE)",
        "ends = _mean(forms, sums, 3, miss)",
        "the means of a covariance miss as often as all of it may",
        ("answers/test_moment_inversion.py",),
    ),
    SourceMutant(
        "answers/sampling_interval.py",
        "jump = each * rows.most_rows / 2\n    low",
        "jump = 0.0\n    low",
        "an interval of sampling has no room for one unit",
        (
            "answers/test_sampling_interval.py::test_the_ends_of_a_sum_are_where_distance_is_sampling_and_half_of_what_one_unit_adds",
        ),
    ),
    SourceMutant(
        "answers/sampling_interval.py",
        "z2 = _normal(level) ** 2 * rows.most_rows\n",
        "z2 = _normal(level) ** 2\n",
        "means of people with several rows are sampled as rows are",
        (
            "answers/test_sampling_interval.py::test_the_ends_of_a_mean_are_where_distance_is_the_largest_spread_that_fits_it",
        ),
    ),
    SourceMutant(
        "answers/sampling_interval.py",
        "    if apart:\n        return middle - math.hypot(*below)",
        "    if groups:\n        return middle - math.hypot(*below)",
        "differences of groups that share noise are taken for independent",
        (
            "answers/test_sampling_interval.py::test_distances_of_what_shares_noise_are_added_and_others_are_the_sides_of_a_right_angle",
        ),
    ),
    SourceMutant(
        "answers/sampling_interval.py",
        "variance = _normal(level) ** 2 * grid * (4 * most - grid) / n",
        "variance = _normal(level) ** 2 * grid * (most - grid) / n",
        "the variance of a variance is that of half the range",
        (
            "answers/test_sampling_interval.py::test_the_ends_of_a_variance_are_where_distance_is_the_largest_spread_of_squares",
        ),
    ),
    SourceMutant(
        "answers/spread.py",
        'found = int(np.searchsorted(inside, level + _ROUNDING, side="left"))',
        'found = int(np.searchsorted(inside, level + _ROUNDING, side="left")) - 1',
        "the interval of a sum on a lattice is a step too short",
        ("answers/test_interval.py::test_the_interval_of_a_sum_on_a_lattice_is_the_least_symmetric_one",),
    ),
]
