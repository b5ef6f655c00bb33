"""Randomized response: everyone's own answer, turned over by exact coins before it is given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses import pure
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import Number, finite, positive, whole
from discreet.account.numeric.rounding import DIGITS, decimal, precise, raised, up
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass
from discreet.mechanisms.parts import chances as _chances
from discreet.mechanisms.parts import tails
from discreet.mechanisms.parts.chances import Chances
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.noise.bernoulli import bernoulli
from discreet.noise.uniform import uniform

Key = str | int
_WIDTH = 64  # binary digits of a probability that was chosen for an epsilon
_LARGEST = 10**6  # an epsilon beyond which those digits are all ones, for as many keys as there can be


@dataclass(frozen=True, slots=True, init=False)
class RandomizedResponse:
    """Reports the true one of `keys` with probability `truth`, and every other with an equal share of the rest.

    State `truth` as a probability, or `epsilon`, which takes the largest such probability of 64 binary digits. An
    answer that is none of the keys is reported as an evenly drawn key, so no answer is refused.

    Guarantee: pure epsilon = ln(truth (k - 1) / (1 - truth)) for each answer, k being the number of keys, and exactly
    that; an evenly drawn key is a mixture of all answers, and so within it too. Neighbours replace one person's answer
    by another: that someone answered at all is not hidden, so add_remove is refused.
    Error: `error(beta, answers=n)` holds for an estimated frequency from n answers (Hoeffding 1963).
    """

    keys: tuple[Key, ...]
    truth: Fraction
    relation: Relation

    def __init__(
        self,
        *,
        keys: Sequence[Key] = (0, 1),
        truth: Number | None = None,
        epsilon: Number | None = None,
        relation: Relation = "replace",
    ) -> None:
        found = tuple(keys)
        if len(found) < 2 or len(set(found)) != len(found) or not all(type(key) in (str, int) for key in found):
            why = "there are two answers to choose from at least, all different"
            raise BadParameter("keys", keys, why=why, fix="use text or ints, such as ('no', 'yes')")
        if check_relation(relation) != "replace":
            why = "a report shows that its person answered, so only its content is protected"
            raise BadParameter("relation", relation, why=why, fix="use relation='replace'")
        if (truth is None) == (epsilon is None):
            why = "the coins are stated once, by truth or by epsilon"
            raise BadParameter("truth, epsilon", (truth, epsilon), why=why, fix="give one of truth= and epsilon=")
        object.__setattr__(self, "keys", found)
        object.__setattr__(self, "relation", "replace")
        object.__setattr__(self, "truth", _truth(len(found), truth, epsilon))

    @classmethod
    def coins(cls, keys: Sequence[Key] = (0, 1)) -> RandomizedResponse:
        """Return the two coins: heads, the truth; tails, a second coin answers (Warner 1965). It costs ln 3.

        Guarantee: P(yes | yes) = 3/4 and P(yes | no) = 1/4.
        """
        return cls(keys=keys, truth=Fraction(3, 4))

    @classmethod
    def biased(cls, bias: Number, keys: Sequence[Key] = (0, 1)) -> RandomizedResponse:
        """Return two answers of which the true one has probability 1/2 + bias.

        Guarantee: it costs ln((1/2 + bias)/(1/2 - bias)) = 2 artanh(2 bias), which is at least 4 bias.
        """
        number = Fraction(finite("bias", bias))
        if not 0 < number < Fraction(1, 2):
            raise BadParameter("bias", bias, why="it lies between 0 and 1/2", fix="use a number such as 0.25")
        return cls(keys=keys, truth=Fraction(1, 2) + number)

    @property
    def lie(self) -> Fraction:
        """The probability of each key that is not the truth."""
        return (1 - self.truth) / (len(self.keys) - 1)

    @property
    def epsilon(self) -> float:
        """The logarithm of the odds of truth against any one lie, rounded up."""
        with precise(DIGITS + 2 * _WIDTH):
            return raised(decimal(self.truth / self.lie).ln(), Decimal(1))

    @property
    def loss(self) -> PrivacyLoss:
        """What one answer costs; k answers of one person to the same question cost k times as much."""
        kind = pure.RandomizedResponse if len(self.keys) == 2 else pure.Pure
        return kind(self.epsilon, relation=self.relation)

    def error(self, beta: Number = 0.05, *, answers: int = 1) -> float:
        """Return a half-width for a frequency estimated from so many answers; beta is the chance of a larger error."""
        spread = 2 * whole("answers", answers) * float(self.truth - self.lie) ** 2
        chance = tails.chance(beta)
        logarithm = math.log(2 * chance.denominator) - math.log(chance.numerator)
        return math.sqrt(logarithm / spread) * (1 + 1e-12)

    def variance(self, answers: int, frequency: Number | None = None) -> float:
        """Return the variance of a key's estimated frequency; the largest, if its true frequency is not given."""
        often, rarely = self.truth * (1 - self.truth), self.lie * (1 - self.lie)
        share = None if frequency is None else Fraction(finite("frequency", frequency))
        each = max(often, rarely) if share is None else share * often + (1 - share) * rarely
        return up(each / (whole("answers", answers) * (self.truth - self.lie) ** 2))

    def estimate(self, reports: object) -> NDArray[np.float64]:
        """Return every key's frequency among the true answers, unbiased: (share of reports - lie) / (truth - lie).

        An answer that was no key counts for all of them, an equal part for each.
        """
        places = self._places(reports).ravel()
        counts = np.bincount(places[places >= 0], minlength=len(self.keys))
        total = max(1, len(places))
        return np.array([float((Fraction(int(n), total) - self.lie) / (self.truth - self.lie)) for n in counts])

    def interval(self, reports: object, beta: Number = 0.05) -> NDArray[np.float64]:
        """Return, for every key, bounds that hold its true frequency with probability at least 1 - beta."""
        centre = self.estimate(reports)
        half = self.error(beta, answers=max(1, np.size(self._places(reports))))
        return np.clip(np.stack([centre - half, centre + half], axis=1), 0.0, 1.0)

    def majority(self, repeats: int) -> Fraction:
        """Return the probability that most of so many fresh reports of one person, out of two keys, are the truth.

        It shows what repetition costs: 21 reports of the two coins give the truth away, at 21 ln 3.
        """
        if len(self.keys) != 2:
            raise BadParameter("keys", self.keys, why="a majority is of two keys", fix="use two keys")
        times = whole("repeats", repeats)
        return sum(
            (
                math.comb(times, k) * self.truth**k * (1 - self.truth) ** (times - k)
                for k in range(times // 2 + 1, times + 1)
            ),
            Fraction(0),
        )

    def release(self, exact: object) -> Key | NDArray[np.generic]:
        """Return a report for one answer, or an array of independent ones for an array of answers.

        Guarantee: `loss` for every person who answers once.
        """
        places = self._places(exact)
        reported = self._reports(places, places.shape)
        return self._named(reported) if places.ndim else self.keys[int(reported)]

    def releases(self, exact: object, count: int) -> NDArray[np.generic]:
        """Return `count` independent reports of the same answer or answers, for audits and simulations."""
        places = self._places(exact)
        return self._named(self._reports(places, (whole("count", count, least=0), *places.shape)))

    def chances(self, exact: object) -> Chances:
        """Return the probability of every report, exactly."""
        places = self._places(exact)
        rows = [self._row(place) for place in places.ravel().tolist()]
        if not places.ndim:
            return {key: (chance, chance) for key, chance in rows[0].items()}
        _chances.limited(len(self.keys) ** len(rows))
        found: dict[tuple[Key, ...], Fraction] = {(): Fraction(1)}
        for row in rows:
            found = {(*key, here): chance * each for key, chance in found.items() for here, each in row.items()}
        return {key: (chance, chance) for key, chance in found.items()}

    def _row(self, place: int) -> dict[Key, Fraction]:
        if place < 0:
            return dict.fromkeys(self.keys, Fraction(1, len(self.keys)))
        return {key: self.truth if i == place else self.lie for i, key in enumerate(self.keys)}

    def _reports(self, places: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.int64]:
        # The truth with probability truth - lie, else an even draw, which hits it with the missing k lie / k.
        kept = (bernoulli(self.truth - self.lie, shape) == 1) & (places >= 0)
        return np.where(kept, places, uniform(len(self.keys), shape)).astype(np.int64)

    def _named(self, places: NDArray[np.int64]) -> NDArray[np.generic]:
        return np.asarray(np.take(_array(self.keys), places))

    def _places(self, answers: object) -> NDArray[np.int64]:
        """Return which key each answer is, -1 for what is none."""
        if isinstance(answers, np.ndarray) and answers.dtype.kind in "biufU" and answers.ndim:
            return _matched(_array(self.keys), answers)
        known = {key: place for place, key in enumerate(self.keys)}
        array = _objects(answers) if isinstance(answers, np.ndarray | list | tuple) else np.array(None)
        if array.ndim:
            return np.array([_place(known, one) for one in array.flat], dtype=np.int64).reshape(array.shape)
        return np.array(_place(known, answers), dtype=np.int64)


def _truth(size: int, truth: Number | None, epsilon: Number | None) -> Fraction:
    if truth is not None:
        number = Fraction(finite("truth", truth))
        if not Fraction(1, size) < number < 1:
            why = f"the truth is more likely than each of {size} keys drawn evenly, and not certain"
            raise BadParameter("truth", truth, why=why, fix=f"use a probability above 1/{size} and below 1")
        return number
    target = min(Fraction(positive("epsilon", epsilon)), Fraction(_LARGEST))
    with precise(DIGITS + 2 * _WIDTH):
        odds = decimal(target).exp()
        share = odds / (odds + size - 1)
        # A unit lower than the nearest, so no rounding makes the odds larger than asked for.
        chosen = Fraction(math.floor(Fraction(share) * 2**_WIDTH) - 1, 2**_WIDTH)
    if not Fraction(1, size) < chosen < 1:
        why = f"its coin cannot be distinguished from a fair one with {_WIDTH} binary digits"
        raise BadParameter("epsilon", epsilon, why=why, fix="use an epsilon above 1e-15")
    return chosen


def _array(keys: tuple[Key, ...]) -> NDArray[np.generic]:
    if all(isinstance(key, int) and abs(key) < 1 << 53 for key in keys):
        return np.array(keys, dtype=np.int64)
    # (An array of text drops zeros at the end, and so would not tell "a" from "a\0".)
    if all(isinstance(key, str) and not key.endswith("\0") for key in keys):
        return np.array(keys)
    out = np.empty(len(keys), dtype=object)
    out[:] = keys
    return out


def _objects(answers: object) -> NDArray[np.object_]:
    """Return answers as an array; where one of them is an array that fits no shape, they are a list all the same."""
    try:
        return np.asarray(answers, dtype=object)
    except ValueError:
        assert isinstance(answers, list | tuple)
        out = np.empty(len(answers), dtype=object)
        for place, answer in enumerate(answers):
            out[place] = answer
        return out


def _matched(keys: NDArray[np.generic], answers: NDArray[np.generic]) -> NDArray[np.int64]:
    """Look answers up among keys of the same kind; numbers equal a key if their values do."""
    if (keys.dtype.kind == "U") != (answers.dtype.kind == "U") or keys.dtype == object:
        known = {key: place for place, key in enumerate(keys.tolist())}
        return np.array([_place(known, one) for one in answers.ravel().tolist()], dtype=np.int64).reshape(answers.shape)
    order = np.argsort(keys)
    ordered = keys[order]
    near = np.minimum(np.searchsorted(ordered, answers), len(keys) - 1)
    return np.where(ordered[near] == answers, order[near], -1).astype(np.int64)


def _place(known: dict[Key, int], answer: object) -> int:
    if isinstance(answer, np.generic):
        answer = answer.item()
    if isinstance(answer, float) and answer.is_integer():
        answer = int(answer)
    return known.get(answer, -1) if isinstance(answer, str | int) else -1


def trials() -> Trials:
    """Yield persons who change their answer."""
    yield Trial("two coins", RandomizedResponse.coins(), 0, 1)
    yield Trial("bias 1/10", RandomizedResponse.biased(Fraction(1, 10)), 1, 0)
    yield Trial("five keys", RandomizedResponse(keys=("A", "B", "AB", "0", "?"), epsilon=1), "A", "0")
    yield Trial("no answer", RandomizedResponse(keys=(1, 2, 3), epsilon=2), 1, None)
    yield Trial("three people", RandomizedResponse.coins(), (0, 1, 1), (0, 1, 0))
