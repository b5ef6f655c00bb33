"""Small models and tables that the tests of publishing share."""

import itertools

import numpy as np

from discreet.publish.domain import Domain
from discreet.publish.model.fit import Fit, NoisyMarginal, fit
from discreet.publish.model.junction import Junction


def made(seed):
    """Return a generator of made-up tables: what they are is no secret, and no noise."""
    return np.random.default_rng(seed)  # noqa: TID251


def random_cliques(generator, attributes, many):
    """Draw sets of one to three attributes."""
    return [
        tuple(sorted(generator.choice(attributes, generator.integers(1, 4), replace=False).tolist()))
        for _ in range(many)
    ]


def random_fit(generator, *, attributes=6, many=4, steps=200):
    """Fit a model to noisy marginals of a random table over a few small attributes."""
    sizes = tuple(int(size) for size in generator.integers(1, 4, attributes))
    cliques = random_cliques(generator, attributes, many)
    measured = [
        NoisyMarginal(clique, 50 * generator.random(shape) + generator.normal(0, 3, shape), 1.0)
        for clique in cliques
        for shape in [[sizes[place] for place in clique]]
    ]
    return fit(Junction.of(sizes, cliques), measured, steps=steps)


def joint(model: Fit):
    """Return the table of all attributes that a model stands for, by multiplying it out."""
    tree = model.tree
    attributes = range(len(tree.sizes))
    found = np.ones(tree.sizes)
    for clique, shared, table in zip(tree.cliques, tree.separators, model.tables, strict=True):
        found = found * table.reshape([tree.sizes[each] if each in clique else 1 for each in attributes])
        if shared:
            axes = tuple(axis for axis, each in enumerate(clique) if each not in shared)
            divisor = table.sum(axis=axes).reshape([tree.sizes[each] if each in shared else 1 for each in attributes])
            found = np.divide(found, divisor, out=np.zeros_like(found), where=divisor > 0)
    return found


def subsets(attributes, most):
    """Return all sets of up to so many attributes."""
    return [each for size in range(1, most + 1) for each in itertools.combinations(range(attributes), size)]


def dependent_table(generator, rows=4000):
    """Return a domain and columns of codes in which each attribute depends on the one before."""
    first = generator.integers(0, 3, rows)
    second = np.where(generator.random(rows) < 0.8, first, generator.integers(0, 3, rows))
    third = np.where(generator.random(rows) < 0.7, second % 2, generator.integers(0, 2, rows))
    fourth = generator.integers(0, 4, rows)
    columns = {"first": first, "second": second, "third": third, "fourth": fourth}
    return Domain.of({"first": 3, "second": 3, "third": 2, "fourth": 4}), columns
