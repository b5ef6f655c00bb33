"""Tracing: how surely averages, copies and decoders give people away, and how little under Discreet; 20 seeds each.

Figures are shares, the worst of all seeds unless a row says otherwise, and bars are at most: where a target is to fall,
the row tells how much the attacker missed. With DISCREET_BENCH_SEEDS=1 in the environment one seed is run where twenty
are to be: a first look, not a figure to quote.
"""

from __future__ import annotations

import os

from bench.harness.bar import Bar, at_most
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS, Unit

SEEDS = int(os.environ.get("DISCREET_BENCH_SEEDS", "20"))
PEOPLE, ATTRIBUTES, USERS = 100, 10_000, 20
PRIVATE = ("laplace", "gaussian")
PIRATES = ("majority", "minority", "coin", "member", "ones", "answers")
SYNTHESIZERS = ("copy", "independent", "mst")
# Right-or-wrong accusations of half of the users stay so near to a half, by chance, but once in a million.
DECODERS = 20 * SEEDS
AT_CHANCE = 0.5 * 4.9 / DECODERS**0.5
EXPOSE_SECONDS = 8.0


def _case(name: str, function: str, arguments: dict[str, object], *bars: Bar, unit: Unit = "%") -> Case:
    task = Task(function, {"seeds": SEEDS, **arguments})
    return Case(name, task, {}, bars, unit, repetitions=1, warmups=0, reported=True, timeout=1800.0)


def _missed(attributes: int, target: str, *bars: Bar) -> Case:
    arguments: dict[str, object] = {"people": PEOPLE, "attributes": attributes, "target": target}
    return _case(f"tracing, {PEOPLE} people, {attributes:,} averages, {target}: 1 - area", "missed", arguments, *bars)


def _area(target: str) -> Case:
    arguments: dict[str, object] = {"people": PEOPLE, "attributes": ATTRIBUTES, "target": target}
    name = f"tracing, {PEOPLE} people, {ATTRIBUTES:,} averages, {target}, epsilon 1 in all: area"
    return _case(name, "area", arguments, at_most(0.6))


AREA = Area(
    ours=Participant(OURS, TASKS / "lab_tracing.py", package="discreet"),
    peers=(),
    cases=(
        *(_missed(attributes, "exact") for attributes in (10, 100, 1000)),
        _missed(ATTRIBUTES, "exact", at_most(0.05)),
        _missed(ATTRIBUTES, "rounded:5", at_most(0.05)),
        *(_area(target) for target in PRIVATE),
        *(
            _case(
                f"fingerprinting, 10 of {PEOPLE}, {pirate}: nobody caught", "uncaught", {"pirate": pirate}, at_most(0.0)
            )
            for pirate in PIRATES
        ),
        _case("fingerprinting, innocents accused, all pirates", "wronged", {"pirates": PIRATES}, at_most(0.0)),
        _case("fingerprinting, Discreet, epsilon 1: rows accused", "private_accused", {}, at_most(0.0)),
        _case(f"traitor, {USERS} users, rounding pirate: wrongly accused", "wrong", {"users": USERS}, at_most(0.0)),
        _case(
            f"traitor, {USERS} users, (1, 1/10n)-private pirate, {DECODERS} of them: rightly accused, from 50%",
            "off_chance",
            {"users": USERS, "decoders": DECODERS},
            at_most(AT_CHANCE),
        ),
        _case(
            f"traitor, {USERS} users, (1, 1/10n)-private pirate: mean gap",
            "gap",
            {"users": USERS, "decoders": DECODERS},
        ),
        *(
            _case(f"hardness, {method}: valid and not copied", "forged", {"method": method}, at_most(0.0))
            for method in SYNTHESIZERS
        ),
        *(
            _case(f"`expose` on RAND, {attack}: CPU", "expose", {"attack": attack}, at_most(EXPOSE_SECONDS), unit="s")
            for attack in ("tracing", "fingerprinting", "traitor", "hardness")
        ),
    ),
)
