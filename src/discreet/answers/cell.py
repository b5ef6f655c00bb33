"""Cells: a value with the interval that holds the exact one."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.answers.quantity import Plain


@dataclass(frozen=True, slots=True)
class Cell:
    """A value and the interval that holds the exact one with probability at least 95%.

    Of a comparison `low` says whether it is certain and `high` whether it is possible.
    """

    value: Plain | str | None
    low: Plain | str | None
    high: Plain | str | None
