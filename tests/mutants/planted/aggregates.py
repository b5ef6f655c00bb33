"""Planted bugs of `measures`: how far a unit reaches into an aggregate."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "measures/covariance.py",
        "one, other = when(~both[1].is_null()).then(both[0]), when(~both[0].is_null()).then(both[1])",
        "one, other = both",
        "a row of which one value is null counts for the other",
        ("measures/test_covariance.py::test_rows_in_which_one_value_is_null_count_in_no_sum",),
    ),
    SourceMutant(
        "measures/bins.py",
        "only = None if keys.only is None else tuple((*row, value) for row in keys.only for value in bin_.values or ())",
        "only = None",
        "listed groups are all groups where bins are counted",
        ("measures/test_bins.py::test_bins_of_groups_that_were_listed_are_those_of_these_groups",),
    ),
    SourceMutant(
        "measures/people.py",
        "each = Count(**price.share(Fraction(1, reach.people_groups)).noise())",
        "each = Count(**price.noise())",
        "people in several groups pay for one, and are charged for all",
        ("measures/test_people.py::test_people_cost_one_count_for_each_group_they_may_be_in",),
    ),
    SourceMutant(
        "measures/people.py",
        "    if not reach.people:\n",
        "    if reach.people is None:\n",
        "rows that joins repeat count as people, once",
        ("measures/test_people.py::test_rows_that_come_several_times_are_all_covered_where_people_are_counted",),
    ),
    SourceMutant(
        "measures/moments.py",
        "size = size.plus(each.times(Fraction(1, len(sizes))))",
        "size = size.plus(each)",
        "the size of two columns is counted twice",
        ("measures/test_covariance.py::test_moments_of_two_columns_are_those_of_their_values",),
    ),
    SourceMutant(
        "measures/sums.py",
        "        if self.times == 1 and loss.relation == self.relation:\n",
        "        if loss.relation == self.relation:\n",
        "counts of people are charged for one group",
        ("measures/test_people.py::test_people_cost_one_count_for_each_group_they_may_be_in",),
    ),
]
