"""People of a reconstruction: whom to copy, and which of their columns to take for the secret."""

from __future__ import annotations

from datetime import date, time, timedelta
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import whole
from discreet.core.errors import BadParameter
from discreet.lab.attacks._coins import coins
from discreet.lab.table_copy import Bits, TableCopy
from discreet.noise.bernoulli import bernoulli

# A secret is chosen among columns with few values; public columns may have any number.
_FEW_VALUES = 20
# Copies of fewer people show nothing.
LEAST = 8


def crowd(copied: TableCopy, most: int = 20_000) -> TableCopy | None:
    """Return a copy of at most so many people, drawn at random, with the columns that can be counted; or None."""
    people = copied.people()
    if people.rows > most:
        people = people.taken(np.sort(coins().permutation(people.rows)[:most]))
    plain = {name: cells for name, cells in people.columns.items() if all(map(_plain, cells.tolist()))}
    return TableCopy(people.name, plain, people.identifier) if plain else None


def secret_column(people: TableCopy) -> str | None:
    """Return the column whose most common value the nearest to half of the people have, or None without one."""
    nearest: tuple[float, str] | None = None
    for name in people.attributes:
        sizes = np.bincount(people.codes([name]))
        rare = people.rows - int(sizes.max(initial=0))
        if 1 < len(sizes) <= _FEW_VALUES and rare >= LEAST:
            distance = abs(rare / people.rows - 0.5)
            nearest = min(nearest or (1.0, ""), (distance, name))
    return None if nearest is None else nearest[1]


def fair(people: TableCopy, bits: Bits, most: int) -> tuple[TableCopy, Bits]:
    """Copy some people such that every secret bit is a fair coin's, and return them with their bits.

    A coin decides each one's bit, and then someone who has it is chosen, as in `rand.copy`: only the answers
    tells a bit, so guessing is right about half of them and a promise bounds what an attack can expect.
    """
    places = [np.flatnonzero(bits == bit) for bit in (0, 1)]
    fewer = min(len(each) for each in places)
    if fewer == 0:
        why = "everyone has the same bit, so there is nothing to learn"
        raise BadParameter("secret", int(bits[0]) if len(bits) else None, why=why, fix="choose another column or value")
    coins = np.asarray(bernoulli(1 / 2, min(whole("people", most), fewer)))
    chosen = [_some(each, int((coins == bit).sum())) for bit, each in enumerate(places)]
    rows = np.sort(np.concatenate(chosen))
    return people.taken(rows), bits[rows]


def _some(places: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Choose so many without replacement."""
    return coins().permutation(places)[:size]


def _plain(cell: object) -> bool:
    return cell is None or isinstance(cell, bool | int | float | str | bytes | Decimal | date | time | timedelta)
