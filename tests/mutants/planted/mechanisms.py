"""Planted bugs of `mechanisms`: noise left out in a branch, half of a sensitivity, a delta that is shared out twice."""

from tests.mutants.mutant import SourceMutant

SESSIONS = "mechanisms/test_asked_sessions.py"
MOVED = ("mechanisms/test_person_total.py::test_no_person_moves_two_groups_further_than_the_noise_was_made_for",)

MOMENTS = "mechanisms/test_moments.py::test_over_all_tiny_tables_no_neighbour_costs_more_and_one_costs_all_of_it"

MUTANTS = [
    SourceMutant(
        "mechanisms/person_total.py",
        "return max(abs(self.grid.low), abs(self.grid.high))",
        "return self.grid.high - self.grid.low",
        "a person's total is taken to be there always, so that only the distance of its bounds is covered",
        MOVED,
    ),
    SourceMutant(
        "mechanisms/person_total.py",
        "moved = moved.exchanged(self._one_sign)",
        "moved = moved.exchanged(True)",
        "a total that is replaced by one of the other sign is covered like one that comes or goes",
        MOVED,
    ),
    SourceMutant(
        "mechanisms/person_total.py",
        'if self.relation == "replace":',
        "if False:",
        "the totals of a person who is replaced are not doubled",
        MOVED,
    ),
    SourceMutant(
        "mechanisms/sparse_vector.py",
        "return int(opened(exact)) + laplace(self._scale) if above else None",
        "return int(opened(exact)) if above else None",
        "answers above the threshold are given without noise, in sessions",
        (SESSIONS,),
    ),
    SourceMutant(
        "mechanisms/sparse_vector.py",
        "return self.comparison.cutoff * self.comparison.sensitivity / self.answers_epsilon",
        "return self.comparison.sensitivity / self.answers_epsilon",
        "every answer of a session has noise for the whole of its epsilon",
        (SESSIONS,),
    ),
    SourceMutant(
        "mechanisms/parts/threshold.py",
        "            self._left -= found\n            return found",
        "            self._left -= found\n            self._threshold = self._comparison.noisy_threshold()\n            return found",
        "a session draws its threshold again after every answer",
        (SESSIONS,),
    ),
    SourceMutant(
        "mechanisms/parts/threshold.py",
        "found = answer + laplace(self._comparison.answer_scale) >= self._threshold",
        "found = answer >= self._threshold",
        "a session compares exact answers with its threshold",
        (SESSIONS,),
    ),
    SourceMutant(
        "mechanisms/parts/threshold.py",
        "found = answer + laplace(self._comparison.answer_scale) >= self._threshold",
        "found = answer + laplace(self._comparison.threshold_scale) >= self._threshold",
        "a session compares answers with the noise of the threshold",
        (SESSIONS,),
    ),
    SourceMutant(
        "mechanisms/parts/threshold.py",
        "            self._left -= found\n            return found",
        "            self._left -= not found\n            return found",
        "a session counts the answers that are below",
        (SESSIONS,),
    ),
    SourceMutant(
        "mechanisms/parts/threshold.py",
        "return self.cutoff * (1 if self.monotone else 2)",
        "return self.cutoff",
        "answers that move against the threshold have the noise of monotone ones",
        ("mechanisms/test_asked_sessions.py",),
    ),
    SourceMutant(
        "mechanisms/key_selection.py",
        "return Fraction(self.epsilon) / self.moved, Fraction(self.delta) / self.moved",
        "return Fraction(self.epsilon) / self.moved, Fraction(self.delta)",
        "every key that a person moves risks the whole delta",
        ("mechanisms/test_key_selection.py::test_the_loss_is_split_over_the_keys_of_one_person",),
    ),
    SourceMutant(
        "mechanisms/key_selection.py",
        'return self.groups * (1 if self.relation == "add_remove" else 2)',
        "return self.groups",
        "a person who is replaced leaves keys and joins none",
        ("mechanisms/test_key_selection.py::test_the_loss_is_split_over_the_keys_of_one_person",),
    ),
    SourceMutant(
        "mechanisms/key_selection.py",
        "    odds = [0]\n",
        "    odds = [(delta.numerator << bits) // delta.denominator]\n",
        "a key that nobody has is shown with probability delta",
        ("mechanisms/test_key_selection.py::test_keys_of_nobody_are_never_kept_and_certain_ones_always",),
    ),
    SourceMutant(
        "mechanisms/top_k.py",
        "return Leveled(Fraction(self.epsilon) / (2 * self.sensitivity), self.sequences, ranking.levels)",
        "return Leveled(Fraction(self.epsilon) / self.sensitivity, self.sequences, ranking.levels)",
        "top keys are chosen with twice the epsilon",
        ("mechanisms/test_top_k.py::test_chances_are_those_of_the_exponential_mechanism_over_all_sequences",),
    ),
    SourceMutant(
        "mechanisms/counter.py",
        "return self.horizon.bit_length()",
        "return (self.horizon - 1).bit_length()",
        "a counter whose horizon is a power of two has noise for one level too few",
        (
            "mechanisms/test_counter.py::test_the_loss_is_one_number_a_level_and_epsilon_in_all",
            "mechanisms/test_counter.py::test_an_event_is_in_at_most_one_block_of_each_level",
        ),
    ),
    SourceMutant(
        "mechanisms/histogram.py",
        "return Sensitivity(min(2 * k, len(self.keys)), k, 2 * k, 2 * k * k)",
        "return Sensitivity(min(2 * k, len(self.keys)), k, k, k * k)",
        "a row that moves from one cell to another counts once",
        ("mechanisms/test_histogram.py::test_under_replace_a_row_costs_two_cells",),
    ),
    SourceMutant(
        "mechanisms/gaussian.py",
        "return math.isqrt(math.ceil(value) - 1) + 1",
        "return math.isqrt(math.ceil(value))",
        "the root of a squared sensitivity is rounded down",
        ("mechanisms/test_gaussian.py::test_a_grid_counts_sensitivity_in_steps",),
    ),
    SourceMutant(
        "mechanisms/parts/selection.py",
        "moved = whole_steps(self.sensitivity, self.step) * (1 if self.monotone else 2)",
        "moved = whole_steps(self.sensitivity, self.step)",
        "a choice by scores that part has the noise of one by scores that move together",
        (
            "mechanisms/test_exponential.py::test_the_odds_are_exponential_in_the_scores",
            "mechanisms/test_exponential.py::test_the_declared_loss_is_kept_on_the_worst_neighbours",
        ),
    ),
    SourceMutant(
        "mechanisms/contribution_bound.py",
        "return self._highest(-self.depth)",
        "return self._highest(-self.answers)",
        "the bound on rows is sought where few people decide it",
        ("mechanisms/test_contribution_bound.py::test_few_people_have_a_small_bound",),
    ),
    SourceMutant(
        "mechanisms/laplace.py",
        "return scaled(add(counted, laplace(self.scale / self.step, shape)), self.step)",
        "return scaled(add(counted, laplace(self.scale / self.step, shape) if shape != () else 0), self.step)",
        "an array without axes is released as it is",
        ("mechanisms/test_exact_inputs.py::test_a_table_without_axes_has_noise_as_any_other",),
    ),
    SourceMutant(
        "mechanisms/moments.py",
        "return ((self._noise(found), entries),)",
        "return ((self._noise(found), self.order + 1),)",
        "null rows of shared moments have no noise",
        (MOMENTS,),
    ),
    SourceMutant(
        "mechanisms/moments.py",
        "entries, moved = self.order + 1 + self.nulls, self.contributions * self.whole",
        "entries, moved = self.order + 1 + self.nulls, self.contributions * self.grid.width",
        "shared moments have noise for the width of the bounds, not for its square",
        (MOMENTS,),
    ),
    SourceMutant(
        "mechanisms/moments.py",
        "found = replace(found.exchanged(one_sign=True), l0=min(entries, 2 * found.l0))",
        "found = replace(found, l0=min(entries, 2 * found.l0))",
        "shared moments of a replaced person have the noise of one who is added",
        (MOMENTS,),
    ),
]
