"""Rehearsals: all of an answer but its numbers, worked out before it is paid for, so that nothing fails afterwards."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from discreet.ask.remaining import notes_of
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from discreet.ask.priced import PricedQuestion


def rehearse(asked: PricedQuestion) -> None:
    """Refuse a question whose answer could not be written, whatever is read and drawn for it.

    Guarantee: it sees the question and the schema alone. What it refuses costs nothing.
    """
    bounds = [asked]
    if asked.bound is not None:  # the bound that is bought lies between these
        bounds = [asked.at_bound(rows) for rows in {1, asked.bound.most}]
    try:
        _shown(asked)
        for each in bounds:
            json.dumps(notes_of(each))
            for part in each.measures:
                part.rehearse()
    except (OverflowError, ValueError) as error:
        if isinstance(error, BadParameter):
            raise
        why = "its numbers, or those of its noise, are too large to be written"
        fix = "ask in larger units, or at a price nearer to 1"
        raise BadParameter("question", asked.label, why=why, fix=fix) from None


def _shown(asked: PricedQuestion) -> None:
    keys = asked.report.query.keys
    for key in keys.columns if keys is not None else ():
        for value in key.values or ():
            key.shown(value)
