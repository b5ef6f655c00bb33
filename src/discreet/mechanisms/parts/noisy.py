"""Noisy integers: what a door hands out, with the law of the noise and the price paid."""

from __future__ import annotations

from fractions import Fraction

from discreet.account.losses.loss import PrivacyLoss
from discreet.core.value import dataclass
from discreet.mechanisms.parts.integer_noise import Law


@dataclass(frozen=True, slots=True, eq=False)
class Noisy:
    """A row of integers for each group; each column has a law, and the scale (or sigma) of its noise.

    Guarantee: `loss` for all of it together. Whatever is made of it costs nothing more.
    """

    values: tuple[tuple[int, ...], ...]
    laws: tuple[tuple[Law, Fraction], ...]
    loss: PrivacyLoss
