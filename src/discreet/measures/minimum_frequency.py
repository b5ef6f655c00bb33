"""Minimum frequency: groups of fewer people than an office may publish are withheld, by a noisy count that is paid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.answers.point import point_of
from discreet.answers.quantity import BracketedValue, Quantity
from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.plan.aggregates import Aggregate, People

if TYPE_CHECKING:
    from discreet.measures.measure import Measure

Asked = tuple[tuple[str, Aggregate], ...]

KIND, NAME = "withhold", "vault"
# What the count is called that is made for it alone; no column of a question may begin so.
COUNTED = "~people"
_MOST = 10**9

# A cell that says nothing: no value, and no ends of an interval.
WITHHELD = BracketedValue(None, None, None)


@dataclass(frozen=True, slots=True)
class MinimumFrequency:
    """Groups with fewer than `below` people are withheld, as a noisy count of their people says; 0 withholds none.

    The count is part of the question, of its price and of its draws: that of the question itself where it counts people
    anyway, else one more, at the share of a column. A group is withheld or shown as a whole.

    Guarantee: which groups are withheld is computed from noisy counts alone, so it costs what they cost, and a withheld
    group looks the same whatever is in it. It is no promise about the exact number of people, which nobody may know.
    """

    below: int = 0

    FIELDS: ClassVar[tuple[str, ...]] = ("below",)

    def __post_init__(self) -> None:
        if isinstance(self.below, bool) or not isinstance(self.below, int) or not 0 <= self.below <= _MOST:
            why = "people are counted by whole numbers"
            raise BadParameter("below", self.below, why=why, fix="use 10, for example, or 0 to withhold nothing")

    def record(self) -> dict[str, Any]:
        """Return the rule as plain JSON values."""
        return {"below": self.below}

    @classmethod
    def from_record(cls, record: object) -> MinimumFrequency:
        """Read what `record` returned, checking it anew."""
        return cls(**records.fields("withhold", record, cls.FIELDS))

    @classmethod
    def of(cls, listed: Iterable[Any]) -> MinimumFrequency:
        """Return the rule among what a ledger lists of this `KIND`; none where its custodian set none."""
        found = [each for each in listed if each.name == NAME]
        return cls.from_record(found[0].record) if found else cls()

    def counted(self, aggregates: Asked) -> Asked:
        """Return aggregates that count the people of their groups, unless they do already or need not."""
        if not self.below or self.column(aggregates) is not None:
            return aggregates
        return (*aggregates, (COUNTED, People()))

    def column(self, aggregates: Sequence[tuple[str, Aggregate]]) -> str | None:
        """Return the column by whose noisy values groups are withheld; None where none are."""
        return next((name for name, each in aggregates if self.below and isinstance(each, People)), None)

    def withheld(
        self, measures: Sequence[Measure], columns: Mapping[str, Sequence[Quantity]], counted: str
    ) -> dict[str, Sequence[Quantity]]:
        """Return the columns of an answer with nothing in the rows of groups whose noisy count is too small."""
        few = [_number(each) < self.below for each in columns[counted]]
        found: dict[str, Sequence[Quantity]] = {}
        for measure in measures:
            rows = len(measure.labels) if measure.title is not None else 1
            for name in measure.columns:
                cells = columns[name]
                found[name] = tuple(WITHHELD if few[at // rows] else each for at, each in enumerate(cells))
        return found

    def words(self, measure: Measure) -> str:
        """Say in a preview and in an answer which groups are withheld, by which count, and with which chances."""
        half = measure.expected(None).half_width
        count = f"a count of people with {measure.noise} noise, for {measure.price}"
        if half is None:
            return f"groups of fewer than {self.below:,} people are withheld, by {count}"
        sure, few = self.below + half, self.below - half
        below = f"one of fewer than {few:,.0f} is withheld" if few > 0 else "none is so small that it is withheld"
        return (
            f"groups of fewer than {self.below:,} people are withheld, by {count}: a group of {sure:,.0f} people or"
            f" more is shown, and {below}, with probability 0.95 or more"
        )


def _number(quantity: Quantity) -> float:
    point = point_of(quantity)
    return float(point) if isinstance(point, int | float) else 0.0


NONE = MinimumFrequency()
