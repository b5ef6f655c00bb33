"""Row bound: how many rows of a person a table uses, bought by its custodian from the table's own budget."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from discreet.account.numeric.checks import positive
from discreet.ask.priced import bounded
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass, replace
from discreet.ledger.refusals import LimitExceeded
from discreet.plan import aggregates

if TYPE_CHECKING:
    from discreet.ask.registered import Registered
    from discreet.core.rational import Number
    from discreet.core.schema import Table
    from discreet.curator.session import Session
    from discreet.curator.tables import Tables

# Whose question it is, in the ledger.
ASKED_BY = "custodian (max_rows)"


class Custodian(Protocol):
    """Who buys: a `Curator`, as far as it takes."""

    def table(self, name: str) -> Registered:
        """Return a registered table."""

    def grant(self, analyst: str, tables: str) -> str:
        """Let someone ask about a table, and return the token."""

    def session(self, token: str) -> Session:
        """Open a session."""

    def revoke(self, who: str) -> tuple[str, ...]:
        """End what was granted."""


@dataclass(frozen=True, slots=True)
class RowBound:
    """A number of rows that is to be bought for `epsilon`: at most as many as `table` declares.

    It is the maximum of the rows of all people, as far inside as the exponential mechanism can tell it from empty
    space (`dp.max` of one row for each person): so few people have more that noise for their rows would cost others
    more than it gave.

    Guarantee: it is a question like others, charged to the account of the table before a row is read, as `dp.max` is:
    pure epsilon, for people. A retry replays it.
    """

    table: Table
    epsilon: Fraction

    @classmethod
    def of(cls, table: Table, epsilon: Number) -> RowBound:
        """Check what is to be bought, before the table is registered."""
        unit = table.unit
        if unit.is_row or unit.max_rows == 1:
            why = "a number of rows is chosen among 1 to max_rows, and here there is one"
            fix = "leave it out, or use person('patient_id', max_rows=200), the most that you would allow"
            raise BadParameter("auto_rows", str(epsilon), why=why, fix=fix)
        return cls(table, Fraction(positive("auto_rows", epsilon)))

    def settled(self, tables: Tables) -> Table:
        """Return the table as it is declared already, if its number of rows was bought on these terms."""
        bought = tables.get(self.table.name).bought if self.table.name in tables.names() else None
        if bought is None or self._terms.items() - bought.items():
            return self.table
        return replace(self.table, unit=bounded(self.table.unit, bought["rows"]))

    def choose(self, curator: Custodian, tables: Tables) -> Registered:
        """Pay, and declare the number of rows that was bought; what was bought already is not bought again."""
        before = curator.table(self.table.name)
        if before.bought is not None:
            return before
        name, grant = before.name, curator.grant(ASKED_BY, before.name)
        try:
            people = curator.session(grant).table(name).per_person(rows=aggregates.count())
            answer = people.agg(rows=aggregates.max("rows")).release(epsilon=self.epsilon)
        except LimitExceeded as refusal:
            most = self.table.unit.max_rows
            refusal.fix = f"{refusal.fix}; until then {name} is registered with max_rows={most}"
            raise
        finally:
            curator.revoke(ASKED_BY)
        (row,) = answer
        # So few people that nothing can be told at this price have no maximum: then the declared bound stays.
        rows = self.table.unit.max_rows if row["rows"] is None else max(1, int(row["rows"]))
        assert answer.receipt is not None
        terms = {**self._terms, "rows": rows, "entry": answer.receipt["sequence"]}
        unit = bounded(self.table.unit, rows)
        return tables.declare(before, replace(before.table, unit=unit), before.revision, bought=terms)

    @property
    def _terms(self) -> dict[str, Any]:
        return {"most": self.table.unit.max_rows, "epsilon": str(self.epsilon)}
