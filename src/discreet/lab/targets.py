"""Targets by name: the words of the command line for ways to answer."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet.core.errors import BadParameter, UnknownName
from discreet.core.rational import parse_written
from discreet.lab.defence import (
    Defence,
    ExactDefence,
    GaussianDefence,
    LaplaceDefence,
    NoisyDefence,
    RoundedDefence,
    SampledDefence,
    SuppressedDefence,
)
from discreet.lab.vault_copy import Vaulted


def named(text: str) -> Defence:
    """Return the defence that a text names: exact, rounded:5, suppressed:10, sampled:0.5, noisy:8, laplace:1, ..."""
    word, _, amount = text.partition(":")
    made: dict[str, tuple[str, Callable[[Fraction], Defence]]] = {
        "exact": ("", lambda _: ExactDefence()),
        "rounded": ("5", lambda value: RoundedDefence(_whole(text, value))),
        "suppressed": ("10", lambda value: SuppressedDefence(_whole(text, value))),
        "sampled": ("0.5", lambda value: SampledDefence(float(value))),
        "noisy": ("5", lambda value: NoisyDefence(_whole(text, value))),
        "laplace": ("1", LaplaceDefence),
        "gaussian": ("0.1", GaussianDefence),
        "vault": ("1", Vaulted),
    }
    if word not in made:
        raise UnknownName("target", word, made)
    usual, make = made[word]
    return make(parse_written("target", amount or usual or "1"))


def _whole(text: str, value: Fraction) -> int:
    if value.denominator != 1:
        raise BadParameter("target", text, why="its number is a whole one", fix="write rounded:5, suppressed:10")
    return value.numerator
