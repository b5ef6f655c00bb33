"""Overlap: whether the people of a table are those of another account, by sketches, for the custodian's eyes alone.

What is promised is what is declared: tables of one group share one budget. A sketch only finds what a custodian may
have overlooked: a copy in another format, order or folder, an excerpt, the same people under another column name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.curator.identifier_sketch import IdentifierSketch, TableSketches
from discreet.ledger.refusals import Conflict

if TYPE_CHECKING:
    from discreet.ask.registered import Registered

People = Literal["same", "distinct"]
Whose = Literal["new", "known", "both"]
Share = tuple[float, Whose]

# From this share of the smaller table on, two tables are taken to be about the same people.
LARGE = 0.5
# Fewer values than this of a column that is counted, or rows without their identifier, may be equal by chance.
_FEW = 200


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of one table occurs in a table of another account, by its identifiers or by whole rows.

    `column` is the new table's, `theirs` the known one's; None are whole rows. `share` is that of the new table, of the
    known one, or of both together: of the smaller, where one contains the other.
    """

    table: str
    account: str
    identifier: str | None
    column: str | None
    theirs: str | None
    share: float
    of: Whose
    certain: bool = True

    @property
    def is_large(self) -> bool:
        """Whether these are the same people, rather than a few of them, or numbers that may be equal by chance."""
        return self.certain and self.share >= LARGE

    @property
    def words(self) -> str:
        """Say what was found, and what it may mean."""
        ours = "rows" if self.column is None else f"values of {self.column!r}"
        known = "rows" if self.column is None else "people" if self.theirs == self.identifier else "values"
        inside = f" in {self.theirs!r}" if known == "values" else ""
        paid, about = f"which {self.account!r} pays for", f"about {self.share:.0%} of the"
        match self.of:
            case "new":
                return f"{about} {ours} are {known} of {self.table!r}{inside}, {paid}"
            case "known":
                return f"{about} {known} of {self.table!r}{inside}, {paid}, are {ours} here"
        return f"{about} {ours} and the {known} of {self.table!r}{inside}, {paid}, taken together are in both"


def overlaps(mine: TableSketches, others: Mapping[str, TableSketches]) -> list[Overlap]:
    """Return what a table shares with tables of other accounts, the most first; each table is named once."""
    found = [
        max(each, key=lambda overlap: (overlap.is_large, overlap.share))
        for name, other in others.items()
        if other.account != mine.account and (each := [*_between(mine, name, other)])
    ]
    return sorted(found, key=lambda overlap: (-overlap.share, overlap.table))


def check_overlap(registered: Registered, found: list[Overlap], others: list[Registered]) -> tuple[str, ...]:
    """Refuse a table whose people are mostly those of another account; return what else its custodian should know.

    This looks at data, and so only a custodian ever sees it.
    """
    noted = []
    for overlap in found:
        if _is_declared_distinct(registered, overlap, others):
            continue
        if not overlap.is_large:
            noted.append(f"{overlap.words}: anyone in both may lose both budgets")
            continue
        why = (
            f"{overlap.words}: the same people would lose two budgets (short numbers may be equal by chance, which"
            " only you can know)"
        )
        fix = f"register it with {_terms(registered, overlap)}, or with people='distinct' if these are different people"
        if registered.version > 1:  # a refresh: the table has its account permanently
            fix = (
                f"keep {registered.name!r} as it is and register this source as another table with"
                f" {_terms(registered, overlap)}; or refresh with people='distinct' if these are other people"
            )
        raise Conflict(f"the people of {registered.name!r}", why=why, fix=fix, value=registered.name)
    return tuple(noted)


def check_word(people: object) -> People | None:
    """Return what a custodian says of a table's people, or refuse whatever says nothing."""
    match people:
        case None | "same" | "distinct":
            return people
    why = "a table's people are those of its budget group under another name, or not in any other account"
    raise BadParameter("people", people, why=why, fix="use people='same' or people='distinct', or leave it out")


def _is_declared_distinct(registered: Registered, overlap: Overlap, others: list[Registered]) -> bool:
    theirs = (each for each in others if each.account == overlap.account)
    return overlap.account in registered.distinct or any(registered.account in each.distinct for each in theirs)


def _terms(registered: Registered, overlap: Overlap) -> str:
    group, mine = f"group={overlap.account!r}", registered.identifier
    if overlap.identifier is None:
        return group if mine is None else f"{group} and unit=row()"
    if mine is None or overlap.column not in (None, mine):
        return f"{group} and unit=person({overlap.column or overlap.identifier!r}, max_rows=20)"
    return group if mine.lower() == overlap.identifier.lower() else f"{group} and people='same'"


def _between(mine: TableSketches, name: str, other: TableSketches) -> Iterator[Overlap]:
    """Yield how much people of one table occur in columns of the other, and rows in rows."""

    def found(share: Share, column: str | None, theirs: str | None, *, certain: bool = True) -> Iterator[Overlap]:
        if share[0] > 0:
            yield Overlap(name, other.account, other.identifier, column, theirs, *share, certain)

    def is_certain(one: IdentifierSketch, column: str | None, two: IdentifierSketch, theirs: str | None) -> bool:
        alike = (column or "").lower() == (theirs or "").lower()
        people = (column, theirs) == (mine.identifier, other.identifier)
        counted = column in mine.counted or theirs in other.counted
        return alike or people or not counted or one.shared(two)[2] >= _FEW

    if other.people is not None:
        theirs = other.identifier
        for column, sketch in mine.columns.items():
            certain = is_certain(sketch, column, other.people, theirs)
            yield from found(_share(sketch, column, mine, other.people, theirs, other), column, theirs, certain=certain)
    if mine.people is not None:
        ours = mine.identifier
        for column, sketch in other.columns.items():
            certain = is_certain(mine.people, ours, sketch, column)
            yield from found(_share(mine.people, ours, mine, sketch, column, other), ours, column, certain=certain)
    if mine.rows is not None and other.rows is not None:
        whole = mine.identifier is None and other.identifier is None
        certain = whole or mine.rows.shared(other.rows)[2] >= _FEW
        yield from found(_contained(mine.rows, other.rows), None, None, certain=certain)


def not_compared(mine: TableSketches, others: Mapping[str, TableSketches]) -> tuple[str, ...]:
    """Say which columns were not compared with the people of other accounts, here and in their tables."""
    theirs = {name: other for name, other in others.items() if other.account != mine.account}
    tables = {"": mine, **{f" of {name!r}": other for name, other in theirs.items()}} if theirs else {}
    return tuple(
        f"the columns {', '.join(each.skipped)}{where} were not compared with the people of other accounts: what they"
        " hold is no identifier that can be read, or there are too many of them"
        for where, each in tables.items()
        if each.skipped
    )


def _share(
    one: IdentifierSketch,
    name: str | None,
    mine: TableSketches,
    two: IdentifierSketch,
    column: str | None,
    other: TableSketches,
) -> Share:
    """Return the share of two columns that identify people, or are called alike; of others that of their union.

    A column of another kind may well hold numbers that are someone's identifiers: 1, 2 and 3 are.
    """
    both_people = (name, column) == (mine.identifier, other.identifier)
    if both_people or (name or "").lower() == (column or "").lower():
        return _contained(one, two)
    first, second, shared = one.shared(two)
    alike = shared / (first + second - shared) if shared else 0.0
    return alike if alike >= LARGE else 0.0, "both"


def _contained(one: IdentifierSketch, two: IdentifierSketch) -> Share:
    first, second, shared = one.shared(two)
    return shared / min(first, second) if shared else 0.0, "new" if first <= second else "known"
