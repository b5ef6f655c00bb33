"""Sums: what has to be added up for the tallies of a question, proven to fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.core.column import Column
from discreet.core.value import dataclass
from discreet.engines.dialect import MOST_ROWS, NARROW, WIDE, Dialect
from discreet.plan.expressions import Expression
from discreet.plan.keys import Tally
from discreet.plan.refusals import too_wide
from discreet.plan.to_sql.scalar import expression_sql
from discreet.plan.types import type_of
from discreet.plan.whole import OutOfRange, Whole


@dataclass(frozen=True, slots=True)
class Sums:
    """What has to be summed for some tallies: values that several of them share are computed once."""

    tallies: tuple[Tally, ...]
    values: tuple[str, ...]  # the SQL of every value, named
    present: tuple[str, ...]  # for each tally the SQL that is not null where it counts
    added: tuple[Whole | None, ...]  # for each tally what it adds up, None where it only counts
    low: tuple[int, ...]  # what is to be taken off for each row that counts
    most: tuple[int, ...]

    @classmethod
    def of(cls, tallies: Sequence[Tally], columns: Mapping[str, Column], dialect: Dialect, grain: int = 1) -> Sums:
        """Write the values of tallies, proving that their sums fit, of rows that weigh up to `grain`."""
        known: dict[tuple[object, ...], Expression] = {}
        signatures = [[each.signature for each in tally.of] for tally in tallies]
        for tally, written in zip(tallies, signatures, strict=True):
            known |= {mark: each for mark, each in zip(written, tally.of, strict=True) if mark not in known}
        names = [f'"~x{place}"' for place in range(len(known))]
        named = dict(zip(known, names, strict=True))
        values = [_value(expression, columns, dialect) for expression in known.values()]
        sources = [f"{sql} AS {name}" for (sql, _), name in zip(values, names, strict=True)]
        bounds = {name: bound for (_, bound), name in zip(values, names, strict=True)}
        present, added, low, most = [], [], [], []
        for tally, written in zip(tallies, signatures, strict=True):
            used = [named[mark] for mark in written]
            largest = tally.most(columns)
            if largest * grain * MOST_ROWS >= WIDE:
                raise too_wide(tally.of[0])
            most.append(largest)
            part, off = _added(tally, used, bounds, dialect)
            added.append(part)
            low.append(off)
            present.append(_present(used))
        return cls(tuple(tallies), tuple(sources), tuple(present), tuple(added), tuple(low), tuple(most))

    def total(self, place: int, dialect: Dialect) -> str:
        """Write what a tally adds up to over some rows: how many of them count, or the sum of what they add."""
        added, low, count = self.added[place], self.low[place], f"count({self.present[place]})"
        if added is None:
            return count
        total = f"COALESCE({dialect.total(added.sql, low, low + self.most[place])}, 0)"
        return f"{total} - {dialect.cast(str(low), dialect.wide)} * {count}" if low else total

    def is_wide(self, place: int) -> bool:
        """Say whether the sum of a person's values might need the wide type."""
        return self.most[place] * MOST_ROWS >= NARROW


def _value(expression: Expression, columns: Mapping[str, Column], dialect: Dialect) -> tuple[str, tuple[int, int]]:
    column, sql = type_of(expression, columns), expression_sql(expression, columns, dialect)
    if column.kind in ("text", "category"):
        return sql, (0, 0)
    return (dialect.flag_to_integer(sql) if column.kind == "flag" else sql), column.steps


def _added(
    tally: Tally, used: Sequence[str], bounds: Mapping[str, tuple[int, int]], dialect: Dialect
) -> tuple[Whole | None, int]:
    """Write what a tally adds up, and what has to be taken off afterwards for each row."""
    wholes = [Whole.of(name, bounds[name], dialect) for name in used]
    try:
        match tally.kind:
            case "sum" if not wholes[0].wide:
                return wholes[0], wholes[0].low
            case "sum":
                return wholes[0].shifted(-wholes[0].low), 0
            case "product":
                first, second = (each.scaled(2).shifted(-each.low - each.high) for each in wholes)
                return first.times(second).shifted(first.high * second.high), 0
    except OutOfRange:
        raise too_wide(tally.of[0]) from None
    return None, 0


def _present(used: Sequence[str]) -> str:
    if len(used) < 2 or used[0] == used[1]:
        return used[0] if used else "*"
    condition = " AND ".join(f"{name} IS NOT NULL" for name in used)
    return f"CASE WHEN {condition} THEN 1 END"
