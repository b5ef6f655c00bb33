"""Key selection: which keys of a group-by may be shown, from how many people have each."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import compress, product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.approx import Approx
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import Number, positive, positive_failure, whole
from discreet.core.doors import opened
from discreet.core.errors import BadParameter
from discreet.core.exact import Exact
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass
from discreet.mechanisms.parts import chances as _chances
from discreet.mechanisms.parts.mechanism import Chance, Trial, Trials
from discreet.mechanisms.parts.tails import chance
from discreet.noise import enclosure
from discreet.noise.bits import current

Key = TypeVar("Key", bound=Hashable)

_WORD = 64
_PRECISION = 128  # bits of a probability beyond those that delta takes
_MOST = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySelection:
    """Releases the keys that pass, sorted by key: each with a chance that grows with the number of its people.

    A key of n people is kept with the largest probability pi(n) that is possible (Desfontaines, Voss, Gipson, Mandayam
    2022): pi(0) = 0 and pi(n + 1) = min(e^e pi(n) + d, 1 - e^-e (1 - pi(n) - d), 1), where e and d are the
    shares of epsilon and delta. No rule that keeps the promise shows any key more often; noise and a threshold do not.
    `groups` is the most keys that one person counts for; counting people once each, and bounding their keys, is the
    caller's part. Whether a key was kept is all that is told: its count is bought by itself.

    Guarantee: (epsilon, delta). One person moves the numbers of at most `groups` keys by 1 under add_remove, of twice
    as many under replace (where one leaves, another joins); each of them costs an equal share of both. Keys that nobody
    has are never kept, so that their number and names need not be known.
    Error: the number of people from which on a key appears with probability 1 - beta.
    """

    epsilon: Number
    delta: Number
    groups: int = 1
    relation: Relation = "add_remove"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", Fraction(positive("epsilon", self.epsilon)))
        object.__setattr__(self, "delta", Fraction(positive_failure("delta", self.delta)))
        whole("groups", self.groups)
        check_relation(self.relation)
        share, slack = self.share
        odds = 1 + share / (2 * slack)
        # About how many people make a key certain: twice those of the rising half (ibid.).
        if 2 * (math.log(odds.numerator) - math.log(odds.denominator)) > share * _MOST:
            why = f"with so small a share of epsilon a key would need more than {_MOST} people"
            raise BadParameter("epsilon", self.epsilon, why=why, fix="use a larger epsilon or delta, or fewer groups")

    @property
    def moved(self) -> int:
        """How many keys one unit can move."""
        return self.groups * (1 if self.relation == "add_remove" else 2)

    @property
    def share(self) -> tuple[Fraction, Fraction]:
        """The epsilon and the delta of each key that a unit moves, so that their sums are what was asked for."""
        return Fraction(self.epsilon) / self.moved, Fraction(self.delta) / self.moved

    @property
    def loss(self) -> PrivacyLoss:
        """As many selections of a single key as one unit can move."""
        return Approx(*self.share, relation=self.relation) * self.moved

    @property
    def threshold(self) -> int:
        """The least number of people that is surely enough."""
        return len(self._odds) - 1

    def probability(self, people: int) -> Fraction:
        """Return the chance with which a key of so many people is kept, exactly."""
        _, bits = _rule(*self.share)
        return Fraction(self._odds[min(whole("people", people, least=0), self.threshold)], 1 << bits)

    def error(self, beta: float = 0.05) -> float:
        """Return the number of people from which on a key appears with probability at least 1 - beta."""
        _, bits = _rule(*self.share)
        enough = (1 - chance(beta)) * (1 << bits)
        return float(next(people for people, odds in enumerate(self._odds) if odds >= enough))

    def release(self, exact: Exact[Mapping[Key, int]] | Mapping[Key, int]) -> tuple[Key, ...]:
        """Return the keys that are kept, in their own order, given how many different people have each.

        Guarantee: `loss`, under `relation`, for units of at most `groups` keys.
        """
        keys, people = _in_order(opened(exact))
        return tuple(compress(keys, self._kept(people, 1)[0]))

    def releases(self, exact: Mapping[Key, int], count: int) -> NDArray[Any]:
        """Return many independent selections, for audits and simulations: each costs `loss`."""
        keys, people = _in_order(exact)
        out = np.empty(whole("count", count), dtype=object)
        out[:] = [tuple(compress(keys, row)) for row in self._kept(people, count)]
        return out

    def chances(self, exact: Mapping[Key, int]) -> dict[tuple[Key, ...], Chance]:
        """Return the probability of every set of keys."""
        keys, people = _in_order(exact)
        _chances.limited(1 << len(keys))
        odds = [self.probability(each) for each in people]
        found = {}
        for kept in product((False, True), repeat=len(keys)):
            weight = Fraction(1)
            for odd, yes in zip(odds, kept, strict=True):
                weight *= odd if yes else 1 - odd
            found[tuple(compress(keys, kept))] = (weight, weight)
        return found

    @property
    def _odds(self) -> list[int]:
        return _rule(*self.share)[0]

    def _kept(self, people: list[int], count: int) -> NDArray[np.bool_]:
        """Toss one exact coin for each key, `count` times over: 64 bits decide, and more where they tie."""
        (odds, bits), top = _rule(*self.share), self.threshold
        chosen = [odds[min(max(each, 0), top)] for each in people]
        # A chance of 1 is above every word; as the largest word it is settled by the tie below.
        words = [min(odd >> (bits - _WORD), (1 << _WORD) - 1) for odd in chosen]
        source = current()
        drawn = source.words(count * len(people), _WORD).reshape(count, len(people))
        limits = np.array(words, dtype=np.uint64)
        kept = np.asarray(drawn < limits)
        for row, place in np.argwhere(drawn == limits).tolist():
            rest = words[place] << (bits - _WORD) | source.bits(bits - _WORD)
            kept[row, place] = rest < chosen[place]
        return kept


@lru_cache(maxsize=64)
def _rule(epsilon: Fraction, delta: Fraction) -> tuple[list[int], int]:
    """Return pi(0), pi(1), ... up to the first that is 1, each times 2**bits, rounded down; and the bits.

    Why rounding keeps the promise: let r <= e^epsilon be rational and p = pi(n) as stored. The next one is at most
    r p + d and at most 1 - (1 - p - d) / r, which is to say that pi(n + 1) <= r pi(n) + d and 1 - pi(n) <= r (1 -
    pi(n + 1)) + d hold between *stored* neighbours, and with r they hold for e^epsilon. The other two inequalities hold
    because pi never falls: both terms are at least p, which is a multiple of the unit, and so is what is rounded down
    to one. It rises by d (over r) at least, far above the unit, and so reaches 1.
    """
    bits = _PRECISION + delta.denominator.bit_length()
    # Beyond e^bits a larger r changes nothing: r p exceeds 1 for the least p, and (1 - p - d) / r is below one unit.
    epsilon = min(epsilon, Fraction(bits))
    work = bits + 2 * int(epsilon)
    # r = one / shrink, with `shrink` an upper bound of e^-epsilon.
    one, shrink = 1 << work, enclosure.exp(epsilon.as_integer_ratio(), work)[1]
    full, slack = 1 << bits, (delta.numerator << bits) // delta.denominator
    odds = [0]
    while odds[-1] < full:
        here = odds[-1] + slack
        first = odds[-1] * one // shrink + slack
        second = full - -((here - full) * shrink // one) if here < full else full
        odds.append(min(first, second, full))
    return odds, bits


def _in_order(exact: Mapping[Key, int]) -> tuple[list[Key], list[int]]:
    keys = sorted(exact, key=_place)
    return keys, [int(exact[key]) for key in keys]


def _place(key: object) -> tuple[Any, ...]:
    """Order keys of every kind: nulls, truth values, whole numbers, texts, all else; tuples part by part."""
    match key:
        case None:
            return (0,)
        case bool():
            return 1, key
        case int():
            return 2, key
        case str():
            return 3, key
        case tuple():
            return 4, tuple(_place(part) for part in key)
    return 5, type(key).__name__, repr(key)


def trials() -> Trials:
    """Yield the worst neighbours: a person who is a key's only one, and one who makes a key certain."""
    one = KeySelection(epsilon=1, delta=0.01)
    yield Trial("a key of one person", one, {"A": 5}, {"A": 5, "B": 1})
    yield Trial("one person more", one, {"A": 3}, {"A": 4})
    yield Trial("the last one needed", one, {"A": one.threshold - 1}, {"A": one.threshold})
    two = KeySelection(epsilon=1, delta=0.01, groups=2)
    yield Trial("two keys of a person", two, {"A": 4, "B": 6}, {"A": 5, "B": 7})
    moved = KeySelection(epsilon=1, delta=0.01, relation="replace")
    yield Trial("from one key to another", moved, {"A": 4, "B": 7}, {"A": 5, "B": 6})
