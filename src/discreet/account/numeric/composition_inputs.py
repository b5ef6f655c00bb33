"""Leaves: what the numerical accountant is given of each part of a composition."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from discreet.account.numeric.accountants import ClosedForm, Responses
from discreet.account.numeric.checks import Number
from discreet.account.numeric.pair import FAR, Pair, normal
from discreet.account.numeric.pilot import Leaf


class CompositionPart(Protocol):
    """The facts about a loss that are used here."""

    @property
    def peak(self) -> Number:
        """The largest loss."""

    @property
    def slack(self) -> Number:
        """The probability of failure."""

    @property
    def mu(self) -> float | None:
        """The mu of Gaussian privacy, if it is just that."""

    @property
    def response(self) -> float | None:
        """The epsilon of randomized response, if it is just that."""

    @property
    def closed(self) -> ClosedForm | None:
        """Its profile in closed form, if it has one."""

    @property
    def symmetric(self) -> bool:
        """Whether one pair serves both directions."""

    @property
    def dominated(self) -> bool:
        """Whether there is a dominating pair."""

    def pair(self, tail: float, /) -> Pair:
        """Return the dominating pair when a person is removed."""

    def pair_added(self, tail: float, /) -> Pair:
        """Return the dominating pair when a person is added."""


Parts = Sequence[tuple[CompositionPart, int]]


MOST = 10**7  # copies of randomized response that are summed in closed form


def closed_form(parts: Parts) -> ClosedForm | None:
    """Return the profile of all parts in closed form: of one part that has one, or of equal randomized responses."""
    first, copies = parts[0][0].response, sum(count for _, count in parts)
    if first is not None and first < math.inf and copies <= MOST and all(part.response == first for part, _ in parts):
        return Responses(first, copies)
    return parts[0][0].closed if copies == 1 else None


def directions(parts: Parts) -> tuple[list[Leaf], ...] | None:
    """Return the pairs of all parts for every direction that differs, or None if some part has none to follow."""
    # Losses may be so large that a grid which resolves the others has more places than machine integers.
    if not all(part.dominated and not _is_far(part) for part, _ in parts):
        return None
    removed = leaves(parts, lambda part: part.pair)
    if all(part.symmetric for part, _ in parts):
        return (removed,)
    return removed, leaves(parts, lambda part: part.pair_added)


def _is_far(part: CompositionPart) -> bool:
    return FAR < part.peak < math.inf or (part.mu or 0.0) > math.sqrt(FAR)


def leaves(parts: Parts, pair: Callable[[CompositionPart], Callable[[float], Pair]]) -> list[Leaf]:
    """Return the pairs of all parts in one direction, those of Gaussian noise as one."""
    normals = [(part.mu, count) for part, count in parts if part.mu]
    some = [(part, count) for part, count in parts if part.mu is None and (part.peak or part.slack)]
    found = [Leaf(pair(part), count) for part, count in some]
    if normals:
        mu = root_of_squares(normals)
        found.append(Leaf(lambda tail: normal(mu, tail), 1))
    return found


def root_of_squares(terms: Iterable[tuple[float, int]]) -> float:
    """Return the root of the sum of squares, rounded up: the mu of Gaussian losses together."""
    listed = [(mu, count) for mu, count in terms if mu]
    top = max((mu for mu, _ in listed), default=0.0)
    if not 0 < top < math.inf:
        return top
    # Relative to the largest, so squares of tiny numbers do not vanish.
    return top * math.sqrt(math.fsum(count * (mu / top) ** 2 for mu, count in listed)) * (1 + 2.0**-49)
