"""The audit: three independent ways to refute a claim of privacy, on one pair of neighbours."""

from __future__ import annotations

from collections.abc import Collection

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import whole
from discreet.core.errors import BadParameter, UnknownName
from discreet.lab.audits import blackbox, exact, replay
from discreet.lab.audits.finding import LAYERS, Finding, Layer, worst
from discreet.lab.audits.promise import promised
from discreet.lab.audits.subject import AuditSubject, subject_of

# The probability that an honest mechanism is accused, by one audit of one pair.
ALARM = 1e-6
_FEWEST = 100


def audit(
    mechanism: object,
    d0: object,
    d1: object,
    claim: PrivacyLoss | None = None,
    samples: int = 10**6,
    *,
    delta: float | None = None,
    alarm: float = ALARM,
    layers: Collection[Layer] = LAYERS,
) -> Finding:
    """Try to refute a claim on two neighbours, by every layer that applies, and return the most telling finding.

    `mechanism` is a mechanism, a function from a dataset to an output, or an object with `releases(dataset, count)`;
    the datasets are whatever it takes. A mechanism's own loss is the claim unless another is given. `samples` are the
    runs on each neighbour: half of them choose an event, the other half bound its probabilities.

    Guarantee: see `Finding`; an honest mechanism is accused with probability at most `alarm`.
    """
    found = examine(mechanism, d0, d1, claim, samples, delta=delta, alarm=alarm, layers=layers)
    if not found:
        fix = "use the layer black_box, which needs nothing but runs"
        raise BadParameter("layers", tuple(layers), why="none of them applies to this mechanism", fix=fix)
    return worst(found)


def examine(
    mechanism: object,
    d0: object,
    d1: object,
    claim: PrivacyLoss | None = None,
    samples: int = 10**6,
    *,
    delta: float | None = None,
    alarm: float = ALARM,
    layers: Collection[Layer] = LAYERS,
) -> tuple[Finding, ...]:
    """Return the findings of every layer that applies (see `audit`), in the order exact, black box, replay."""
    subject = subject_of(mechanism)
    claim = _claim(subject, claim)
    chosen = _layers(layers)
    runs, rate = whole("samples", samples, least=_FEWEST), settled_rate(alarm)
    promise = promised(claim, delta)
    findings: list[Finding | None] = []
    if "exact" in chosen:
        findings.append(exact.examine(subject, d0, d1, claim, promise))
    if "black_box" in chosen:
        findings.append(blackbox.examine(subject, d0, d1, claim, promise, runs, rate))
    if "replay" in chosen:
        findings.append(replay.examine(subject, d0, d1, claim, promise))
    return tuple(finding for finding in findings if finding is not None)


def _claim(subject: AuditSubject, claim: PrivacyLoss | None) -> PrivacyLoss:
    found = subject.loss if claim is None else claim
    if not isinstance(found, PrivacyLoss):
        why = "a function does not state its guarantee" if claim is None else "a claim is a privacy loss"
        raise BadParameter("claim", claim, why=why, fix="pass a loss, such as claim=Pure(1)")
    return found


def _layers(layers: Collection[Layer]) -> set[Layer]:
    for layer in layers:
        if layer not in LAYERS:
            raise UnknownName("layer", str(layer), LAYERS)
    return set(layers)


def settled_rate(alarm: float) -> float:
    """Return a probability of a false alarm, if it is one."""
    if not 0 < alarm < 1:
        why = "the probability of a false alarm lies between 0 and 1, both excluded"
        raise BadParameter("alarm", alarm, why=why, fix="use a small number, such as 1e-6")
    return alarm
