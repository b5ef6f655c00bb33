"""Planted bugs of caps by group, of bounds that are bought, and of quantiles' scores."""

from tests.mutants.mutant import SourceMutant

CAPPED = "plan/to_sql/test_weights.py::test_no_person_moves_capped_sums_beyond_the_claim_whatever_their_rows"
WORST = "measures/test_worst_neighbours.py::test_people_who_fill_their_groups_cost_what_was_paid"
FILLED = (
    "mechanisms/test_groups.py::test_gaussian_noise_is_that_of_rows_that_fill_as_many_groups_as_they_can",
    "mechanisms/test_groups.py::test_a_unit_of_few_rows_in_each_group_moves_all_groups_by_no_more_than_declared",
)
KEYS = "measures/test_people.py::test_people_change_no_more_groups_than_there_are_keys"
TINY = "mechanisms/test_quantile.py::test_of_all_tiny_tables_no_neighbour_moves_a_score_or_a_chance_beyond_the_claim"
LAW = "mechanisms/test_quantile.py::test_chances_are_those_of_the_exponential_mechanism"

MUTANTS = [
    SourceMutant(
        "plan/to_sql/group_caps.py",
        'f"least({ROWS}, {_at_most(cap.each)}) AS {_TAKEN}"',
        'f"{ROWS} AS {_TAKEN}"',
        "a person counts for all of their rows in a group, whatever the cap",
        (CAPPED,),
    ),
    SourceMutant(
        "plan/to_sql/group_caps.py",
        "return taken.times(room).scaled(GRAIN).over(rows.times(everything), 0, GRAIN)",
        "return taken.scaled(GRAIN).over(rows, 0, GRAIN)",
        "rows are capped in each group, and in all groups together they are not",
        (CAPPED,),
    ),
    SourceMutant(
        "plan/to_sql/group_caps.py",
        'where=f"{PERSON} IS NOT NULL"',
        'where="TRUE"',
        "rows without an identifier are capped as those of one person",
        ("plan/to_sql/test_weights.py::test_capped_rows_of_a_group_weigh_alike_and_the_caps_are_filled_first",),
    ),
    SourceMutant(
        "plan/stability.py",
        "return full * self.each**2 + rest**2",
        "return full * self.each**2",
        "the claim forgets the group that is not full",
        (CAPPED,),
    ),
    SourceMutant(
        "mechanisms/parts/statistic.py",
        "squares = moved.l2_squared * (full * self.in_group**2 + rest**2)",
        "squares = moved.l2_squared * full * self.in_group**2",
        "Gaussian noise forgets the group that is not full",
        FILLED,
    ),
    SourceMutant(
        "measures/reach.py",
        '{"in_group": self._times * cap.each * self.grain}',
        '{"in_group": cap.each * self.grain}',
        "of a replaced person who leaves a group and one who joins it, one is covered",
        (WORST,),
    ),
    SourceMutant(
        "measures/reach.py",
        "return self.rows if cap is None else self._times * cap.rows",
        "return self.rows if cap is None else cap.rows",
        "capped rows of a replaced person have the noise of one who is added",
        (WORST,),
    ),
    SourceMutant(
        "measures/reach.py",
        "met = self._times * self.declared_groups",
        "met = self.declared_groups",
        "the groups that a replaced person joins are not covered where people are counted",
        (KEYS,),
    ),
    SourceMutant(
        "mechanisms/parts/runs.py",
        "Level(max(bottom * under - target, target - bottom * over), value, 1)",
        "Level(2 * max(bottom * under - target, target - bottom * over), value, 1)",
        "values that tie are scored twice as far, at the same sensitivity",
        (TINY, LAW),
    ),
    SourceMutant(
        "mechanisms/parts/refinement.py",
        "least = np.maximum(start - target, target - end)",
        "least = np.maximum(np.maximum(start - target, target - end), 0)",
        "quantiles found in counts have another law than those found in rows",
        ("mechanisms/parts/test_refinement.py::test_every_deficit_lies_between_the_bounds_of_its_cell",),
    ),
    SourceMutant(
        "curator/row_bound.py",
        "            curator.revoke(ASKED_BY)",
        "            pass",
        "the grant by which a number of rows was bought stays open",
        ("curator/test_row_bound.py::test_it_is_charged_to_the_account_of_the_table_and_its_grant_ends",),
    ),
]
