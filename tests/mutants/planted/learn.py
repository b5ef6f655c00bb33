"""Planted bugs of `learn` and of what it stands on: clips left out, lengths forgotten, sizes taken from data."""

from tests.mutants.mutant import SourceMutant

BOUND = "plan/test_person_gradients.py::test_nobody_moves_the_sum_further_than_is_said"
AUDIT = "learn/test_descent.py::test_the_auditor_finds_no_worse_neighbour_than_was_paid_for"

MUTANTS = [
    SourceMutant(
        "plan/person_gradients.py",
        "    theirs: Floats = np.bincount(person, weights=_norms(found, norm), minlength=people)[person].astype(np.float64)\n",
        "    theirs: Floats = np.full(len(found), np.sqrt(np.square(found).sum()))\n",
        "gradients are clipped for the whole batch instead of each person",
        (BOUND, "plan/test_person_gradients.py::test_sums_of_batches_are_those_of_all_people_together"),
    ),
    SourceMutant(
        "plan/person_gradients.py",
        "return np.trunc(_shorter(found, theirs, norm))",
        "return found",
        "rows are clipped, and people with several rows are not",
        (BOUND,),
    ),
    SourceMutant(
        "plan/person_gradients.py",
        "found = np.trunc(_shorter(found, _norms(found, norm), norm))",
        "found = np.round(_shorter(found, _norms(found, norm), norm))",
        "residuals are rounded to the nearest, which makes them longer",
        ("plan/test_person_gradients.py",),
    ),
    SourceMutant(
        "plan/person_gradients.py",
        "found = np.nan_to_num(wrong, nan=0.0, posinf=2.0**52, neginf=-(2.0**52))",
        "found = wrong",
        "a residual that is no number is not clipped",
        (BOUND,),
    ),
    SourceMutant(
        "plan/row_design.py",
        "return len(self.features) + self.has_constant",
        "return len(self.features)",
        "the constant is no part of the length of a row, and its gradient is not bounded",
        ("plan/test_row_design.py",),
    ),
    SourceMutant(
        "plan/row_design.py",
        "most = max(1, self.column.steps[1] - self.column.steps[0])",
        "most = max(1, int(codes.max(initial=0)))",
        "numbers are scaled by the largest that occurs",
        ("plan/test_row_design.py::test_a_row_does_not_depend_on_the_others",),
    ),
    SourceMutant(
        "learn/descent.py",
        "people, counting = float(self.people or 0), self.counting\n",
        "people, counting = float(self.people or 0), self.counting\n"
        "        from discreet.core.doors import opened\n"
        "        self = type(self)(self.design, self.objective, self.values, self.allowance,"
        " max(1, sum(opened(each.map(people_count))[0] for each in rows)))\n"
        "        people, counting = float(self.people or 0), None\n",
        "gradients are divided by the true number of people",
        (AUDIT,),
    ),
    SourceMutant(
        "learn/descent.py",
        "            times=rounds,\n",
        "            times=1,\n",
        "every round gets the noise of the whole budget",
        (AUDIT,),
    ),
    SourceMutant(
        "learn/descent.py",
        "return self.allowance.amount * (1 if self.people is not None else 1 - COUNT_SHARE)",
        "return self.allowance.amount",
        "the number of people is bought beside the budget",
        ("learn/test_descent.py::test_a_number_of_people_that_was_not_declared_is_bought_with_a_fiftieth",),
    ),
    SourceMutant(
        "learn/descent.py",
        "l2_squared=STEPS**2 * self.design.length_squared,",
        "l2_squared=STEPS**2,",
        "the noise is that of one entry, and a row has several",
        (AUDIT,),
    ),
    SourceMutant(
        "learn/estimators.py",
        'if self.relation == "replace":',
        "if self.relation:",
        "the number of rows is taken from the data",
        ("learn/test_estimators.py::test_the_number_of_rows_is_not_looked_at_where_a_row_may_come_or_go",),
    ),
    SourceMutant(
        "learn/rows.py",
        "    if columns is None:\n",
        "    if columns is None:\n"
        "        columns = {name: __import__('discreet').between(float(min(each)), float(max(each)), step=0.01)"
        " for name, each in columns_in(data).items()}\n"
        "    if columns is None:\n",
        "bounds that were not declared are taken from the data",
        ("learn/test_rows.py", "learn/test_estimators.py::test_what_was_not_declared_is_refused_with_the_fix"),
    ),
    SourceMutant(
        "learn/allowance.py",
        'return cls("mu_squared", 2 * as_written("rho", budget.rho), relation)',
        'return cls("mu_squared", 4 * as_written("rho", budget.rho), relation)',
        "a rho buys twice what it is",
        ("learn/test_allowance.py",),
    ),
    SourceMutant(
        "mechanisms/clipped_sum.py",
        'square = max(times * moved / Fraction(positive("mu_squared", mu_squared)) + Fraction(1, 6), _LEAST_SQUARE)',
        'square = max(times * l2_squared / Fraction(positive("mu_squared", mu_squared)) + Fraction(1, 6), _LEAST_SQUARE)',
        "under replace a vector is exchanged for the noise of one that goes",
        ("mechanisms/test_clipped_sum.py",),
    ),
    SourceMutant(
        "mechanisms/clipped_sum.py",
        "root_up(self.moved * narrow * (1 + narrow / 6))",
        "root_up(self.moved * narrow)",
        "discrete noise is charged as continuous noise",
        ("mechanisms/test_clipped_sum.py",),
    ),
]
