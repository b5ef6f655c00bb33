"""The danger meter: how much of a table a planned release would give back to whoever solves its equations.

The law that "overly accurate answers to too many questions destroy privacy" (Dwork and Roth 2014, section 8.1, after
Dinur and Nissim 2003) has numbers, and they need no table. An attacker who knows who was counted in each of m answers
about random halves of n people writes them as equations in the people's secret bits, fair coins, and solves them by
least squares that remember that a bit is 0 or 1 (ridge regression: the best linear guess). With errors of standard
deviation s, the signal-to-interference ratio of each bit tends to the root b of

    b = (m/16) / (s^2 + (n/16) / (1 + b))

(Tse and Hanly 1999, for these random matrices), what is left over is nearly normal, and a bit is guessed right with
probability Phi(sqrt(b)). An attacker who also knows some of the people, or has more time, gets more, never less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from statistics import NormalDist
from typing import Any

from discreet.account.numeric.checks import Number, positive, whole
from discreet.account.numeric.rounding import up
from discreet.core.errors import BadParameter
from discreet.lab.defence import DELTA, GaussianDefence, ceiling
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Curves, GuideLine

# A release that gives back nine bits in ten is blatantly non-private (Dinur and Nissim 2003). Six in ten is the share
# for which the meter states the errors that are the least to think of.
FALLS, SAFE = 0.9, 0.6
_NORMAL = NormalDist()
_POINTS = 60


@dataclass(frozen=True, slots=True)
class Danger:
    """A planned release of `questions` counts about `rows` people, each off by errors of a standard deviation.

    `promised` is the epsilon in all that its noise promises about one person (at a delta of 1e-6 where there is one),
    and None where the errors come from rounding or from noise without a promise.
    """

    rows: int
    questions: int
    deviation: float
    method: str
    promised: float | None = None

    @property
    def position(self) -> float:
        """The error of an answer in units of the root of the number of people: the scale of the law."""
        return self.deviation / math.sqrt(self.rows)

    @property
    def share(self) -> float:
        """The share of secret bits that least squares is expected to get right; a coin gets half of them."""
        return share_recovered(self.rows, self.questions, self.deviation)

    @property
    def verdict(self) -> str:
        """The verdict in a word: least squares succeeds, is bounded by the promise, or this is not shown."""
        return str(self._judged.verdict)

    @property
    def laplace(self) -> float:
        """The epsilon in all that Laplace noise of this deviation would cost: each person is in every question."""
        # Discrete Laplace noise at epsilon x has the deviation 1/(sqrt(2) sinh(x/2)).
        return self.questions * _laplace(self.deviation)

    @property
    def rho(self) -> float:
        """The rho in all that Gaussian noise of this deviation would cost."""
        return self.questions / (2 * self.deviation**2) if self.deviation else math.inf

    @property
    def gaussian(self) -> float:
        """The epsilon, at a delta of 1e-6, that Gaussian noise of this deviation would cost in all."""
        return _epsilon(self.rho)

    @property
    def affordable(self) -> int:
        """How many questions Discreet answers with errors like these for an epsilon of 1 in all, at a delta of 1e-6."""
        if not math.isfinite(self.deviation):
            return self.questions
        return int(max(1 / _laplace(self.deviation), 2 * _rho(1.0) * self.deviation**2))

    @property
    def needed(self) -> float:
        """The standard deviation from which on as many answers would give back no more than six bits in ten."""
        return deviation_for(self.rows, self.questions, SAFE)

    @property
    def sentence(self) -> str:
        """What a custodian should know before publishing."""
        told = (
            f"{self.questions:,} counts about {self.rows:,} people, {self.method}, give back a secret bit of "
            f"{self.share:.1%} of them, where a coin gives 50%"
        )
        if self.promised is not None:
            bound = (
                f"; the guarantee, epsilon {self.promised:.3g} in all, allows no attacker more than {self.most:.1%}."
            )
            return told + bound
        if not math.isfinite(self.deviation):
            return told + ": the answers say nothing."
        epsilon, few = min(self.gaussian, self.laplace), self.affordable
        size = f"worth epsilon {_short(epsilon)} in all" if math.isfinite(epsilon) else "no noise at all"
        answers = f"{few:,} {'question' if few == 1 else 'questions'}"
        worth = f". As noise, such errors are {size}; for epsilon 1 Discreet answers {answers} as accurately."
        # Anyone who knows everyone else asks for one person alone: errors have to hold against that too.
        known = ceiling(epsilon, DELTA)
        if self.share <= SAFE and known is not None and known <= FALLS:
            return told + worth + " As random noise they would be a guarantee; other errors may be undone."
        if self.share <= SAFE:
            return told + worth + " So few answers give back no table, but two that differ by a person may tell of one."
        return told + worth + f" For so many answers, errors of {self.needed:,.3g} people are the least to think of."

    @property
    def most(self) -> float | None:
        """The share that no attacker can expect to exceed, or None where nothing is promised."""
        return ceiling(self.promised, DELTA)

    @property
    def outcome(self) -> Outcome:
        """The meter's reading as the outcome of an attack on the planned release."""
        return replace(self._judged, figures=self.record(), picture=self.picture)

    @property
    def _judged(self) -> Outcome:
        """The bits that least squares is expected to get right, judged as if they had been counted."""
        return Outcome(
            attack="danger",
            target=self.method,
            evidence=Counted(int(self.share * self.rows), self.rows, "secret bits expected to be given back"),
            chance=0.5,
            told=f"{self.questions:,} counts about {self.rows:,} people, {self.method}.",
            ceiling=self.most,
            demonstration=True,
        )

    @property
    def picture(self) -> Curves:
        """Bits given back against the error of an answer: this release, and where Discreet's promise of 1 lies."""
        line, place = math.sqrt(self.questions / (2 * _rho(1.0))), self.deviation
        ends = [each for each in (place, line, self.needed, math.sqrt(self.rows) / 8) if 0 < each < math.inf]
        low, high = min(ends) / 3, max(ends) * 3
        steps = [low * (high / low) ** (i / (_POINTS - 1)) for i in range(_POINTS)]
        attack = [(each, share_recovered(self.rows, self.questions, each)) for each in steps]
        # Anyone who knows all other bits sees a normal number move by the root of the number of questions.
        anyone = [(each, _NORMAL.cdf(math.sqrt(self.questions) / (2 * each))) for each in steps]
        return Curves(
            title=f"{self.questions:,} counts about {self.rows:,} people: {self.verdict}",
            series=(
                ("least squares", attack),
                ("the most anyone could get, if it were Gaussian noise", anyone),
                ("this release", [(min(max(place, low), high), self.share)]),
            ),
            across="error of an answer, in people (standard deviation)",
            up="share of bits given back",
            lines=(
                GuideLine(line, "Discreet, epsilon 1 in all", upright=True),
                GuideLine(FALLS, "blatantly non-private"),
                GuideLine(0.5, "a coin"),
            ),
            dots=frozenset({"this release"}),
            logarithmic="x",
            reach=(0.45, 1.02),
        )

    def record(self) -> dict[str, Any]:
        """Return the reading as plain JSON values; what is infinite is the text "infinity"."""
        return {
            "rows": self.rows,
            "questions": self.questions,
            "method": self.method,
            "deviation": _plain(self.deviation),
            "position": _plain(self.position),
            "share": self.share,
            "verdict": self.verdict,
            "promised": self.promised,
            "most": self.most,
            "needed": self.needed,
            "laplace_epsilon": _plain(self.laplace),
            "gaussian_epsilon": _plain(self.gaussian),
            "delta": DELTA,
            "affordable": self.affordable,
        }


def danger(
    rows: int,
    questions: int,
    error: Number | None = None,
    *,
    rounded: int | None = None,
    laplace: Number | None = None,
    gaussian: Number | None = None,
) -> Danger:
    """Read the meter for a planned release of `questions` counts about `rows` people; no table is needed.

    State the errors once: `error` (any error from -error to error alike, in people), `rounded` (to multiples of a
    base), `laplace` (noise of so much epsilon in all) or `gaussian` (noise of so much rho in all).
    """
    people, asked = whole("rows", rows), whole("questions", questions)
    given = {"error": error, "rounded": rounded, "laplace": laplace, "gaussian": gaussian}
    stated = [name for name, value in given.items() if value is not None]
    if len(stated) != 1:
        why = "the errors of the answers are stated once"
        raise BadParameter("error", stated or None, why=why, fix="give one of error, rounded, laplace and gaussian")
    if error is not None:
        if error == 0:
            return Danger(people, asked, 0.0, "exact")
        width = float(positive("error", error))
        return Danger(people, asked, width / math.sqrt(3), f"off by up to {width:g}")
    if rounded is not None:
        base = whole("rounded", rounded)
        return Danger(people, asked, _rounding(people, base), f"rounded to {base}")
    if laplace is not None:
        epsilon = float(positive("laplace", laplace))
        deviation = 1 / (math.sqrt(2) * math.sinh(epsilon / (2 * asked)))
        return Danger(people, asked, deviation, f"with Laplace noise, epsilon {epsilon:g} in all", epsilon)
    noise = GaussianDefence(positive("gaussian", gaussian))
    rho = float(noise.rho)
    method = f"with Gaussian noise, rho {rho:g} in all"
    return Danger(people, asked, math.sqrt(asked / (2 * rho)), method, noise.epsilon)


def share_recovered(rows: int, questions: int, deviation: float) -> float:
    """Return the expected share of bits that least squares gets right; see the module for the theorem."""
    # The root of s^2 b^2 + (s^2 + n/16 - m/16) b - m/16 = 0 that is positive, free of cancellation.
    signal, noise = questions / 16, deviation**2
    if not math.isfinite(noise):
        return 0.5
    if noise == 0:
        return _NORMAL.cdf(math.sqrt(questions / (rows - questions))) if questions < rows else 1.0
    middle = noise + rows / 16 - signal
    root = math.sqrt(middle**2 + 4 * noise * signal)
    ratio = 2 * signal / (middle + root) if middle > 0 else (root - middle) / (2 * noise)
    return _NORMAL.cdf(math.sqrt(ratio))


def deviation_for(rows: int, questions: int, share: float) -> float:
    """Return the least standard deviation of the errors at which no more than this share is expected to be got right.

    It is sqrt(m/(16 b) - n/(16 (1 + b))) at b = Phi^-1(share)^2, and zero where even exact answers give no more.
    """
    ratio = _NORMAL.inv_cdf(share) ** 2
    return math.sqrt(max(0.0, questions / (16 * ratio) - rows / (16 * (1 + ratio))))


def _rounding(rows: int, base: int) -> float:
    """Return the deviation of the errors that rounding to a base amounts to, for an attacker who knows the base.

    Counts of random groups vary by sqrt(n/8). While the base is small beside that, errors are spread evenly over it.
    A coarse base still says on which side of an edge a count lies, and an attacker chooses groups around an edge: the
    answers are then like linear ones with noise of variance v (1 - g)/g, where g is the part of the variance v of
    counts that the cells explain (Bussgang 1952). If the base exceeds the table, no group has an edge to lie around.
    """
    if base == 1:
        return 0.0
    if base > rows:
        return math.inf
    spread, even = math.sqrt(rows / 8), math.sqrt((base**2 - 1) / 12)
    if 4 * base <= spread:
        return even
    explained, reach = 0.0, math.ceil(9 * spread / base)
    for cell in range(-reach, reach):
        low, high = cell * base / spread, (cell + 1) * base / spread
        inside = _NORMAL.cdf(high) - _NORMAL.cdf(low) if high <= 0 else _NORMAL.cdf(-low) - _NORMAL.cdf(-high)
        if inside > 0:
            explained += (_NORMAL.pdf(low) - _NORMAL.pdf(high)) ** 2 / inside
    # For bases near the spread of the counts both are approximations; the attacker gets the better one.
    return min(even, spread * math.sqrt(max(0.0, 1 - explained) / explained))


def _laplace(deviation: float) -> float:
    """Return the epsilon of discrete Laplace noise of a deviation, at sensitivity 1."""
    return 2 * math.asinh(1 / (math.sqrt(2) * deviation)) if deviation else math.inf


def _epsilon(rho: float) -> float:
    from discreet.account.losses.zcdp import Zcdp

    return Zcdp(up(rho)).epsilon(DELTA) if math.isfinite(rho) else math.inf


@cache
def _rho(epsilon: float) -> float:
    """Return the rho whose epsilon at a delta of 1e-6 is the one given, by halving."""
    low, high = 0.0, epsilon
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _epsilon(middle) <= epsilon else (low, middle)
    return low


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _plain(value: float) -> float | str:
    return value if math.isfinite(value) else "infinity"
