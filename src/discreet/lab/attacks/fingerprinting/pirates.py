"""Pirates: what a coalition makes of its code words, wherever they differ.

The marking assumption (Boneh and Shaw 1998): where all members have the same symbol, none of them knows that something
is hidden there, and it stays.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.core.errors import UnknownName
from discreet.lab.attacks._coins import coins
from discreet.lab.attacks.tracing.people import Matrix
from discreet.lab.defence import Defence

Pirate = Callable[[Matrix], Matrix]  # from the words of the coalition, a row each, to the copy that is found


def pirate(strategy: str | Defence) -> tuple[str, Pirate]:
    """Return the name of a strategy and what it does; a defence is a pirate whose copy is its answers, rounded."""
    if isinstance(strategy, str):
        if strategy not in PIRATES:
            raise UnknownName("pirate", strategy, PIRATES)
        return strategy, PIRATES[strategy]
    return strategy.name, answering(strategy)


def answering(defence: Defence) -> Pirate:
    """Return the pirate that publishes, of each position, whether more than half of the coalition have a one.

    The words are rows of a table, the positions questions. Answers that are off by less than half of the rows keep the
    marking assumption, so anyone who answers d >= O(n^2 log n) averages that well can be traced to a row: no private
    mechanism can (Bun, Ullman, Vadhan 2014).
    """

    def copy(words: Matrix) -> Matrix:
        target = defence.protect(np.ones(len(words), np.int64), words.shape[1])
        return np.asarray(np.nan_to_num(target.sums(words.T)) > len(words) / 2)

    return copy


def _marked(words: Matrix, wherever: Matrix) -> Matrix:
    """Keep what all members share, and take `wherever` elsewhere."""
    return np.asarray(words.all(axis=0) | (words.any(axis=0) & wherever))


def _majority(words: Matrix) -> Matrix:
    return np.asarray(2 * words.sum(axis=0) > len(words))


def _minority(words: Matrix) -> Matrix:
    return _marked(words, ~_majority(words))


def _coin(words: Matrix) -> Matrix:
    return _marked(words, np.asarray(coins().random(words.shape[1]) < 0.5))


def _member(words: Matrix) -> Matrix:
    chosen = coins().integers(len(words), size=words.shape[1])
    return np.asarray(words[chosen, np.arange(words.shape[1])])


def _ones(words: Matrix) -> Matrix:
    return np.asarray(words.any(axis=0))


PIRATES: dict[str, Pirate] = {
    "majority": _majority,
    "minority": _minority,
    "coin": _coin,
    "member": _member,
    "ones": _ones,
}
