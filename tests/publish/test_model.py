"""Graphical models: trees, beliefs, fits, marginals and samples agree with sums over all cells."""

import itertools

import numpy as np
import pytest
from scipy.special import gammaincc

from discreet.publish.model.fit import NoisyMarginal, Views, fit
from discreet.publish.model.junction import Junction, Schedule, cells_with
from discreet.publish.model.marginal import ModelMarginals
from discreet.publish.model.sample import sample
from tests.publish.worlds import joint, made, random_cliques, random_fit, subsets

SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_junction_tree_holds_every_clique_and_each_attribute_in_one_connected_part(seed):
    generator = made(seed)
    sizes = tuple(int(size) for size in generator.integers(1, 5, 8))
    cliques = random_cliques(generator, 8, 7)
    tree = Junction.of(sizes, cliques)
    for clique in [*cliques, *((place,) for place in range(8))]:
        assert tree.home(clique) is not None
    for place in range(8):
        holders = {number for number, clique in enumerate(tree.cliques) if place in clique}
        # Of the cliques that hold an attribute all but one have a parent that holds it, and share it with the parent.
        tops = [
            number for number in holders if tree.parents[number] not in holders or place not in tree.separators[number]
        ]
        assert len(tops) == 1
    assert all(parent < number for number, parent in enumerate(tree.parents))
    assert tree.cells == cells_with(sizes, cliques)


@pytest.mark.parametrize("seed", SEEDS)
def test_beliefs_are_the_marginals_of_the_product_of_all_potentials(seed):
    generator = made(seed)
    sizes = tuple(int(size) for size in generator.integers(1, 4, 6))
    schedule = Schedule.of(Junction.of(sizes, random_cliques(generator, 6, 5)))
    # Some differ by more than the logarithm of the largest float: nothing may vanish beside them.
    potentials = [generator.normal(0, 300, shape) for shape in schedule.shapes]
    logs = np.zeros(sizes)
    for clique, table in zip(schedule.tree.cliques, potentials, strict=True):
        logs = logs + table.reshape([sizes[each] if each in clique else 1 for each in range(6)])
    scale = logs.max() + np.log(np.exp(logs - logs.max()).sum())
    found = schedule.beliefs(potentials)
    assert found.log_scale == pytest.approx(scale)
    for clique, table in zip(schedule.tree.cliques, found.tables, strict=True):
        axes = tuple(each for each in range(6) if each not in clique)
        np.testing.assert_allclose(table, np.exp(logs - scale).sum(axis=axes), atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_views_see_marginals_and_spread_the_transpose(seed):
    generator = made(seed)
    sizes = (3, 2, 4, 2, 3, 2)
    tree = Junction.of(sizes, [tuple(range(6))])
    views = Views.of(tree, subsets(6, 3))
    table, vector = generator.normal(size=sizes), generator.normal(size=views.ends[-1])
    seen = views.apart(views.seen([table]))
    for clique in subsets(6, 3):
        axes = tuple(each for each in range(6) if each not in clique)
        np.testing.assert_allclose(seen[clique], table.sum(axis=axes), atol=1e-12)
    (spread,) = views.spread([np.zeros(sizes)], vector)
    assert float((spread * table).sum()) == pytest.approx(float(vector @ views.seen([table])))


def test_what_was_measured_without_noise_is_fitted_exactly():
    generator = made(5)
    whole = generator.integers(1, 30, (3, 4, 2, 3)).astype(float)
    cliques = [(0, 1), (1, 2), (2, 3), (0, 3)]
    measured = [
        NoisyMarginal(clique, whole.sum(axis=tuple(each for each in range(4) if each not in clique)), 1.0)
        for clique in cliques
    ]
    found = fit(Junction.of(whole.shape, cliques), measured, steps=3000, tolerance=0)
    assert found.total == pytest.approx(whole.sum())
    marginals = ModelMarginals.of(found)
    for each in measured:
        np.testing.assert_allclose(marginals.table(each.clique) * found.total, each.values, atol=0.05)


def test_a_fit_that_begins_from_an_earlier_one_is_nearer_after_a_few_steps():
    generator = made(6)
    whole = generator.integers(1, 30, (4, 4, 4, 4)).astype(float)
    cliques = [(0, 1), (1, 2), (2, 3)]
    measured = [
        NoisyMarginal(clique, whole.sum(axis=tuple(each for each in range(4) if each not in clique)), 1.0)
        for clique in cliques
    ]
    before = fit(Junction.of(whole.shape, cliques[:2]), measured[:2], steps=500)
    tree = Junction.of(whole.shape, cliques)

    def misfit(model):
        marginals = ModelMarginals.of(model)
        return sum(((marginals.table(each.clique) * model.total - each.values) ** 2).sum() for each in measured)

    assert misfit(fit(tree, measured, steps=5, start=before)) < misfit(fit(tree, measured, steps=5))


def test_no_row_is_put_where_none_may_be():
    generator = made(7)
    forbidden = np.zeros((3, 3))
    forbidden[0, 1] = -1e6
    values = generator.integers(5, 50, (3, 3)).astype(float)
    found = fit(
        Junction.of((3, 3), [(0, 1)]),
        [NoisyMarginal((0, 1), values, 1.0)],
        forbidden=[NoisyMarginal((0, 1), forbidden, 1.0)],
    )
    assert found.tables[0][0, 1] == 0
    assert found.tables[0].sum() == pytest.approx(1)


@pytest.mark.parametrize("seed", SEEDS)
def test_any_marginal_is_that_of_the_whole_table(seed):
    model = random_fit(made(seed))
    whole, marginals = joint(model), ModelMarginals.of(model)
    for clique in subsets(6, 4):
        wanted = whole.sum(axis=tuple(each for each in range(6) if each not in clique))
        np.testing.assert_allclose(marginals.table(clique), wanted, atol=1e-7)


@pytest.mark.parametrize("independent", [True, False])
def test_every_pair_of_columns_of_a_sample_has_the_models_marginal(independent):
    """Chi-square of 15 pairs for each of 4 models, 1e-6 in all; evenly spread rows only come nearer."""
    rows = 20_000
    for seed in range(4):
        model = random_fit(made(seed))
        columns, marginals = sample(model, rows, independent=independent), ModelMarginals.of(model)
        for one, other in itertools.combinations(range(6), 2):
            expected = marginals.table((one, other)) * rows
            counted = np.zeros(expected.shape)
            np.add.at(counted, (columns[one], columns[other]), 1)
            assert counted[expected < 1e-9].sum() == 0
            lumped = expected >= 5
            cells = np.append(expected[lumped], expected[~lumped].sum())
            found = np.append(counted[lumped], counted[~lumped].sum())
            kept = cells > 1e-9
            statistic = ((found[kept] - cells[kept]) ** 2 / cells[kept]).sum()
            assert gammaincc(max(1, kept.sum() - 1) / 2, statistic / 2) > 1e-6 / 60


def test_a_sample_has_as_many_rows_as_were_asked_for():
    model = random_fit(made(3))
    for rows in (0, 1, 7):
        assert {len(column) for column in sample(model, rows)} == {rows}
