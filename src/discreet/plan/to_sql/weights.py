"""Weights: how much each row of a person counts for, in fixed point, where sums are asked for.

A person with N rows, at most K of whom are to count, gives each of them the weight floor(K 2^20 / N), and 2^20 where N
is K or less. No order is needed and nobody's rows are left out; whatever the groups are, a person's weights add up to
at most K 2^20. They bound no number of groups, which `person_bounds` does.

Guarantee: the weight of a row follows from how many rows its person has, and from nothing of anyone else; a row without
an identifier weighs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from discreet.core.value import dataclass
from discreet.engines.dialect import MOST_ROWS, NARROW, Dialect, select
from discreet.engines.engine import Engine
from discreet.plan.stability import GRAIN
from discreet.plan.to_sql.person_bounds import PERSON

WEIGHT = '"~weight"'
_MANY, _ROWS, _SHARE = '"~many"', '"~rows of many"', '"~share"'


@dataclass(frozen=True, slots=True)
class WeighedRows:
    """The `columns` of rows, which may name what each row weighs, as ~weight.

    `keyed` selects what they are made of and ~person of all `rows`, of whom at most `most` count for each person; None
    where they were bounded before.
    """

    keyed: str
    rows: str
    columns: tuple[str, ...]
    most: int | None
    dialect: Dialect

    @property
    def sql(self) -> str:
        """The rows, found anew: only people with too many rows are looked up, all others weigh the same."""
        if self.most is None or self.most >= MOST_ROWS:  # nobody has more
            whole = self.dialect.cast(str(GRAIN), self.dialect.small)
            return select(self.columns, select(("*", f"{whole} AS {WEIGHT}"), _owned(self.keyed)))
        return self._joined(_owned(self.keyed), f"({self._heavy(self.rows)})")

    def remembered(self, engine: Engine) -> str:
        """Return the same rows as the engine keeps them, or the statement where it keeps none.

        Guarantee: they are known by the whole statement that finds them anew: tables, conditions, columns, bound.
        """
        if self.most is None or self.most >= MOST_ROWS:
            return self.sql

        @contextmanager
        def once() -> Iterator[str]:
            """Read the source once, for how many rows people have and for the rows themselves."""
            with engine.kept(_owned(self.keyed)) as read:
                made = nullcontext(self._heavy(select("*", read)))
                yield self._joined(select("*", read), engine.remembered(self._heavy(self.rows), lambda: made))

        found = engine.remembered(self.sql, once)
        return self.sql if found == f"({self.sql})" else found

    def _joined(self, rows: str, heavy: str) -> str:
        weight = f"COALESCE({_SHARE}, {self.dialect.cast(str(GRAIN), self.dialect.small)}) AS {WEIGHT}"
        both = f"({rows}) AS r LEFT JOIN {heavy} AS p ON {PERSON} = {_MANY}"
        return select(self.columns, select(("*", weight), both))

    def _heavy(self, rows: str) -> str:
        """Write what a row of each person weighs who has too many of them."""
        assert self.most is not None
        above, wide = self.most * GRAIN, self.most * GRAIN >= NARROW
        counted = select((f"{PERSON} AS {_MANY}", f"count(*) AS {_ROWS}"), _owned(rows), by=(PERSON,))
        all_of_it = self.dialect.cast(str(above), self.dialect.wide if wide else self.dialect.narrow)
        share = self.dialect.cast(self.dialect.floor_div(all_of_it, _ROWS, wide=wide), self.dialect.small)
        return select((_MANY, f"{share} AS {_SHARE}"), counted, where=f"{_ROWS} > {self.most}")


def _owned(sql: str) -> str:
    return select("*", sql, where=f"{PERSON} IS NOT NULL")
