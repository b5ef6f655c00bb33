"""Planted bugs of `publish`: methods whose scores and noise are for fewer rows."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "publish/allowance.py",
        "mechanism = Gaussian(rho=part, sensitivity=self.allowance.rows, dimension=_MOST_CELLS)",
        "mechanism = Gaussian(rho=part, sensitivity=1, dimension=_MOST_CELLS)",
        "Gaussian noise of published marginals is for one row of a person",
        ("publish/test_allowance.py::test_the_noise_has_the_stated_scale_for_all_rows_of_a_person",),
    ),
    SourceMutant(
        "publish/allowance.py",
        "        self._take(part)\n        chosen",
        "        chosen",
        "choices of a method cost nothing",
        ("publish/test_allowance.py::test_no_more_is_spent_than_there_is",),
    ),
    SourceMutant(
        "publish/methods/smalldb.py",
        "chosen = candidates[purse.choose(scores, sizes.rows, purse.left)]",
        "chosen = candidates[purse.choose(scores, 1, purse.left)]",
        "a small database is chosen by scores that move as far as one row",
        ("publish/methods/test_smalldb.py::test_the_choice_is_made_with_what_the_number_of_rows_has_left",),
    ),
    SourceMutant(
        "publish/methods/_rounds.py",
        "    most = max(weights[part] for part in fitting)\n",
        "    most = min(weights[part] for part in fitting)\n",
        "a heavy marginal moves its score by a light one's weight",
        ("publish/test_black_box.py::test_no_person_moves_what_noise_and_choices_see_by_more_than_was_paid_for",),
    ),
    SourceMutant(
        "publish/methods/mst.py",
        "return round((1 - FADING) ** far * WEIGHT)",
        "return round((1 + FADING) ** far * WEIGHT)",
        "scores of pairs are weighed by more than one",
        ("publish/methods/test_mst.py::test_of_pairs_that_hang_together_alike_the_one_in_the_middle_counts_most",),
    ),
    SourceMutant(
        "publish/methods/merf.py",
        "squared = allowance.rows**2 * (features * SQUARE + weight**2)",
        "squared = allowance.rows * (features * SQUARE + weight**2)",
        "features of several rows of a person move by the root of them",
        ("publish/methods/test_merf.py::test_no_rows_of_a_person_move_the_sums_further_than_the_noise_was_bought_for",),
    ),
    SourceMutant(
        "publish/pmw.py",
        "square, cutoff = 2 * part / self.updates, 1",
        "square, cutoff = 8 * part / self.updates, 1",
        "comparisons are paid by the bounded range that they have not",
        ("publish/test_pmw.py::test_the_parts_of_a_session_cost_no_more_than_the_whole",),
    ),
]
