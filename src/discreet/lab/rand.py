"""RAND: the public table that demonstrations run on, and what a custodian would declare of it.

The RAND Health Insurance Experiment (1974 to 1982) gave families insurance with different shares to pay themselves, and
wrote down what they did with it: 20,190 years of 5,912 people. It is in the public domain (RAND Corporation; Cameron
and Trivedi, *Microeconometrics*, 2005); a few of its columns are shipped here under names that can be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import whole
from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.core.schema import between, flag, one_of
from discreet.core.unit import Unit, person
from discreet.noise.bernoulli import bernoulli
from discreet.noise.uniform import uniform

ROWS = 20_190
HEALTH = ("excellent", "good", "fair", "poor")


def path() -> Path:
    """Return where the table lies: a Parquet file inside the package."""
    return Path(str(files("discreet.lab").joinpath("rand.parquet")))


def unit() -> Unit:
    """Return whom to protect: a person, with all of the years that one could stay in the study."""
    return person("zper", max_rows=5)


def columns() -> dict[str, Column]:
    """Return what may be said of the columns without looking: bounds from the study's design and from common sense.

    The plans limited what a family paid itself to 1,000 dollars a year, and a visit a fortnight is a lot; what lies
    beyond counts as the bound.
    """
    return {
        "year": between(1, 5),
        "site": one_of(1, 2, 3, 4, 5, 6),
        "coinsurance": one_of(0, 25, 50, 95, 100),
        "age": between(0, 65),
        "female": flag(),
        "income": between(0, 30_000),
        "schooling": between(0, 25),
        "visits": between(0, 25),
        "spending": between(0, 1000, step=Fraction(1, 100)),
        "admissions": between(0, 10),
        "health": one_of(*HEALTH),
    }


@dataclass(frozen=True, slots=True)
class Copy:
    """People copied out of the public table to be attacked: not what any vault holds, and under no budget."""

    people: tuple[int, ...]
    secret: NDArray[np.int64]


def copy(people: int = 200) -> Copy:
    """Copy people chosen at random; the secret bit is 1 where their health is less than excellent.

    A fair coin decides each one's bit, and then someone who has it is chosen: only the answers tells a bit, and
    whoever merely guesses is right about half of them.
    """
    import duckdb

    bits = bernoulli(1 / 2, whole("people", people))
    with duckdb.connect() as engine:
        every = "SELECT DISTINCT zper, (health <> 'excellent')::BIGINT FROM read_parquet(?) ORDER BY zper"
        rows = engine.execute(every, [str(path())]).fetchall()
    wanted = {bit: int((bits == bit).sum()) for bit in (0, 1)}
    chosen = [row for bit, size in wanted.items() for row in _sample([row for row in rows if row[1] == bit], size)]
    chosen.sort()
    return Copy(tuple(person for person, _ in chosen), np.array([bit for _, bit in chosen], dtype=np.int64))


def _sample(rows: list[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """Choose rows without replacement, every set of them with the same probability (Fisher and Yates)."""
    if size > len(rows):
        why = "there are not so many people with each bit in the table"
        raise BadParameter("people", size, why=why, fix="use a few hundred, such as 200")
    rows = list(rows)
    for place in range(size):
        other = place + uniform(len(rows) - place)
        rows[place], rows[other] = rows[other], rows[place]
    return rows[:size]
