"""Made-up tables for linkage: the voters of Cambridge, and people who rate films."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import whole
from discreet.lab.attacks._coins import coins
from discreet.lab.attacks.linkage.fuzzy import Sparse
from discreet.lab.table_copy import TableCopy

VOTERS = 54_805
# Who is alone in a class of expected size x is so with probability exp(-x). With one size for all, 12% by birth date
# would make 35% with the sex; that it were 29% means that a part of the voters is crowded into few birth years, as in a
# town of universities. Half of them in 16 years and half in 51 give 12.1% and 28.9%.
_YOUNG, _OLD = round(16 * 365.25), round(51.5 * 365.25)
# Unequal ZIP codes count for about four equal ones: 69.3%. Nine digits count for about fifty only, however many there
# are (97.1%): some are a house, some a hall of residence, as Zipf's law has it.
_ZIPS = (40, 25, 18, 9, 5, 3)
_POSTCODES, _STEEPNESS = 3000, 1.2


def voters(people: int = VOTERS) -> TableCopy:
    """Make up a list of voters whose birth dates, sexes and postcodes single out as many as those of Cambridge did."""
    many = whole("people", people)
    own = coins()
    young = own.random(many) < 1 / 2
    ages = np.where(young, own.integers(0, _YOUNG, many), _YOUNG + own.integers(0, _OLD, many))
    born = np.datetime64("1979-02-01") - ages.astype("timedelta64[D]")
    area = own.choice(len(_ZIPS), many, p=_shares(_ZIPS))
    ends = np.zeros(many, np.int64)
    for place, share in enumerate(_shares(_ZIPS)):
        mine = np.flatnonzero(area == place)
        sizes = 1 / np.arange(1, round(_POSTCODES * share) + 1) ** _STEEPNESS
        ends[mine] = own.choice(len(sizes), len(mine), p=_shares(sizes))
    postcodes = [f"{2138 + zip_code:05d}-{1000 + end}" for zip_code, end in zip(area, ends, strict=True)]
    columns = {
        "voter": np.arange(many),
        "birth_date": born,
        "sex": np.where(own.random(many) < 1 / 2, "F", "M").astype(object),
        "zip": np.array([each[:5] for each in postcodes], object),
        "postcode": np.array(postcodes, object),
    }
    return TableCopy("voters", columns, "voter")


def ratings(people: int = 5000, items: int = 2000, *, each: float = 60.0, days: int = 2000) -> Sparse:
    """Make up ratings: few items are rated by many and most by few, and so it is with people (Zipf, lognormal).

    A person rates `each` items on the average, from 1 to 5, on days spread over `days`.
    """
    own = coins()
    popular = 1 / (np.arange(1, items + 1) + 10.0) ** 0.9
    active = np.exp(own.normal(0, 0.9, people))
    chance = np.outer(active / active.mean(), popular / popular.sum()) * each
    person, item = np.nonzero(own.random((people, items)) < np.minimum(chance, 0.95))
    liked = own.normal(3.6, 0.6, items)[item]
    rating = np.clip(np.rint(liked + own.normal(0, 0.9, len(item))), 1, 5)
    return Sparse.of(person, item, rating, own.integers(0, days, len(item)))


def _shares(sizes: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(sizes, np.float64) / np.sum(sizes)
