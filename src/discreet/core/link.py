"""Links: a column of one table that refers to a row of another, to whose person its rows belong."""

from __future__ import annotations

from typing import Any

from discreet.core import record as records
from discreet.core.column import check_name
from discreet.core.value import dataclass, fields

# What a link rests on, said wherever it is: of databases in which it is not so, nothing is promised.
UNIQUE = ", which is unique"


@dataclass(frozen=True, slots=True)
class Link:
    """A reference: `column` holds values of `key`, a column of `table` in which no value occurs twice.

    A row belongs to the person of the row that it refers to. That one may be linked itself: `lineitem` refers to
    `orders`, and `orders` to `customer`.

    Guarantee: a key is a function, or nobody's. A row belongs to the person of the one row that has its key; where no
    row has it, or several have, or the reference is null, the row belongs to nobody and is in no answer.

    Proof, among databases whose referenced keys are unique: let D' be D without the rows of one person p, in every
    table. A row of someone else refers to a row of that person, which is in D' and is still the only one with its key;
    so it belongs to the same person in both. A row of nobody refers to a row of nobody, or to a key that no row has,
    and removing rows makes no key appear; so it belongs to nobody in both. Therefore D and D' differ by p's own rows
    alone, which are bounded like those of any person. This also holds where rows that referred to p's stay behind in
    D': they refer to nothing there, and are in no answer.

    Databases in which a referenced key occurs twice are outside the promise. There nothing raises, and no error tells:
    rows that refer to such a key are nobody's. The custodian's side counts the keys exactly, when the referenced table
    and those that refer to it are registered or refreshed, and refuses what is not unique.
    """

    column: str
    table: str
    key: str

    def __post_init__(self) -> None:
        for name in _FIELDS:
            check_name(name, getattr(self, name))

    @property
    def words(self) -> str:
        """What is equal, and what that rests on: l_orderkey = orders.o_orderkey, which is unique."""
        return f"{self.column} = {self.table}.{self.key}{UNIQUE}"

    def record(self) -> dict[str, str]:
        """Return the fields as plain JSON values."""
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def from_record(cls, record: object) -> Link:
        """Read what `record` returned, checking it again."""
        found: dict[str, Any] = records.fields("link", record, _FIELDS)
        return cls(**found)


_FIELDS = tuple(field.name for field in fields(Link))


def link(column: str, table: str, key: str) -> Link:
    """Refer to the row of another table whose `key`, in which no value occurs twice, is the value of `column`."""
    return Link(column, table, key)
