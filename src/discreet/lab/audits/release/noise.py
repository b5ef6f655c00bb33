"""Whether the noise and the choices of a question follow their laws: in many releases, and in the noise functions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from discreet.ask.programme import Programme
from discreet.lab.audits.finding import Finding
from discreet.lab.audits.neighbours import Neighbours
from discreet.lab.audits.promise import promised
from discreet.lab.audits.release.choice_samples import choice_events
from discreet.lab.audits.release.known_laws import NoiseLaw
from discreet.lab.audits.release.laws import CountedEvent, counted, drawn, law_events, seen_factor, used_laws
from discreet.lab.audits.release.listener import samplers
from discreet.lab.audits.release.transcript import Transcript
from discreet.lab.audits.stage import Staged
from discreet.mechanisms.parts.statistic import Statistic
from discreet.noise.draws import Draws, new_key

Heard = Sequence[tuple[Neighbours, Transcript]]

_FACTOR = 0.7  # noise of one integer so many times as wide as it should be shall be seen in its own draws
_FEWEST, _MOST = 300, 2500
_CHOOSING = 2000  # runs where something is chosen: how far such laws are apart depends on the rows
_EVENTS = 2000  # more events than are looked at, for sizing runs before they are counted
# A noise function is also drawn from at wider parameters: a cut that the claimed noise hardly ever meets shows there.
_WIDER = (1, 16, 256)


def noise_finding(
    programme: Programme, staged: Staged, heard: Heard, runs: int | None, samples: int, alarm: float
) -> Finding | None:
    """Draw as a release draws, and count events whose probabilities are known; None where nothing is drawn.

    Guarantee: honest draws are accused with probability at most `alarm`: each of E events has the share alarm / E, half
    for too many hits and half for too few, and a union bound adds them up.
    """
    laws = _laws(heard)
    count = _sized(laws, programme, alarm) if runs is None else runs
    registered = programme.asked.report.query.registered
    events: list[CountedEvent] = []
    for pair, found in heard:
        if pair.drawn and found.fault is None and found.failed is None:
            script = dict(found.script)
            with staged.runner(registered, pair.other) as engine:
                events += counted([drawn(programme, engine, script, count)], found.groups)
    events += [event for law in laws for event in _sampled(law, samples)]
    events += [event for each in _choices(heard) for event in _sampled_choice(each, samples)]
    if not events:
        return None
    claim = programme.asked.loss
    delta, claimed = promised(claim)[0]
    worst = min(events, key=lambda each: each.surprise)
    broken = worst.surprise < alarm / (2 * len(events))
    share = alarm / (2 * len(events))
    text = _words(worst) if broken else f"{len(events):,} events happened as often as they should"
    lower, verdict = (math.inf, "violated") if broken else (0.0, "not shown")
    return Finding(
        lower,
        claimed,
        text,
        verdict,  # type: ignore[arg-type]
        "black_box",
        delta,
        samples=count,
        claim=claim,
        sees=_sees(laws, count, samples, share),
    )


def _laws(heard: Heard) -> list[NoiseLaw]:
    """Return the laws of noise that the releases asked for, each once."""
    found = [
        NoiseLaw.of(name, scale)  # type: ignore[arg-type]
        for _, transcript in heard
        for each in transcript.heard
        if isinstance(each.mechanism, Statistic)
        for passage in each.passages
        for name, scale in used_laws(passage)
    ]
    return [*dict.fromkeys(found)]


def _sized(laws: Sequence[NoiseLaw], programme: Programme, alarm: float) -> int:
    """Return how many runs show noise of one integer that is a fifth too narrow; more where something is chosen."""
    most = _FEWEST
    for law in laws:
        while most < _MOST and seen_factor(law, most, alarm / _EVENTS) < _FACTOR:
            most = min(_MOST, most * 5 // 4)
    adding = {each.label for each in programme.asked.measures if each.tallies}
    chooses = any(each.label not in adding for each in programme.claims())
    return max(most, _CHOOSING) if chooses else most


def _sampled(law: NoiseLaw, samples: int) -> Iterator[CountedEvent]:
    """Draw from the noise function that the release used, at its parameter and at wider ones, as a debit draws."""
    function, draws = samplers()[law.law], Draws(new_key())
    for factor in _WIDER:
        wide = law.scaled(Fraction(factor))
        with draws.at(f"{law.law} {wide.scale}"):
            yield from law_events(wide, function(wide.scale, samples), f"{law.law}({wide.scale})")


def _choices(heard: Heard) -> list[object]:
    """Return the mechanisms of the releases that choose, each once."""
    used = [each.mechanism for _, transcript in heard for each in transcript.heard]
    return [*{repr(each): each for each in used if not isinstance(each, Statistic)}.values()]


def _sampled_choice(mechanism: object, samples: int) -> Iterator[CountedEvent]:
    """Choose in many groups that are alike, as a debit chooses."""
    with Draws(new_key()).at("choices"):
        yield from choice_events(mechanism, samples)


def _words(event: CountedEvent) -> str:
    expected = event.chance.high * event.trials
    return f"{event.words}: {event.hits:,} of {event.trials:,} times, where {expected:,.4g} were expected"


def _sees(laws: Sequence[NoiseLaw], runs: int, samples: int, alarm: float) -> str:
    """Say which noise would have been seen to be too narrow: in one integer's draws, and in the noise functions."""
    if not laws:
        return f"chances off by {100 * (math.sqrt(2 * math.log(1 / alarm)) + 3.3) / (2 * math.sqrt(runs)):.2g}% or more"
    one = min(seen_factor(law, runs, alarm) for law in laws)
    all_ = min(seen_factor(law, samples, alarm) for law in laws)
    return (
        f"noise of one integer narrower by a factor of {one:.2g} ({runs:,} runs), "
        f"of all by {all_:.2g} ({samples:,} draws)"
    )
