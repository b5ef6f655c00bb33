"""RAPPOR's associations: the joint distribution of two answers that the same people gave, by likelihood."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import BadParameter
from discreet.local.protocols.rappor import Rappor
from discreet.local.protocols.rappor.bloom import Places
from discreet.local.protocols.rappor.noise import fresh
from discreet.local.reports import Bytes, Reports

Floats = NDArray[np.float64]

OTHER = "(other)"
_STEPS = 2000
_GAIN = 1e-4  # of log-likelihood, far below what a test can see
_PART = 1 << 14
_MOST_CELLS = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Association:
    """How often two answers went together: `share[a, b]` of the people, with standard errors.

    The last row and column are all strings that are no candidates. `independence` is the p-value of the hypothesis
    that the answers have nothing to do with each other (a likelihood ratio, chi-square). Errors come from the observed
    information and are rough for shares next to zero.
    """

    share: Floats
    error: Floats
    reports: int
    rejected: int
    first: tuple[str, ...]
    second: tuple[str, ...]
    independence: float

    @property
    def counts(self) -> Floats:
        """The shares as numbers of people."""
        return self.share * self.reports

    def pairs(self, deviations: float = 2.0) -> list[tuple[str, str, float]]:
        """Return pairs of candidates whose share is so many standard errors above zero, the most frequent first."""
        inner, error = self.share[:-1, :-1], self.error[:-1, :-1]
        rows = [(float(inner[a, b]), int(a), int(b)) for a, b in np.argwhere(inner > deviations * error)]
        return [(self.first[a], self.second[b], share) for share, a, b in sorted(rows, reverse=True)]


@dataclass(frozen=True, slots=True)
class Answers:
    """Reports of one question: the protocol they were made under, and the candidates to tell apart."""

    protocol: Rappor
    reports: Reports
    candidates: Sequence[str] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The candidates, by default those of the protocol."""
        return tuple(self.candidates) or self.protocol.candidates


def associate(first: Answers, second: Answers) -> Association:
    """Return the joint distribution of two questions; row i of both reports comes from one person.

    Expectation and maximisation over the exact likelihoods of reports (Fanti, Pihur, Erlingsson 2016). A person whose
    report on either question is malformed is left out.

    Guarantee: none of its own; it reads reports. Anyone who answers both questions pays for both.
    """
    if len(first.reports) != len(second.reports):
        lengths = (len(first.reports), len(second.reports))
        why = "row by row, both reports come from one person"
        raise BadParameter("reports", lengths, why=why, fix="pass two batches of the same people in the same order")
    cells = (len(first.words) + 1) * (len(second.words) + 1)
    if not first.words or not second.words or cells > _MOST_CELLS:
        why = f"a joint distribution of {cells} cells is not estimated; both questions need candidates, few of them"
        raise BadParameter("candidates", cells, why=why, fix="pass the detected strings of each question")
    good = _good(first) & _good(second)
    left, right = _likelihoods(first, good), _likelihoods(second, good)
    shape = (left.shape[1], right.shape[1])
    people = int(np.count_nonzero(good))
    if not people:
        share = np.full(shape, 1 / cells)
        return Association(share, np.full(shape, np.inf), 0, len(good), first.words, second.words, 1.0)
    share, best = _climb(lambda at: _joint_step(at, left, right), np.full(shape, 1 / cells))
    _, apart = _climb(lambda at: _apart_step(at, left, right), np.full(shape, 1 / cells))
    return Association(
        share, _errors(share, left, right), people, len(good) - people, first.words, second.words,
        _chi_square(max(0.0, 2 * (best - apart)), (shape[0] - 1) * (shape[1] - 1)),
    )  # fmt: skip


def _rows(answers: Answers) -> Bytes:
    protocol, reports = answers.protocol, answers.reports
    if reports.spec_hash != protocol.spec_hash or (len(reports) and reports.rows.shape[1] != protocol.bytes_per_report):
        why = "they were made under another protocol"
        raise BadParameter("reports", reports.spec_hash, why=why, fix="pass the protocol that made them")
    return reports.rows.reshape(len(reports), protocol.bytes_per_report)


def _good(answers: Answers) -> NDArray[np.bool_]:
    return answers.protocol.read(_rows(answers))[2]


def _likelihoods(answers: Answers, good: NDArray[np.bool_]) -> Floats:
    """Return the likelihood of each report under each candidate, and under a string of the rest, up to a factor.

    The factor is that of an empty filter, the same for all: what remains are the bits that a candidate sets.
    """
    protocol = answers.protocol
    owners, packed, _ = protocol.read(_rows(answers)[good])
    bits = np.unpackbits(packed, axis=1, bitorder="little", count=protocol.bits)
    zero, one = (float(rate) for rate in protocol.rates)
    places = protocol.places(answers.words)
    out = np.ones((len(owners), len(answers.words) + 1))
    ratios = np.array([(1 - one) / (1 - zero), one / zero])
    rows = np.arange(len(owners))
    counted = fresh(places)
    for word, (chosen, fresh_ones) in enumerate(zip(places, counted, strict=True)):
        for at in range(protocol.hashes):
            ratio = ratios[bits[rows, chosen[owners, at]]]
            out[:, word] *= np.where(fresh_ones[owners, at], ratio, 1.0)
    rate = _other_rates(answers, places)
    gains = np.log(rate / zero), np.log((1 - rate) / (1 - zero))
    other = np.where(bits != 0, gains[0][owners], gains[1][owners]).sum(1)
    out[:, -1] = np.exp(np.minimum(other, 700.0))
    return out


def _other_rates(answers: Answers, places: Places) -> Floats:
    """Return the chance of a one at each bit of each cohort for strings that are no candidates.

    What the candidates' fit leaves of the counts, kept between the chances of an empty and of a full filter; where it
    leaves next to nothing, the chance of a random filter.
    """
    protocol = answers.protocol
    sketch = protocol.aggregate(answers.reports)
    tallies = protocol.tallies(sketch)
    fit = protocol.estimate(sketch, candidates=answers.words)
    share = fit.fitted / max(1, fit.reports)
    zero, one = (float(rate) for rate in protocol.rates)
    known = np.zeros((protocol.cohorts, protocol.bits))
    index = np.arange(protocol.cohorts)[None, :]
    for chosen, counted in zip(np.moveaxis(places, 2, 0), np.moveaxis(fresh(places), 2, 0), strict=True):
        np.add.at(known, (index, chosen), share[:, None] * counted)
    rest = max(0.0, 1.0 - float(share.sum()))
    random = np.full(known.shape, zero + (one - zero) * protocol.hashes / protocol.bits)
    if rest < 0.01:
        return random
    shown = tallies.ones / np.maximum(1, tallies.totals)[:, None]
    left = (shown - (1 - rest) * zero - (one - zero) * known) / rest
    return np.where(tallies.totals[:, None] > 0, np.clip(left, min(zero, one), max(zero, one)), random)


def _joint_step(share: Floats, left: Floats, right: Floats) -> tuple[Floats, float]:
    """Return the next shares and the log-likelihood of these."""
    chance = np.einsum("ia,ia->i", left, right @ share.T)
    return share * (left.T @ (right / chance[:, None])) / len(chance), float(np.log(chance).sum())


def _apart_step(share: Floats, left: Floats, right: Floats) -> tuple[Floats, float]:
    """Return the next shares of independent answers, and the log-likelihood of these."""
    rows, columns = share.sum(1), share.sum(0)
    a, b = left @ rows, right @ columns
    following = np.outer(rows * (left / a[:, None]).mean(0), columns * (right / b[:, None]).mean(0))
    return following, float(np.log(a).sum() + np.log(b).sum())


def _climb(step: Callable[[Floats], tuple[Floats, float]], share: Floats) -> tuple[Floats, float]:
    """Repeat a step until the log-likelihood stands still; two steps show where many would lead.

    Squared iteration (Varadhan and Roland 2008); a leap that loses likelihood is not taken.
    """
    safe, reached = share, -np.inf
    for _ in range(_STEPS):
        first, here = step(share)
        if here < reached:
            share = safe
            first, here = step(share)
        if here - reached < _GAIN:
            break
        reached = here
        safe, _ = step(first)
        move, bend = first - share, safe - 2 * first + share
        bent = float(np.sqrt((bend**2).sum()))
        pace = max(1.0, float(np.sqrt((move**2).sum())) / bent) if bent > 0 else 1.0
        leap = np.maximum(share + 2 * pace * move + pace**2 * bend, 1e-12)
        share = leap / leap.sum()
    return first, here


def _errors(share: Floats, left: Floats, right: Floats) -> Floats:
    """Return standard errors from the observed information, the shares adding up to one."""
    cells = share.size
    information = np.zeros((cells, cells))
    for start in range(0, len(left), _PART):
        part = slice(start, start + _PART)
        score = np.einsum("ia,ib->iab", left[part], right[part])
        score /= np.einsum("iab,ab->i", score, share)[:, None, None]
        flat = score.reshape(len(score), cells)
        information += flat.T @ flat
    inverse = np.linalg.pinv(information)
    along = inverse.sum(1)
    variance = np.diag(inverse) - along**2 / max(float(along.sum()), 1e-300)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)).reshape(share.shape))


def _chi_square(statistic: float, freedom: int) -> float:
    from scipy.special import chdtrc

    return float(chdtrc(freedom, statistic))
