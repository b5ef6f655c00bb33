"""MWEM: marginals in batches are those one by one, rounds are as many as asked, and fast."""

import time
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from discreet.account.budgets.budget import Budget
from discreet.publish.allowance import Allowance, Spending
from discreet.publish.code_table import Coded
from discreet.publish.domain import Domain
from discreet.publish.method import MarginalWorkload
from discreet.publish.methods import mwem
from discreet.publish.methods._rounds import MarginalBatch, Totals, _grown, connected
from discreet.publish.model.fit import Fit
from discreet.publish.model.junction import Junction, cells_with
from discreet.publish.model.marginal import ModelMarginals
from discreet.testing import seeded
from tests.publish.worlds import dependent_table, made, random_cliques, subsets


def quiet(_):
    """Say nothing."""


def binary(rows=1000, attributes=20):
    """Return the setting of the Julia package: attributes of two codes that hang together in three families."""
    generator = made(1)
    families = generator.random((rows, 3))
    columns = {
        f"a{place}": (generator.random(rows) < 0.2 + 0.6 * families[:, place % 3]).astype(int)
        for place in range(attributes)
    }
    return Coded.of(columns, Domain.of(dict.fromkeys(columns, 2)))


def separate(generator):
    """Return a model of a few parts that share no attribute, in sizes from one to four."""
    sizes = tuple(int(size) for size in generator.integers(1, 5, 7))
    tree = Junction.of(sizes, [(0, 3, 5), (1, 6)])
    tables = [generator.random([sizes[place] for place in clique]) for clique in tree.cliques]
    return Fit(tree, tuple(table / table.sum() for table in tables), 100.0, {})


@pytest.mark.parametrize("seed", range(5))
def test_marginals_in_batches_are_those_one_by_one(seed, monkeypatch):
    monkeypatch.setattr("discreet.publish.methods._rounds.MOST_NUMBERS", 10**seed)
    model = separate(made(seed))
    one_by_one, totals = ModelMarginals.of(model), Totals.of(model)
    seen = []
    for batch in MarginalBatch.of(model.tree.sizes, subsets(7, 3)):
        found = totals.marginals(batch)
        for clique, row in zip(batch.cliques, found, strict=True):
            np.testing.assert_allclose(row.reshape(batch.shape), one_by_one.table(clique), atol=1e-14)
            seen.append(clique)
    assert sorted(seen) == sorted(subsets(7, 3))


@pytest.mark.parametrize("seed", range(5))
def test_how_far_the_parts_would_grow_is_what_a_tree_of_them_has(seed):
    generator = made(seed)
    domain = Domain.of({f"a{place}": int(size) for place, size in enumerate(generator.integers(2, 5, 7))})
    known = [*((place,) for place in range(7)), *random_cliques(generator, 7, 2)]
    grown = _grown(domain, known)
    for clique in subsets(7, 3):
        assert grown(clique) == cells_with(domain.sizes, connected([*known, clique]))


def test_the_weight_of_a_candidate_is_how_many_attributes_it_shares_with_the_workload():
    workload = MarginalWorkload({(0, 1, 2): 2, (1, 3): 5, (4,): 1})
    for part, weight in workload.candidates().items():
        assert weight == sum(many * len({*part} & {*whole}) for whole, many in workload.weights.items())


def test_a_fixed_number_of_rounds_is_kept_and_spends_all():
    coded = binary(300, 6)
    allowance = Allowance.of(Budget(epsilon=2))
    with seeded(1):
        built = mwem.build(
            coded.measure, coded.domain, allowance, MarginalWorkload.of(coded.domain, 2), quiet, fixed=5, repetitions=3
        )
    assert len(built.measured) == 6 + 5
    assert all(table.sum() == pytest.approx(1) for table in built.model.tables)


@pytest.mark.parametrize("budget", [Budget(epsilon=3), Budget(epsilon=3, delta=1e-9)])
@pytest.mark.parametrize("fixed", [None, 4])
def test_no_more_is_spent_than_allowed(budget, fixed, monkeypatch):
    domain, columns = dependent_table(made(1))
    purses = []
    init = Spending.__init__

    def remember(self, *arguments, **named):
        init(self, *arguments, **named)
        purses.append(self)

    monkeypatch.setattr(Spending, "__init__", remember)
    allowance = Allowance.of(budget)
    with seeded(2):
        built = mwem.build(
            Coded.of(columns, domain).measure, domain, allowance, MarginalWorkload.of(domain, 2), quiet, fixed=fixed
        )
    (purse,) = purses
    assert allowance.amount * Fraction(99, 100) <= purse.spent <= allowance.amount
    pair = ModelMarginals.of(built.model).table((0, 1)) * built.model.total
    exact = np.histogram2d(columns["first"], columns["second"], bins=[3, 3])[0]
    assert abs(pair - exact).sum() / 4000 < 0.1


def test_twenty_binary_attributes_take_less_than_a_second_of_the_processor():
    coded = binary()
    workload = MarginalWorkload({clique: 1 for size in (1, 2, 3) for clique in combinations(range(20), size)})
    with seeded(3):
        start = time.process_time()
        built = mwem.build(
            coded.measure, coded.domain, Allowance.of(Budget(epsilon=1)), workload, quiet, fixed=10, repetitions=10
        )
        taken = time.process_time() - start
    assert taken < 1
    assert len(built.measured) == 20 + 10
