"""Tasks of tracing, fingerprinting, traitors and signatures: shares that the attacker got or missed, over seeds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module

from discreet.lab import rand
from discreet.lab.attacks.fingerprinting import fingerprinting
from discreet.lab.attacks.hardness import Hardness, hardness
from discreet.lab.attacks.tracing import made
from discreet.lab.attacks.tracing.private_answers import least_noise
from discreet.lab.attacks.traitor import Traitor, traitor
from discreet.lab.defence import Defence, ExactDefence, LaplaceDefence
from discreet.lab.table_copy import TableCopy
from discreet.lab.targets import named
from discreet.testing import seeded


def missed(seeds: int, people: int, attributes: int, target: str) -> Callable[[], float]:
    """One minus the least area."""
    return lambda: 1 - min(_areas(seeds, people, attributes, target))


def area(seeds: int, people: int, attributes: int, target: str) -> Callable[[], float]:
    """The largest area."""
    return lambda: max(_areas(seeds, people, attributes, target))


@cache
def _areas(seeds: int, people: int, attributes: int, target: str) -> list[float]:
    private: dict[str, Defence] = {"laplace": LaplaceDefence(1), "gaussian": least_noise(attributes)}
    defence = private.get(target) or named(target)

    def once(seed: int) -> float:
        with seeded(seed):
            return made(defence, members=people, attributes=attributes).area

    return [once(seed) for seed in range(seeds)]


def uncaught(seeds: int, pirate: str) -> Callable[[], float]:
    """The share of copies that accuse no member of the coalition."""
    return lambda: sum(not accused & coalition for accused, coalition in _copies(seeds, pirate)) / seeds


def wronged(seeds: int, pirates: Sequence[str]) -> Callable[[], float]:
    """The share of copies that accuse an innocent."""
    runs = [run for pirate in pirates for run in _copies(seeds, pirate)]
    return lambda: sum(bool(accused - coalition) for accused, coalition in runs) / len(runs)


def private_accused(seeds: int) -> Callable[[], float]:
    """The share of private answers that accuse anyone."""
    return lambda: sum(bool(accused) for accused, _ in _copies(seeds, "private")) / seeds


@cache
def _copies(seeds: int, pirate: str) -> list[tuple[set[int], set[int]]]:
    """Who is accused, and who was in the coalition; the codes themselves are large."""
    answers: dict[str, Defence] = {"answers": ExactDefence(), "private": LaplaceDefence(1)}

    def once(seed: int) -> tuple[set[int], set[int]]:
        with seeded(seed):
            found = fingerprinting(100, 10, answers.get(pirate) or pirate)
        return {*found.accused}, {*found.coalition}

    return [once(seed) for seed in range(seeds)]


def wrong(seeds: int, users: int) -> Callable[[], float]:
    """The share of rounding decoders that accuse someone outside the coalition."""
    return lambda: sum(not run.guilty for run in _decoders(seeds, users, False)) / seeds


def off_chance(seeds: int, users: int, decoders: int) -> Callable[[], float]:  # noqa: ARG001
    """How far the share of right accusations of private decoders is from a half."""
    return lambda: abs(sum(run.guilty for run in _decoders(decoders, users, True)) / decoders - 0.5)


def gap(seeds: int, users: int, decoders: int) -> Callable[[], float]:  # noqa: ARG001
    """How high private decoders jump, on average."""
    return lambda: sum(run.gap for run in _decoders(decoders, users, True)) / decoders


@cache
def _decoders(seeds: int, users: int, private: bool) -> list[Traitor]:
    defence = least_noise(users**2 * (users + 1), 1, 1 / (10 * users)) if private else ExactDefence()

    def once(seed: int) -> Traitor:
        with seeded(seed):
            return traitor(users, defence=defence)

    return [once(seed) for seed in range(seeds)]


def forged(seeds: int, method: str) -> Callable[[], float]:
    """The share of made-up rows that are valid beyond those that were copied; a private one copies none."""

    def once(seed: int) -> Hardness:
        with seeded(seed):
            found = hardness(method)
        assert bool(found.leaked) == (method == "copy"), found
        return found

    runs = 1 if method != "copy" else seeds  # a synthesizer takes seconds, and no seed makes a forgery more likely
    return lambda: max(found.valid / found.rows if not found.leaked else 0.0 for found in map(once, range(runs)))


def expose(seeds: int, attack: str) -> Callable[[], float]:
    """CPU seconds of the battery on the shipped table."""
    copied = TableCopy.read(rand.path(), identifier="zper")
    module = import_module(f"discreet.lab.attacks.{attack}")

    def call() -> float:
        start = time.process_time()
        with seeded(seeds):
            outcomes = module.expose(copied)
        assert any(each.broken for each in outcomes), attack
        assert any(not each.broken for each in outcomes), attack
        return time.process_time() - start

    return call
