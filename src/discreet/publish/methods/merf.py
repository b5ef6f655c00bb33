"""DP-MERF: random features of the whole table, averaged with noise once, and a generator fitted to the averages.

Harder, Adamczewski and Park (2021). A feature is a point on a circle whose angle adds up random angles of a row's
codes (the random Fourier features of one-hot records). It looks at the attributes of one marginal of the workload, so
that its sum follows from that marginal and no row leaves the engine. The generator is a mixture: a row has a hidden
class, and given the class its attributes are independent. The expected features of a mixture are products of sums, so
that it is fitted by exact gradients, and the model is a tree with the hidden class in its middle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Exact, together
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.parts.grid import Released
from discreet.noise.bits import current
from discreet.noise.gaussian import gaussian
from discreet.publish.allowance import Allowance
from discreet.publish.code_table import Counts, Measure
from discreet.publish.domain import Clique, Domain
from discreet.publish.kernels import COSINES, GRID, SINES, TURN, feature_sums, weighted_features
from discreet.publish.merged_codes import Merged
from discreet.publish.method import Built, MarginalWorkload, Say
from discreet.publish.model.fit import Fit, NoisyMarginal
from discreet.publish.model.junction import Junction, Table

# The most that a row adds to the cosine and the sine of one feature: as a squared length, and as a sum of both.
SQUARE = int((COSINES**2 + SINES**2).max())
SUM = int((np.abs(COSINES) + np.abs(SINES)).max())


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """Noisy mean features of a table, and the noisy number of rows, or of the rows of each class."""

    means: NDArray[np.complex128]  # classes by features: of each class, its rows' features over the number of all rows
    counts: NDArray[np.float64]  # rows in each class
    noise: float  # the expected square of the noise in one mean
    deviation: float  # of the noise in one count


def released(exact: Exact[tuple[Counts, Counts]], classes: int, features: int, allowance: Allowance) -> Embedding:
    """Release sums of features (classes x features x 2) and counts of rows by class, for the whole allowance.

    One row belongs to at most one class: it moves the cosine and the sine of each of that class's features by a point
    of the circle, and the class's count by one. The count is measured in `weight` steps, so it has a share of its
    own in the row's length.

    Guarantee: `allowance.loss`, where a person has at most `allowance.rows` rows in the sum of each feature and in the
    counts; they need not be the same rows. The noise is the discrete Gaussian's for a length of `rows` times
    sqrt(features * SQUARE + weight^2), or the discrete Laplace's for `rows` times features * SUM + weight: by the
    triangle inequality no person moves one feature's pair, over all classes, by more than `rows` points.
    """
    shape = classes, features, 2
    size = math.prod(shape)
    weight = GRID * max(1, math.isqrt(features) // 4 if allowance.currency == "rho" else features // 8)
    mechanism: Gaussian | Laplace
    if allowance.currency == "rho":
        squared = allowance.rows**2 * (features * SQUARE + weight**2)
        mechanism = Gaussian(rho=allowance.amount, sensitivity_squared=squared, dimension=size + classes)
        variance = Fraction(squared) / (2 * allowance.amount)
    else:
        moved = allowance.rows * (features * SUM + weight)
        mechanism = Laplace(epsilon=allowance.amount, sensitivity=moved)
        variance = 2 * (Fraction(moved) / allowance.amount) ** 2
    drawn: Released = mechanism.release(exact.map(weighted_features, weight))
    noisy = np.asarray(drawn, np.float64)
    found = np.maximum(noisy[size:] / weight, 0.0)
    rows = max(1.0, float(found.sum()))
    pairs = noisy[:size].reshape(shape) / (GRID * rows)
    means = pairs[..., 0] + 1j * pairs[..., 1]
    return Embedding(means, found, 2 * float(variance) / (GRID * rows) ** 2, math.sqrt(variance) / weight)


FEATURES = 1000
CLASSES = 24

# Rows whose codes differ in one attribute of a feature are half as alike: exp(-s^2) = 1/2 for angles of deviation s.
_DEVIATION = Fraction(round(TURN * math.sqrt(math.log(2)) / (2 * math.pi)))
_STEPS, _LOOK, _RATE = 1500, 50, 0.05
_ENOUGH = 0.97  # of the distance at the last look: less progress than that is none

Angles = NDArray[np.complex128]


def build(measure: Measure, domain: Domain, allowance: Allowance, workload: MarginalWorkload, say: Say) -> Built:
    """Average random features of the workload's marginals with noise, and fit a mixture to them.

    Guarantee: the allowance. All of it buys one release; the random angles are public, and drawn without the data.
    """
    cliques = _looked_at([*workload.weights], FEATURES)
    phases = _phases(domain, cliques)
    say("measure the workload")
    wanted: list[Clique] = [*dict.fromkeys([*cliques, (0,)])]
    exact = dict(zip(wanted, measure(wanted), strict=True))
    looked_at = together([*(exact[clique] for clique in cliques), exact[0,]])
    embedding = released(looked_at.map(feature_sums, [[*each.values()] for each in phases]), 1, len(cliques), allowance)
    say("fit the generator")
    angles = [Angled.of(domain, place, phases) for place in range(len(domain))]
    mixture = _fitted(domain, angles, embedding.means[0], embedding.noise)
    rows = NoisyMarginal((), np.asarray(embedding.counts[0]), embedding.deviation)
    return Built(mixture.model(domain, float(rows.values)), Merged.none(domain), (rows,))


def _looked_at(cliques: list[Clique], features: int) -> list[Clique]:
    """Give every marginal the same number of features, as many as there are for all of them together; at least one."""
    return cliques * max(1, features // len(cliques))


def _phases(domain: Domain, cliques: list[Clique]) -> list[dict[int, Counts]]:
    """Draw the angle that each code adds to each feature which looks at its attribute."""
    sizes = [domain.sizes[place] for clique in cliques for place in clique]
    drawn = np.asarray(gaussian(_DEVIATION, sum(sizes)), np.int64) % TURN
    parts = iter(np.split(drawn, np.cumsum(sizes)[:-1]))
    return [{place: next(parts) for place in clique} for clique in cliques]


@dataclass(frozen=True, slots=True, eq=False)
class Angled:
    """The features that look at one attribute, and the point of the circle that each of its codes has in them."""

    features: NDArray[np.int64]
    points: Angles  # of these features, by codes

    @classmethod
    def of(cls, domain: Domain, place: int, phases: list[dict[int, Counts]]) -> Angled:
        """Collect the angles of one attribute's codes."""
        which = [number for number, each in enumerate(phases) if place in each]
        turned = np.array([phases[number][place] for number in which], np.int64).reshape(-1, domain.sizes[place])
        return cls(np.array(which, np.int64), np.exp(2j * np.pi / TURN * turned))


@dataclass(slots=True, eq=False)
class Mixture:
    """Logarithms of the shares of the classes, and of each attribute's codes within each class (codes x classes)."""

    classes: Table
    codes: list[Table]

    @classmethod
    def random(cls, domain: Domain) -> Mixture:
        """Begin with classes that differ a little: equal ones would stay equal forever."""
        return cls(np.zeros(CLASSES), [_spread((size, CLASSES)) for size in domain.sizes])

    def model(self, domain: Domain, total: float) -> Fit:
        """Return the mixture as a tree; the hidden class comes after all attributes of the domain."""
        hidden = len(domain)
        tree = Junction.of((*domain.sizes, CLASSES), [(place, hidden) for place in range(hidden)])
        share = _shares(self.classes)
        tables = tuple(_shares(self.codes[clique[0]]) * share for clique in tree.cliques)
        return Fit(tree, tables, max(1.0, total), {})

    def slopes(self, angles: list[Angled], target: Angles) -> tuple[float, list[Table]]:
        """Return the squared distance of the expected features from a target, and its gradient in all logarithms."""
        share, inside = _shares(self.classes), [_shares(each) for each in self.codes]
        seen = [one.points @ codes for one, codes in zip(angles, inside, strict=True)]
        product = np.ones((len(target), CLASSES), np.complex128)
        for one, expected in zip(angles, seen, strict=True):
            product[one.features] *= expected
        apart = product @ share - target
        slope = 2 * np.conj(apart)[:, None]
        found = [_through(share, (slope * product).real.sum(axis=0))]
        for one, expected, codes in zip(angles, seen, inside, strict=True):
            # What the other attributes of a feature multiply to; no point is at zero but by cancelling out.
            safe = np.where(np.abs(expected) > 1e-12, expected, 1e-12)
            others = slope[one.features] * share * (product[one.features] / safe)
            found.append(_through(codes, (one.points.T @ others).real))
        return float((np.abs(apart) ** 2).sum()), found


def _fitted(domain: Domain, angles: list[Angled], target: Angles, noise: float) -> Mixture:
    """Descend (Kingma and Ba 2015) until the features are as near to the noisy ones as the true ones will be.

    To go on would be to fit the noise.
    """
    mixture = Mixture.random(domain)
    parts = [mixture.classes, *mixture.codes]
    first, second = [np.zeros_like(part) for part in parts], [np.zeros_like(part) for part in parts]
    last = math.inf
    for step in range(1, _STEPS + 1):
        distance, slopes = mixture.slopes(angles, target)
        if step % _LOOK == 0:
            if distance <= noise * len(target) or distance > _ENOUGH * last:
                break
            last = distance
        for part, slope, mean, square in zip(parts, slopes, first, second, strict=True):
            mean += 0.1 * (slope - mean)
            square += 0.01 * (slope**2 - square)
            part -= _RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-10)
    return mixture


def _shares(logs: Table) -> Table:
    """Return shares that add up to one in each class."""
    powers = np.exp(logs - logs.max(axis=0))
    shares: Table = powers / powers.sum(axis=0)
    return shares


def _through(shares: Table, slope: Table) -> Table:
    """Return the gradient in logarithms, given the one in shares."""
    through: Table = shares * (slope - (shares * slope).sum(axis=0))
    return through


def _spread(shape: tuple[int, int]) -> Table:
    return current().words(math.prod(shape), 32).astype(np.float64).reshape(shape) / (1 << 32)
