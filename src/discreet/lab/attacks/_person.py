"""A person in a copy: found by name or by what is known of them, and described so that nobody else is meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.errors import BadParameter
from discreet.lab.table_copy import TableCopy


@dataclass(frozen=True, slots=True)
class Description:
    """The columns that single a person out, and the words for it; no columns where only the row's place does."""

    columns: tuple[str, ...]
    words: str


def found_row(people: TableCopy, person: object) -> int:
    """Return the row of a person: a value of the identifier, a row number if there is none, or known attributes."""
    if isinstance(person, Mapping):
        alike = np.ones(people.rows, bool)
        for name, value in person.items():
            alike &= np.array([str(each) == str(value) for each in people.column(str(name))], bool)
        return _only(alike, person)
    if people.identifier is not None:
        return _only(np.array([str(each) == str(person) for each in people.column(people.identifier)], bool), person)
    try:
        row = int(str(person))
    except ValueError:
        row = -1
    if not 0 <= row < people.rows:
        why = f"without an identifier a person is a row number, from 0 to {people.rows - 1}"
        raise BadParameter("person", person, why=why, fix="give one, or what is known of them: age=42 site=3")
    return row


def singled_out(
    people: TableCopy, row: int, describe: Sequence[str] | None = None, *, apart: str | None = None
) -> Description:
    """Describe a row so that nobody else is meant: by the columns given, the identifier, or the fewest that will do.

    Columns are added greedily, each time the one that leaves the fewest others; `apart` is the secret, which an
    attacker does not know.
    """
    if describe is None and people.identifier is not None:
        describe = (people.identifier,)
    if describe is not None:
        alike = int((people.codes(describe) == people.codes(describe)[row]).sum())
        if alike > 1:
            why = f"{alike} rows are alike in these columns, and leaving all of them out tells of nobody"
            raise BadParameter("describe", list(describe), why=why, fix="name more columns, or none")
        return _described(people, row, describe)
    same = {name: people.codes([name]) for name in people.attributes if name != apart}
    same_as = {name: codes == codes[row] for name, codes in same.items()}
    chosen: list[str] = []
    left = np.ones(people.rows, bool)
    while left.sum() > 1 and same_as:
        best = min(same_as, key=lambda name: int((left & same_as[name]).sum()))
        narrower = left & same_as.pop(best)
        if narrower.sum() == left.sum():
            break
        chosen, left = [*chosen, best], narrower
    return _described(people, row, chosen) if left.sum() == 1 and chosen else Description((), f"in row {row}")


def _described(people: TableCopy, row: int, columns: Sequence[str]) -> Description:
    return Description(tuple(columns), "with " + ", ".join(f"{name} {people.column(name)[row]}" for name in columns))


def _only(alike: np.ndarray[tuple[int], np.dtype[np.bool_]], person: object) -> int:
    found = int(alike.sum())
    if found != 1:
        why = "nobody in the table is meant" if not found else f"{found} rows of the table are meant"
        raise BadParameter("person", person, why=why, fix="give attributes that match exactly one person")
    return int(alike.argmax())
