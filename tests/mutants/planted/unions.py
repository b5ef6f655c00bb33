"""Planted bugs of `account`: unions of filters, conversions, roundings."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "account/budgets/union.py",
        "losses = tuple(None if one is None or two is None else one + two for one, two in pairs)\n        return UnionCost(losses, self.delta + other.delta)",
        "losses = tuple(None if one is None else one + (two or 0) for one, two in pairs)\n        return UnionCost(losses, self.delta + other.delta)",
        "what a sum cannot count is free there",
        ("account/budgets/test_union.py",),
    ),
    SourceMutant(
        "account/budgets/union.py",
        "parts = Fraction(self.pool) + sum((each.delta for each in self.sums), Fraction(0))",
        "parts = sum((each.delta for each in self.sums), Fraction(0))",
        "a stored union may have a pool of all of its delta",
        ("account/budgets/test_union.py",),
    ),
    SourceMutant(
        "account/budgets/union.py",
        "delta = sum((count * Fraction(part.slack) for part, count in loss.parts), Fraction(0))\n        return UnionCost(losses, tidy(delta))",
        "delta = sum((Fraction(part.slack) for part, count in loss.parts), Fraction(0))\n        return UnionCost(losses, tidy(delta))",
        "a repeated approximate loss takes its delta from the pool once",
        ("account/budgets/test_union.py::test_what_may_fail_several_times_takes_its_delta_from_the_pool_as_often",),
    ),
    SourceMutant(
        "account/budgets/union.py",
        "None if loss is None or loss > each.room or (short and each.pooled)",
        "None if loss is None or loss > each.room or (short and each.pooled and not loss)",
        "a sum goes on when the pool of delta is overdrawn",
        ("account/budgets/test_union.py",),
    ),
    SourceMutant(
        "account/budgets/union.py",
        "return max((found.more(cost) for _, found, cost in self._living(self.cost(loss))), default=0)",
        "return sum(found.more(cost) for _, found, cost in self._living(self.cost(loss)))",
        "as many more are promised as all sums hold together",
        ("account/budgets/test_union.py",),
    ),
    SourceMutant(
        "account/budgets/sums.py",
        "        return pure(loss)",
        "        from discreet.account.budgets.cost import approximate_pure\n\n        return approximate_pure(loss)",
        "approximate losses are counted by the pure sum, whose pool they do not pay",
        ("account/budgets/test_union.py",),
    ),
    SourceMutant(
        "account/budgets/sums.py",
        "if gaussian_delta(self.mu, self.epsilon) > self.conversion:",
        "if self.mu < 0:",
        "a stored union may have any mu for its delta",
        ("account/budgets/test_union.py",),
    ),
    SourceMutant(
        "account/budgets/conversion.py",
        "return Fraction(sum(parts) - MARGIN * max(abs(part) for part in parts))",
        "return Fraction(sum(parts) + MARGIN * max(abs(part) for part in parts))",
        "what a Renyi order buys is rounded up",
        (
            "account/test_filter_truth.py",
            "account/test_union_truth.py",
            "account/budgets/test_filter.py",
            "account/budgets/test_union.py",
        ),
    ),
    SourceMutant(
        "account/budgets/conversion.py",
        "return Fraction(found + slip * (1 if near < 0",
        "return Fraction(found - slip * (1 if near < 0",
        "the delta of Gaussian privacy is rounded down",
        (
            "account/test_union_truth.py",
            "account/budgets/test_union.py",
        ),
    ),
    SourceMutant(
        "account/budgets/conversion.py",
        "(decimal(delta) * order).ln() / above)",
        "(decimal(delta) * order).ln() / order)",
        "the delta of a Renyi conversion costs too little",
        (
            "account/budgets/test_filter.py",
            "account/budgets/test_union.py",
        ),
    ),
    SourceMutant(
        "account/budgets/cost.py",
        "_HALF_PI = Fraction(15707964, 10**7)",
        "_HALF_PI = Fraction(15707963, 10**7)",
        "the mu of pure privacy is a little too small",
        (
            "account/test_union_truth.py",
            "account/budgets/test_union.py",
        ),
    ),
    SourceMutant(
        "account/budgets/cost.py",
        "return Fraction(-(-amount.numerator * 2**_KEPT_BITS // amount.denominator), 2**_KEPT_BITS)",
        "return Fraction(amount.numerator * 2**_KEPT_BITS // amount.denominator, 2**_KEPT_BITS)",
        "amounts of very many digits are rounded down",
        (
            "account/budgets/test_filter.py",
            "account/budgets/test_union.py",
        ),
    ),
    SourceMutant(
        "account/budgets/cost.py",
        "_LAST_ROUNDING = 1 + Fraction(1, 2**50)",
        "_LAST_ROUNDING = 1 - Fraction(1, 2**50)",
        "divergences are rounded down",
        (
            "account/test_filter_truth.py",
            "account/budgets/test_filter.py",
            "account/test_numerics.py",
        ),
    ),
    SourceMutant(
        "account/budgets/cost.py",
        "known.append(Fraction(rho) * Fraction(alpha))",
        "known.append(Fraction(rho) * (Fraction(alpha) - 1))",
        "rho times the order is that of the order before",
        (
            "account/budgets/test_filter.py",
            "account/test_filter_truth.py",
        ),
    ),
]
