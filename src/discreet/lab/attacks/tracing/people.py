"""People for tracing: made up from frequencies, or the people of a copy as rows of bits."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import whole
from discreet.lab.attacks._coins import coins
from discreet.lab.table_copy import TableCopy

Matrix = NDArray[np.bool_]  # a row for each person, a column for each attribute
Numbers = NDArray[np.float64]

_EDGE = 0.05  # frequencies of made-up attributes stay so far from 0 and 1
_CUTS, _VALUES = 8, 12  # cuts of a column of numbers, and values of any other, that become attributes
_RARE, _MOST = 0.02, 800  # attributes that fewer people have, or lack, reveal too few; more are not needed


def population(attributes: int) -> Numbers:
    """Return how frequent each of so many made-up attributes is: anything from 5% to 95%."""
    return _EDGE + (1 - 2 * _EDGE) * coins().random(whole("attributes", attributes))


def people(count: int, frequencies: Numbers) -> Matrix:
    """Make up people who have each attribute with its frequency, independently of everything else."""
    chances = np.asarray(frequencies, np.float32)
    return np.asarray(coins().random((whole("people", count), len(chances)), np.float32) < chances)


def attributes_of(copied: TableCopy) -> Matrix:
    """Return the people of a copy as bits: values, cuts of numbers, and the cells of tables of two columns.

    These are the shares that a table of contents, a bar chart and a cross table of the same people would print.
    """
    single = [bits for bits in (_bits(copied, name) for name in copied.attributes) if bits.shape[1]]
    both = [*combinations(single, 2)]
    cells = sum(one.shape[1] * other.shape[1] for one, other in both)
    spread = both[:: 1 + cells // (4 * _MOST)]  # a wide table has more cross tables than memory
    pairs = [(one[:, :, None] & other[:, None, :]).reshape(copied.rows, -1) for one, other in spread]
    return _telling(np.concatenate([*single, *pairs, np.zeros((copied.rows, 0), bool)], axis=1))


def _bits(copied: TableCopy, name: str) -> Matrix:
    """Return the attributes that one column gives; those that nearly all share are left out."""
    codes = copied.codes([name])
    sizes = np.bincount(codes, minlength=1)
    numbers = _numbers(copied.column(name))
    if numbers is not None and len(sizes) > _VALUES:
        known = numbers[~np.isnan(numbers)]
        cuts = np.unique(np.quantile(known, np.arange(1, _CUTS + 1) / (_CUTS + 1))) if len(known) else known
        return _telling(numbers[:, None] > cuts)  # a missing number lies above no cut
    common = np.argsort(-sizes, kind="stable")[:_VALUES]
    return _telling(codes[:, None] == common)


def _telling(bits: Matrix) -> Matrix:
    """Leave out attributes that (nearly) all people share, repeated ones, and evenly some of too many."""
    shares = bits.mean(axis=0) if bits.size else np.zeros(bits.shape[1])
    kept = bits[:, (shares >= _RARE) & (shares <= 1 - _RARE)]
    _, first = np.unique(np.packbits(kept, axis=0), axis=1, return_index=True)
    places = np.sort(first)
    if len(places) > _MOST:
        places = places[np.linspace(0, len(places) - 1, _MOST).astype(np.int64)]
    return kept[:, places]


def _numbers(values: NDArray[Any]) -> Numbers | None:
    """Return a column as numbers, NaN where one is missing, or None where it holds something else."""
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    if values.dtype.kind in "mM":
        return np.where(np.isnat(values), np.nan, values.astype(np.int64).astype(np.float64))
    if values.dtype.kind != "O":
        return None
    if not all(each is None or (isinstance(each, int | float) and not isinstance(each, bool)) for each in values):
        return None
    return np.array([np.nan if each is None else float(each) for each in values])
