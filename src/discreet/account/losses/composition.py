"""Composition: losses one after the other, counted and in an order of their own, so sums commute as values."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import Number, whole
from discreet.account.numeric.pair import Array, Pair, normal
from discreet.account.numeric.rounding import up
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass
from discreet.noise.arrays import np

Counted = tuple[PrivacyLoss, int]

EXACT = 64  # parts up to which sums are exact fractions; the common denominator of very many would be astronomical
FEW = 4  # parts that are inserted one by one into a long composition


@dataclass(frozen=True, slots=True, repr=False)
class Composed(PrivacyLoss):
    """Losses one after the other; `of` holds each with how often it happened.

    Guarantee: that of its parts, together; a part may depend on answers before it, its parameters may not.
    """

    of: tuple[Counted, ...]

    def __post_init__(self) -> None:
        PrivacyLoss.__post_init__(self)
        if not self.of:
            raise BadParameter("of", self.of, why="nothing happened", fix="give at least one loss")
        for part, count in self.of:
            whole("count", count)
            _same_relation(part, self.relation)

    @property
    def parts(self) -> tuple[Counted, ...]:
        """What happened, and how often."""
        return self.of

    def group(self, k: int) -> PrivacyLoss:
        """Group every part.

        Guarantee: the group's neighbours are k steps apart for every part.
        """
        return _ordered(((part.group(k), count) for part, count in self.of), self.relation)

    @property
    def slack(self) -> Number:
        """The chance that any part fails, at most: the sum."""
        return min(1, self._sum(part.slack for part, _ in self.of))

    @property
    def peak(self) -> Number:
        """The sum of the largest losses."""
        return self._sum(part.peak for part, _ in self.of)

    @property
    def rho(self) -> Number | None:
        """The sum of rho."""
        known = [part.rho for part, _ in self.of]
        some = [rho for rho in known if rho is not None]
        return self._sum(some) if len(some) == len(known) else None

    @property
    def mu(self) -> float | None:
        """The root of the sum of squares: Gaussian losses are one Gaussian loss."""
        from discreet.account.numeric.composition_inputs import root_of_squares

        known = [(part.mu, count) for part, count in self.of]
        some = [(mu, count) for mu, count in known if mu is not None]
        return root_of_squares(some) if len(some) == len(known) else None

    @property
    def symmetric(self) -> bool:
        """Whether all parts are."""
        return all(part.symmetric for part, _ in self.of)

    @property
    def exact(self) -> bool:
        """Whether all parts are."""
        return all(part.exact for part, _ in self.of)

    @property
    def dominated(self) -> bool:
        """Whether all parts are."""
        return all(part.dominated for part, _ in self.of)

    def pair(self, tail: float) -> Pair:
        """Return one pair for the whole composition."""
        mu = self.mu
        return normal(mu, tail) if mu is not None else _joint(self, added=False, tail=tail)

    def pair_added(self, tail: float) -> Pair:
        """Return one pair for the whole composition."""
        return self.pair(tail) if self.symmetric else _joint(self, added=True, tail=tail)

    @property
    def orders(self) -> Array | None:
        """The special orders of all parts."""
        some = [part.orders for part, _ in self.of]
        known = [each for each in some if each is not None]
        return np.unique(np.concatenate(known)) if known else None

    @property
    def has_divergence(self) -> bool:
        """Whether all parts have."""
        return all(part.has_divergence for part, _ in self.of)

    def divergence(self, alphas: Array) -> Array:
        """Return the sums of the parts' divergences."""
        total = np.zeros(len(alphas))
        for part, count in self.of:
            total += count * part.renyi(alphas)
        return total * (1 + 2.0**-48)

    def _sum(self, values: Iterable[Number]) -> Number:
        terms = [(value, count) for value, (_, count) in zip(values, self.of, strict=True)]
        if any(isinstance(value, float) and math.isinf(value) for value, _ in terms):
            return math.inf
        if len(terms) <= EXACT:
            return sum((count * Fraction(value) for value, count in terms), Fraction(0))
        return math.fsum(count * up(value) for value, count in terms) * (1 + 2.0**-50)


def total(losses: Iterable[PrivacyLoss]) -> PrivacyLoss:
    """Return the losses of all, one after the other; the same value as their sum.

    Guarantee: see `Composed`.
    """
    given = list(losses)
    if not given:
        raise BadParameter("losses", given, why="nothing happened", fix="give at least one loss")
    for each in given:
        _same_relation(each, given[0].relation)
    return _ordered((part for each in given for part in each.parts), given[0].relation)


def added(one: PrivacyLoss, two: PrivacyLoss) -> PrivacyLoss:
    """Return `one + two`."""
    long, short = (one, two) if len(one.parts) >= len(two.parts) else (two, one)
    if len(short.parts) > FEW or len(long.parts) <= FEW:
        return total([one, two])
    _same_relation(two, one.relation)
    parts = list(long.parts)
    for part, count in short.parts:
        key = repr(part)
        place = bisect_left(parts, key, key=lambda known: repr(known[0]))
        if place < len(parts) and repr(parts[place][0]) == key:
            parts[place] = (part, parts[place][1] + count)
        else:
            parts.insert(place, (part, count))
    return _trusted(tuple(parts), one.relation)


def repeated(loss: PrivacyLoss, k: int) -> PrivacyLoss:
    """Return `loss * k`, for a k above 1."""
    return _trusted(tuple((part, count * k) for part, count in loss.parts), loss.relation)


def _ordered(parts: Iterable[Counted], relation: Relation) -> PrivacyLoss:
    known: dict[str, Counted] = {}
    for part, count in parts:
        key = repr(part)
        known[key] = (part, count + (known[key][1] if key in known else 0))
    ordered = tuple(known[key] for key in sorted(known))
    return ordered[0][0] if len(ordered) == 1 and ordered[0][1] == 1 else _trusted(ordered, relation)


def _trusted(parts: tuple[Counted, ...], relation: Relation) -> Composed:
    """Make a composition whose parts were checked before: sums of ten thousand losses would check each as often."""
    made = object.__new__(Composed)
    object.__setattr__(made, "of", parts)
    object.__setattr__(made, "relation", relation)
    return made


@lru_cache(maxsize=16)
def _joint(loss: Composed, *, added: bool, tail: float) -> Pair:
    """Return the pair of a whole composition in one direction; the accountants ask for the same one more than once."""
    from discreet.account.numeric.composition_inputs import leaves
    from discreet.account.numeric.joint_pair import joint

    return joint(leaves(loss.of, (lambda part: part.pair_added) if added else (lambda part: part.pair)), tail)


def _same_relation(loss: PrivacyLoss, relation: Relation) -> None:
    if loss.relation != relation:
        raise BadParameter(
            "relation",
            loss.relation,
            why=f"it is added to a loss under {relation}, and neighbours of one kind are not neighbours of the other",
            fix=f"state both under one relation, for example relation={relation!r}",
        )


def under(loss: PrivacyLoss, relation: Relation) -> PrivacyLoss:
    """Return a loss, with all losses inside it, under another relation.

    Guarantee: none by itself; the caller vouches that the promise holds for the neighbours named. It does for noise and
    scores made for add_remove and units of 2R rows in 2G groups, asked of units of R rows in G groups under replace:
    one unit is taken out and one put in, so that at most 2R rows in 2G groups count with one sign or the other, and
    what sensitivities bound has no sign. It does not where a proof uses that all rows move one way: monotone scores, or
    parallel composition and Poisson sampling, which refuse to be relabelled.
    """
    if loss.relation == check_relation(relation):
        return loss
    if isinstance(loss, Composed):
        return total(under(part, relation) * count for part, count in loss.parts)
    return type(loss)(**{**loss.parameters(), "relation": relation})
