"""Planted bugs of `measures`: noise for less than one unit moves, and integers of the wrong rows."""

from tests.mutants.mutant import SourceMutant

NEIGHBOURS = "measures/test_worst_neighbours.py"
POOL = "measures/test_pool.py"
NESTED = "measures/test_nested_quantiles.py"

MUTANTS = [
    SourceMutant(
        "measures/reach.py",
        "cap, parts = self.cap(bins), self.weighed_rows(bins) * self.grain",
        "cap, parts = self.cap(bins), self.weighed_rows(bins)",
        "noise on sums of weighed rows is for parts of rows, not for rows",
        (NEIGHBOURS,),
    ),
    SourceMutant(
        "measures/reach.py",
        "groups = (parts if self.keyed or bins else 1) if self.people",
        "groups = self.groups if self.people",
        "weights are said to bound the number of groups, which a person's rows may all be in",
        ("measures/test_sums.py::test_gaussian_noise_over_groups_is_charged_for_every_group_that_weights_reach",),
    ),
    SourceMutant(
        "measures/bins.py",
        "parts = reach.rows * reach.grain\n    return",
        "parts = reach.groups * reach.grain\n    return",
        "bins of histograms and CDFs have noise for the groups of a unit, not for its rows",
        (NEIGHBOURS,),
    ),
    SourceMutant(
        "measures/top_k.py",
        "contributions=reach.rows)",
        "contributions=reach.groups)",
        "a choice of the top keys covers the groups of a unit, not its rows",
        (NEIGHBOURS,),
    ),
    SourceMutant(
        "measures/covariance.py",
        "one, other = when(~both[1].is_null()).then(both[0]), when(~both[0].is_null()).then(both[1])",
        "one, other = both",
        "a row in which one value is null counts in the sums of a covariance",
        ("measures/test_covariance.py",),
    ),
    SourceMutant(
        "measures/people.py",
        "times=reach.people_groups, grain=1)",
        "times=1, grain=1)",
        "a person in several groups pays for one of them",
        (NEIGHBOURS, "measures/test_people.py"),
    ),
    SourceMutant(
        "measures/people.py",
        "each = Count(**price.share(Fraction(1, reach.people_groups)).noise())",
        "each = Count(**price.noise())",
        "counts of people in several groups have the whole price each",
        (NEIGHBOURS, "measures/test_people.py"),
    ),
    SourceMutant(
        "measures/reach.py",
        'return {"contributions": parts, "groups"',
        'return {"contributions": max(1, parts // 2), "groups"',
        "statistics have noise for half of a unit's rows",
        (NEIGHBOURS,),
    ),
    SourceMutant(
        "measures/bins.py",
        "chosen = [top.release(kept.map(of_group, group)) for group in range(groups)]",
        "chosen = [top.release(kept.map(of_group, 0)) for group in range(groups)]",
        "every group is told the top keys of the first, at one group's price each",
        ("measures/test_top_k.py",),
    ),
    SourceMutant(
        "measures/sums.py",
        "        if self.times == 1 and loss.relation == self.relation:\n",
        "        if loss.relation == self.relation:\n",
        "the loss of several groups is that of one",
        (NEIGHBOURS, "measures/test_people.py"),
    ),
    SourceMutant(
        "measures/sums.py",
        "columns[each.name] = each.quantities(noisy, mark)",
        "columns |= zip(each.columns, each.noisy(found, groups, mark), strict=True)",
        "every member of a pool draws noise of its own, all for the price of one",
        (POOL,),
    ),
    SourceMutant(
        "measures/pool.py",
        "        nulls=pool.nulls,\n        **price.noise(),\n        **reach.contributions(),\n",
        "        nulls=pool.nulls,\n        **price.noise(),\n",
        "what is measured together has the noise of a single row",
        (NEIGHBOURS, POOL),
    ),
    SourceMutant(
        "measures/nested_quantiles.py",
        "**price.share(1 - POINTS).noise(), contributions=reach.rows)",
        "**price.share(1 - POINTS).noise())",
        "counts around quantiles have noise for one row of a person",
        (NESTED,),
    ),
    SourceMutant(
        "measures/nested_quantiles.py",
        "epsilon=_each(points, made.rounds) * made.rounds)",
        "epsilon=_each(points, made.rounds) * made.rounds**2)",
        "every round of nested quantiles has the whole price",
        (NESTED,),
    ),
    SourceMutant(
        "measures/nested_quantiles.py",
        "parts = [self.middle.loss, *([self.cells.loss] if self.cells is not None else [])]",
        "parts = [self.middle.loss]",
        "the counts around quantiles are not charged",
        (NESTED,),
    ),
    SourceMutant(
        "measures/nested_quantiles.py",
        "(noisy,) = cells.measured(exact).values",
        "(noisy,) = exact.map(list)",
        "the ends of quantiles' intervals follow from counts without noise",
        (NESTED,),
    ),
]
