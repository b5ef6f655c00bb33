"""Record and replay: run once, then run the neighbour with the same randomness, and see what still differs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from numbers import Rational

import numpy as np

from discreet.account.losses.discrete_gaussian import DiscreteGaussian
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.zcdp import Zcdp
from discreet.core.errors import show
from discreet.lab.audits import exact
from discreet.lab.audits.finding import Finding
from discreet.lab.audits.promise import Promise, promised
from discreet.lab.audits.subject import AuditSubject, Output, Raised, subject_of
from discreet.lab.audits.tape import Diverged, Shift, Tape, TapedDraw, TapedRelease, listening

# Losses of noise that is added to the answer: its parameters and its size may not depend on data at all.
_ADDITIVE = {"DiscreteGaussian", "DiscreteLaplace", "Gaussian", "GaussianDP", "Laplace", "Zcdp"}
_ADDED = {"gaussian", "laplace"}
_TAPES = 3
SEES = "one step too many, one noise too narrow by one part in 10^9, or one number without noise of its own"
_ROUNDING = 1e-9
# By how much the noise of each place is moved: different amounts in different places, up and down.
_PATTERNS: tuple[Shift, ...] = (
    lambda place: 1 + place % 2,
    lambda place: 7 + place * place % 101,
    lambda place: -5 - place,
)


def examine(subject: AuditSubject, d0: object, d1: object, claim: PrivacyLoss, promise: Promise) -> Finding | None:
    """Replay the neighbour on a few tapes; None where replaying can tell nothing about such a mechanism.

    Guarantee: a violated finding shows an output, a call or a cost on this pair that no proof of the claim by
    composition allows. The cost of noise that is added directly is exact; an infinite one says that no proof is left.
    """
    if subject.run is None:
        return None
    found = None
    with listening() as deck:
        for _ in range(_TAPES):
            tape = deck.tape = Tape()
            zero = subject.once(d0)
            tape.rewind()
            one = subject.once(d1)
            tape.finished()
            found = _judge(subject, d0, tape, zero, one, claim, promise)
            if found is None or found.violated:
                break
    return found


def _judge(
    subject: AuditSubject, d0: object, tape: Tape, zero: object, one: object, claim: PrivacyLoss, promise: Promise
) -> Finding | None:
    if not tape.calls:
        return None  # without noise of ours there is nothing to replay; the black box will see it
    if _raises(zero) and _raises(one) and not tape.diverged:
        return None  # what never answers says nothing of its claim
    if all(isinstance(call, TapedRelease) for call in tape.calls):
        return _judge_releases(subject, d0, tape, zero, one, claim, promise)
    if not all(isinstance(call, TapedDraw) and call.name in _ADDED for call in tape.calls):
        return None  # selection and coins consume randomness as the data has it, and are private all the same
    kinds = {type(part).__name__ for part, _ in claim.parts}
    if _raises(zero) != _raises(one):
        return _violated("one neighbour raises an exception, the other does not", claim, promise)
    if tape.diverged:
        return _violated(tape.diverged, claim, promise) if kinds <= _ADDITIVE else None
    steps = _steps(subject, d0, tape, zero, one)
    return None if steps is None else _cost(tape, steps, claim, promise)


# Programs made of mechanisms ------------------------------------------------------------------------------------------


def _judge_releases(
    subject: AuditSubject, d0: object, tape: Tape, zero: object, one: object, claim: PrivacyLoss, promise: Promise
) -> Finding | None:
    """Judge a program whose every random step is a mechanism: its outputs may depend on data through these alone."""
    if tape.diverged:
        return _violated(tape.diverged, claim, promise)
    asked = tape.asked
    tape.rewind()
    if not equal_outputs(zero, subject.once(d0)):
        return None  # there is randomness that the tape does not hear
    tape.inside = True  # what follows is no part of the program
    differing: list[PrivacyLoss] = []
    for place, (first, second) in enumerate(zip(tape.calls, asked, strict=True)):
        assert isinstance(first, TapedRelease)
        assert isinstance(second, TapedRelease)
        if equal_outputs(first.exact, second.exact):
            continue
        differing.append(first.mechanism.loss)
        inner = _inner(first, second)
        if inner is not None and inner.violated:
            return _violated(f"release {place + 1} ({first}): {inner.event}", claim, promise, inner.lower)
    if not equal_outputs(zero, one):
        text = f"with the same releases the output is {show(zero)} on one neighbour and {show(one)} on the other"
        return _violated(text, claim, promise)
    return _total(differing, claim, promise)


def _inner(first: TapedRelease, second: TapedRelease) -> Finding | None:
    """Check one released mechanism on the two inputs it got."""
    inside = subject_of(first.mechanism)
    loss = first.mechanism.loss
    found = exact.examine(inside, first.exact, second.exact, loss, promised(loss))
    if found is None or not found.violated:
        found = examine(inside, first.exact, second.exact, loss, promised(loss))
    return found


def _total(losses: list[PrivacyLoss], claim: PrivacyLoss, promise: Promise) -> Finding:
    """Compare what the releases that saw a difference cost together with the claim."""
    delta, claimed = promise[0]
    relations = {loss.relation for loss in losses} - {claim.relation}
    if relations:
        return _violated(f"a release is private under {relations.pop()}, the claim is {claim.relation}", claim, promise)
    if not losses:
        return _finding(0.0, "both neighbours give the same releases", claim, promise)
    total = sum(losses[1:], losses[0])
    cost = claimed if total == claim else total.epsilon(delta)
    text = f"{len(losses)} release{'s' if len(losses) > 1 else ''} cost {cost:.6g} together"
    if cost > claimed * (1 + _ROUNDING):
        return _violated(text, claim, promise, cost)
    return _finding(min(cost, claimed), text, claim, promise)


# Noise that is added --------------------------------------------------------------------------------------------------


def _steps(subject: AuditSubject, d0: object, tape: Tape, zero: object, one: object) -> list[Fraction] | None:
    """Return by how many units of noise each output moved, if every output is an exact number plus its own noise.

    Whether it is so is seen by moving the noise itself: the outputs have to follow, each its own, in proportion.
    """
    first, second = _flat(zero), _flat(one)
    if first is None or second is None or len(first) != len(second) or len(first) != _drawn(tape):
        return None
    units: list[Fraction] | None = None
    for pattern in _PATTERNS:
        tape.rewind(pattern)
        moved = _flat(subject.once(d0))
        if moved is None or len(moved) != len(first):
            return None
        changes = [(b - a) / pattern(place) for place, (a, b) in enumerate(zip(first, moved, strict=True))]
        if units is None:
            units = changes
        if any(_far(a, b) for a, b in zip(units, changes, strict=True)) or not all(units):
            return None
    assert units is not None
    return [_rounded((b - a) / unit) for a, b, unit in zip(first, second, units, strict=True)]


def _cost(tape: Tape, steps: list[Fraction], claim: PrivacyLoss, promise: Promise) -> Finding | None:
    """Compare the cost of moving the noise by so many steps with the claim: exactly, for a peak or a rho."""
    draws = [call for call in tape.calls if isinstance(call, TapedDraw) for _ in range(_size(call))]
    text = f"outputs move by {show([int(step) if step.denominator == 1 else float(step) for step in steps])} steps"
    if {draw.name for draw in draws} == {"laplace"} and math.isfinite(claim.peak):
        epsilon = sum((abs(step) / draw.parameter for step, draw in zip(steps, draws, strict=True)), Fraction(0))
        if epsilon > Fraction(claim.peak) * (1 + Fraction(_ROUNDING)):
            return _violated(f"{text} against scale {draws[0].parameter}", claim, promise, float(epsilon))
        return _finding(min(float(epsilon), promise[0][1]), text, claim, promise)
    if {draw.name for draw in draws} == {"gaussian"} and any(steps) and math.isfinite(claim.peak) and not claim.slack:
        return _violated(f"{text}, and Gaussian noise is pure at no epsilon", claim, promise)
    if {draw.name for draw in draws} == {"gaussian"} and claim.rho is not None and not claim.slack:
        pairs = list(zip(steps, draws, strict=True))
        rho = sum((step**2 / (2 * draw.parameter**2) for step, draw in pairs), Fraction(0))
        moving = [(step, draw) for step, draw in pairs if step]
        delta, claimed = promise[0]
        lower = _gaussian(moving, rho).epsilon(delta) if moving else 0.0
        if rho > Fraction(claim.rho) * (1 + Fraction(_ROUNDING)):
            return _violated(f"{text}: rho {float(rho):.6g}", claim, promise, max(lower, math.nextafter(claimed, 9e9)))
        return _finding(min(lower, claimed), text, claim, promise)
    return None


def _gaussian(moving: list[tuple[Fraction, TapedDraw]], rho: Fraction) -> PrivacyLoss:
    """Return the loss of one discrete Gaussian, or the zCDP of several."""
    if len(moving) == 1 and moving[0][0].denominator == 1:
        return DiscreteGaussian(moving[0][1].parameter, sensitivity=abs(int(moving[0][0])))
    return Zcdp(rho)


# Small things ---------------------------------------------------------------------------------------------------------


def _finding(lower: float, text: str, claim: PrivacyLoss, promise: Promise) -> Finding:
    delta, claimed = promise[0]
    return Finding(lower, claimed, text, "bounded", "replay", delta, claim=claim, sees=SEES)


def _violated(text: str, claim: PrivacyLoss, promise: Promise, lower: float = math.inf) -> Finding:
    delta, claimed = promise[0]
    return Finding(lower, claimed, text, "violated", "replay", delta, claim=claim)


def _raises(output: object) -> bool:
    return isinstance(output, Raised) and output.kind != Diverged.__name__


def _size(call: TapedDraw) -> int:
    return 1 if call.size is None else math.prod(call.size if isinstance(call.size, tuple) else (call.size,))


def _drawn(tape: Tape) -> int:
    return sum(_size(call) for call in tape.calls if isinstance(call, TapedDraw))


def _flat(output: object) -> list[Fraction] | None:
    """Return an output as exact rationals, or None if it is not made of finite numbers."""
    values: Output = np.ravel(np.asarray(output, dtype=object)) if not isinstance(output, Raised) else [None]
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    if not all(isinstance(value, Rational) or (isinstance(value, float) and math.isfinite(value)) for value in plain):
        return None
    return [Fraction(value) for value in plain]


def _far(first: Fraction, second: Fraction) -> bool:
    return abs(first - second) > Fraction(_ROUNDING) * max(abs(first), abs(second))


def _rounded(step: Fraction) -> Fraction:
    """Undo the rounding of floats that were scaled at the very end; a step is an integer."""
    nearest = Fraction(round(step))
    return nearest if abs(step - nearest) < Fraction(1, 10**6) else step


def equal_outputs(first: Output, second: Output) -> bool:
    """Compare two outputs as they would be written down, so NaN equals NaN."""
    return repr(_written(first)) == repr(_written(second))


def _written(output: Output) -> Output:
    match output:
        case np.ndarray() | np.generic():
            return (output.shape, output.tolist())
        case Mapping():
            return [(key, _written(value)) for key, value in output.items()]
        case list() | tuple():
            return [_written(value) for value in output]
    return output
