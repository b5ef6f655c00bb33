"""Planted bugs of `measures`: noise for less than one unit moves, and integers of the wrong rows."""

from tests.mutants.mutant import SourceMutant

NEIGHBOURS = "measures/test_worst_neighbours.py"

MUTANTS = [
    SourceMutant(
        "measures/bins.py",
        'return {**price.noise(), "contributions": reach.rows, "groups": reach.rows}',
        'return {**price.noise(), "contributions": reach.groups, "groups": reach.groups}',
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
        "times=reach.groups)",
        "times=1)",
        "a person in several groups pays for one of them",
        (NEIGHBOURS, "measures/test_people.py"),
    ),
    SourceMutant(
        "measures/people.py",
        "each = Count(**price.share(Fraction(1, reach.groups)).noise())",
        "each = Count(**price.noise())",
        "counts of people in several groups have the whole price each",
        (NEIGHBOURS, "measures/test_people.py"),
    ),
    SourceMutant(
        "measures/reach.py",
        'return {"contributions": self.rows, "groups": min(self.groups, self.rows)}',
        'return {"contributions": max(1, self.rows // 2), "groups": min(self.groups, self.rows)}',
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
        "return under(self.statistic.loss * self.times, self.relation)",
        "return under(self.statistic.loss, self.relation)",
        "the loss of several groups is that of one",
        (NEIGHBOURS, "measures/test_people.py"),
    ),
]
