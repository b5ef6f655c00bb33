"""What the release of a question on two neighbours proves, or refutes, without any chance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Literal

from discreet.account.losses.discrete_gaussian import DiscreteGaussian
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.zcdp import Zcdp
from discreet.ask.priced import PricedQuestion
from discreet.ask.programme import Claim, Programme
from discreet.core.errors import show
from discreet.lab.audits.finding import Finding, Verdict
from discreet.lab.audits.neighbours import Neighbours
from discreet.lab.audits.promise import promised
from discreet.lab.audits.release.choices import chosen, stated_choices
from discreet.lab.audits.release.laws import exactly_added, used_laws
from discreet.lab.audits.release.transcript import Heard, Transcript, too_little
from discreet.lab.audits.replay import SEES
from discreet.lab.audits.stage import Currency
from discreet.mechanisms.parts.integer_noise import total
from discreet.mechanisms.parts.statistic import Statistic

Way = Literal["release", "integers", "choices", "debit", "price", "noise"]

_ROUNDING = Fraction(1, 10**9)
_SEEN = "anything that depends on rows by another way than a mechanism's result, in any group"


def at_price(asked: PricedQuestion) -> Finding:
    """Hold what the mechanisms cost by themselves against what was offered for them."""
    loss, price = asked.loss, asked.price
    slack = float(price.delta)
    if price.rho is not None and loss.rho is not None:
        spent, offered, word = float(loss.rho), float(price.rho), "rho"
    else:
        spent, word = loss.epsilon(slack), "epsilon"
        offered = float(price.epsilon) if price.epsilon is not None else math.inf
    broken = spent > offered * (1 + float(_ROUNDING)) or float(loss.slack) > slack * (1 + float(_ROUNDING))
    text = f"the mechanisms cost {word} {spent:.6g}, delta {float(loss.slack):.3g}; the price is {price}"
    delta, claimed = promised(loss)[0]
    verdict: Verdict = "violated" if broken else "bounded"
    lower = math.inf if broken else 0.0
    return Finding(lower, claimed, text, verdict, "exact", delta, claim=loss, sees="one part in 10^9 too much")


def on_pair(
    programme: Programme, pair: Neighbours, found: Transcript, currency: Currency
) -> Iterator[tuple[Way, Finding]]:
    """Yield what two releases show: in the answers, in what mechanisms were handed, and in the ledger."""
    claim = programme.asked.loss
    yield "release", _release(claim, found)
    if found.failed is None and (short := too_little(found.paid, programme, currency)) is not None:
        yield "debit", _replay(claim, math.inf, short, "violated")
    elif found.failed is None:
        yield (
            "debit",
            _replay(claim, 0.0, "the ledger is charged what is spent", "bounded", "one part in 10^9 too little"),
        )
    if pair.apart:
        return
    if (moved := _integers(programme, found)) is not None:
        yield "integers", moved
    for each in chosen(programme, found):
        yield "choices", each


def _release(claim: PrivacyLoss, found: Transcript) -> Finding:
    if found.fault is not None:
        return _replay(claim, math.inf, found.fault, "violated")
    for each in found.heard:
        for passage in each.passages:
            if isinstance(passage.mechanism, Statistic) and (wrong := exactly_added(passage)) is not None:
                return _replay(claim, math.inf, wrong, "violated")
    if found.failed is not None:
        return _replay(claim, 0.0, f"both raise {type(found.failed).__name__}", "not shown")
    return _replay(claim, 0.0, "the answers differ by what mechanisms return alone", "bounded", _SEEN)


def once_each(asked: PricedQuestion, found: Sequence[Transcript]) -> Finding:
    """Hold the keys of all debits against each other: a key that is used twice draws the same noise again."""
    keys = [key for each in found for key in each.keys]
    if len(set(keys)) == len(keys):
        return _replay(
            asked.loss, 0.0, f"{len(keys)} debits draw with keys of their own", "bounded", "one key used twice"
        )
    return _replay(asked.loss, math.inf, "two debits draw with the same key, so that their noise cancels", "violated")


# Noisy integers -------------------------------------------------------------------------------------------------------


def _integers(programme: Programme, found: Transcript) -> Finding | None:
    """Add up what the noise costs that was asked for, for integers that moved so far; None where none has noise."""
    heard = [each for each in found.heard if isinstance(each.mechanism, Statistic)]
    if not heard:
        return None
    claims = {each.label: each for each in programme.claims()}
    # Where neighbours have other groups, the answers differ as well, and that is what is told.
    known = [each for each in heard if each.label in claims and len(each.exact[0]) == len(each.exact[1])]
    if not known:
        return None
    claim = total(claims[label].loss for label in dict.fromkeys(each.label for each in known))
    delta, claimed = promised(claim)[0]
    chosen = stated_choices(found)
    costs = [_cost(each, claims[each.label], chosen.get(each.label)) for each in known]
    if any(cost is None for cost in costs):
        return Finding(
            0.0, claimed, "no cost is known for noise of this kind", "not shown", "replay", delta, claim=claim
        )
    broken = [cost for cost in costs if cost is not None and cost[1] is not None]
    steps = show([step for each in known for step in _steps(each)])
    gaussian = any(law == "gaussian" for each in known for law, _ in used_laws(each.passages[1]))
    spent = sum((cost[0] for cost in costs if cost is not None), Fraction(0))
    lower = _gaussian(known, spent).epsilon(delta) if gaussian and spent else float(spent)
    if broken:
        lower = max(lower, math.nextafter(claimed, math.inf))
        return Finding(
            lower, claimed, f"{broken[0][1]}; integers move by {steps}", "violated", "replay", delta, claim=claim
        )
    text = f"integers move by {steps} steps"
    return Finding(min(lower, claimed), claimed, text, "bounded", "replay", delta, claim=claim, sees=SEES)


def _cost(each: Heard, claim: Claim, chosen: PrivacyLoss | None) -> tuple[Fraction, str | None] | None:
    """Return the epsilon, or the rho, of one statistic's integers, and what is wrong with it; None where none is known.

    The noise is that which the mechanism asked for while it was released, not that which it says it has. What is
    `chosen` at the same label has its part of the claim, and leaves the rest.
    """
    laws = used_laws(each.passages[1]) or used_laws(each.passages[0])
    kinds, parts = {law for law, _ in laws}, len(laws)
    steps = _steps(each)
    if any(steps) and not laws:
        return Fraction(0), f"{claim.label} has no noise"
    if kinds <= {"laplace"} and math.isfinite(claim.loss.peak):
        spent, most = (
            sum((abs(s) / laws[at % parts][1] for at, s in enumerate(steps) if s), Fraction(0)),
            Fraction(claim.loss.peak) - (Fraction(chosen.peak) if chosen is not None else 0),
        )
    elif kinds == {"gaussian"} and claim.loss.rho is not None:
        spent = sum((s**2 / (2 * laws[at % parts][1] ** 2) for at, s in enumerate(steps) if s), Fraction(0))
        most = Fraction(claim.loss.rho) - Fraction((chosen.rho or 0) if chosen is not None else 0)
    else:
        return None
    if spent > Fraction(most) * (1 + _ROUNDING):
        return spent, f"{claim.label} costs {float(spent):.6g} where {float(most):.6g} is claimed"
    stated = [noise.scale for noise, size in each.mechanism.noises for _ in range(size)]
    if any(scale < wanted for (_, scale), wanted in zip(laws, stated, strict=False)):
        return spent, f"noise at {claim.label} is narrower than the mechanism says"
    return spent, None


def _steps(each: Heard) -> list[int]:
    """Return by how much every integer of every group moved, group by group."""
    statistic: Statistic = each.mechanism
    pairs = zip(*each.exact, strict=True)
    inner = [(statistic.inner(one), statistic.inner(other)) for one, other in pairs]
    return [b - a for one, other in inner for a, b in zip(one, other, strict=True)]


def _gaussian(known: Sequence[Heard], rho: Fraction) -> PrivacyLoss:
    """Return the loss of one discrete Gaussian, where one integer moved, or the zCDP of several."""
    moved = []
    for each in known:
        laws = used_laws(each.passages[1]) or used_laws(each.passages[0])
        moved += [(abs(step), laws[at % len(laws)][1]) for at, step in enumerate(_steps(each)) if step]
    return DiscreteGaussian(moved[0][1], sensitivity=moved[0][0]) if len(moved) == 1 else Zcdp(rho)


def _replay(claim: PrivacyLoss, lower: float, text: str, verdict: Verdict, sees: str = "") -> Finding:
    delta, claimed = promised(claim)[0]
    return Finding(lower, claimed, text, verdict, "replay", delta, claim=claim, sees=sees)
