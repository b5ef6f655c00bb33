"""Lint: what a custodian should look at before letting anyone ask; it reads exact data, and is for them alone.

Nothing here is private: every figure is exact. No session reaches this module, and no answer, preview or refusal an
analyst sees depends on what it remarks.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from discreet.account.budgets.budget import Budget
from discreet.ask.registered import Registered, check_columns, same_people, unread_lines
from discreet.core.column import Column
from discreet.core.errors import Refusal
from discreet.core.rational import as_written
from discreet.core.schema import Table
from discreet.curator.quasi_identifiers import quasi_identifiers
from discreet.curator.raw_values import quoted, values_sql
from discreet.curator.spelling import merging
from discreet.engines.duckdb.engine import connect
from discreet.engines.physical import Physical
from discreet.engines.source import Source, home_of, locate
from discreet.plan.to_sql.scalar import raw_sql

if TYPE_CHECKING:
    import duckdb

Severity = Literal["error", "warning", "note"]

# Shares below these are the odd ends of any real table.
_CLAMPED, _DROPPED, _UNIQUE = 0.05, 0.05, 0.05
_LARGE_EPSILON = 10

# Bounds on rows that are tried out, and shown with what each would cut.
_BOUNDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)

# How values are written in text, for custodians whose own are written otherwise.
_WRITTEN = {
    "number": "numbers are written like 1200.5 and 1e3, without separators",
    "date": "days are written like 2024-02-29",
    "flag": "flags are written as true, t, yes, y, 1 and false, f, no, n, 0",
    "text": "texts are read from text, integers and flags",
}

# Bounds are looked at to so many decimals; and numbers that clocks, calendars and laws put into people's heads.
_FINE = 10**9
_EVERYDAY = frozenset({"12", "16", "18", "21", "23", "24", "31", "52", "59", "365", "366"})


@dataclass(frozen=True, slots=True)
class Remark:
    """A thing to look at: an `error` breaks a promise, a `warning` costs privacy or accuracy, a `note` may be meant."""

    severity: Severity
    table: str
    column: str | None
    what: str
    why: str
    fix: str

    def record(self) -> dict[str, str | None]:
        """Return the fields as plain JSON values."""
        return asdict(self)


def lint_source(table: Table, source: str | Path | Source, budget: Budget | None = None) -> list[Remark]:
    """Compare a declaration with the exact rows of a source before anything is registered; no vault is needed."""
    located = locate(source)
    settled = home_of(located).settle(located)
    physical = home_of(settled).describe(settled)
    check_columns(table, physical)
    return lint(Registered(table, settled, 0, table.name, physical), budget)


def lint(registered: Registered, budget: Budget | None) -> list[Remark]:
    """Compare a table's declaration with its exact rows, and return what does not fit, the worst first."""
    import duckdb

    alike = [
        Remark("note", registered.name, registered.identifier, *words) for words in map(same_people, registered.alike)
    ]
    if not registered.source.is_file:
        what, why = f"its rows are in {registered.engine}", "lint reads files, and these rows are not copied here"
        fix = "compare bounds, keys and rows per person with the exact rows there"
        return [Remark("note", registered.name, None, what, why, fix), *alike]
    with connect() as engine:
        try:
            engine.execute(f"CREATE VIEW source AS SELECT * FROM {registered.from_sql}")  # noqa: S608  (quoted)
            unread = [Remark("warning", registered.name, None, *words) for words in unread_lines(registered.source)]
            found = [*_remarks(engine, registered, budget), *unread, *alike]
        except duckdb.Error:
            why, fix = "its files cannot be read as registered", f"run discreet refresh {registered.name}"
            raise Refusal(f"the source of {registered.name!r}", why=why, fix=fix, value=registered.name) from None
    order = ("error", "warning", "note")
    return sorted(found, key=lambda remark: order.index(remark.severity))


def _remarks(engine: duckdb.DuckDBPyConnection, registered: Registered, budget: Budget | None) -> Iterator[Remark]:
    table = registered.table
    (rows,) = _one(engine, "SELECT count(*) FROM source")
    yield from _sizes(engine, registered, budget, rows)
    if not rows:
        yield Remark("warning", table.name, None, "no rows", "every answer is only noise", "check the source")
        return
    yield from _people(engine, registered, rows)
    for column in table.columns:
        yield from _column(engine, registered, column, rows)
    # An identifier is unique by its nature, and is never asked about.
    asked = [column for column in table.columns if column.name != table.unit.identifier]
    for names, share in quasi_identifiers(engine, asked, registered.physical, rows, _UNIQUE):
        yield Remark(
            "note",
            table.name,
            ", ".join(names),
            f"{share:.0%} of the rows are unique on {' + '.join(names)}",
            "anyone who knows these values of a person finds the row in an unprotected copy",
            "do not share exact rows with these columns together; private answers are still protected",
        )


def _sizes(
    engine: duckdb.DuckDBPyConnection, registered: Registered, budget: Budget | None, rows: int
) -> Iterator[Remark]:
    table, identifier = registered.table, registered.table.unit.identifier
    if table.rows is not None and table.rows != rows:
        what = f"{table.rows:,} rows are declared and there are {rows:,}"
        fix = "declare the size that is public, or none; never the exact one if it is secret"
        yield Remark("warning", table.name, None, what, "previews and means rely on the declared size", fix)
    units = rows if identifier is None else _one(engine, f"SELECT count(DISTINCT {quoted(identifier)}) FROM source")[0]  # noqa: S608
    if budget is None:
        return
    delta = None if budget.delta is None else as_written("delta", budget.delta)
    if delta and units and delta >= Fraction(1, units):
        whom = "rows" if identifier is None else "people"
        why = f"there are {units:,} {whom}, so the delta alone allows one of them to be fully revealed"
        fix = f"use a delta well below {1 / units:.0e}, such as {1 / units / 100:.0e}"
        yield Remark("error", table.name, None, f"delta {float(delta):g} is not below 1/n", why, fix)
    epsilon = None if budget.epsilon is None else as_written("epsilon", budget.epsilon)
    if epsilon is not None and epsilon > _LARGE_EPSILON:
        why = f"the odds of any guess about a person may increase by a factor of e^{float(epsilon):g}"
        yield Remark("warning", table.name, None, f"epsilon {float(epsilon):g} is a weak guarantee", why, "use less")


def _people(engine: duckdb.DuckDBPyConnection, registered: Registered, rows: int) -> Iterator[Remark]:
    unit = registered.table.unit
    if unit.identifier is None:
        return
    yield from _floating_people(engine, registered, unit.identifier)
    yield from _merging_people(engine, registered, unit.identifier)
    name = quoted(unit.identifier)
    nameless, most, *_ = _one(
        engine,
        f"SELECT coalesce(sum(n) FILTER (WHERE p IS NULL), 0), coalesce(max(n) FILTER (WHERE p IS NOT NULL), 0)"  # noqa: S608
        f" FROM (SELECT {name} AS p, count(*) AS n FROM source GROUP BY 1)",
    )
    if nameless:
        why = "nobody knows whose they are, so they cannot be bounded per person"
        fix = f"fill {unit.identifier!r} or leave these rows out of the source"
        yield Remark(
            "warning", registered.name, unit.identifier, f"{_share(nameless, rows)} have no identifier", why, fix
        )
    if not isinstance(unit.max_rows, int):
        return
    (dropped,) = _one(
        engine,
        f"SELECT coalesce(sum(n - {unit.max_rows}), 0) FROM (SELECT count(*) AS n FROM source"  # noqa: S608
        f" WHERE {name} IS NOT NULL GROUP BY {name} HAVING count(*) > {unit.max_rows})",
    )
    yield from _cut(engine, registered, name, rows)
    if dropped / rows >= _DROPPED:
        what = f"{_share(dropped, rows)} are dropped by max_rows={unit.max_rows}"
        why = f"one person has {most:,}; totals are too small by what is dropped"
        yield Remark("warning", registered.name, unit.identifier, what, why, "raise max_rows, for more noise")


def _cut(engine: duckdb.DuckDBPyConnection, registered: Registered, name: str, rows: int) -> Iterator[Remark]:
    """Say which share of all rows several bounds would cut, up to the first that cuts none."""
    bounds, cut = [], []
    for bound in _BOUNDS:
        (beyond,) = _one(
            engine,
            f"SELECT coalesce(sum(n - {bound}), 0) FROM (SELECT count(*) AS n FROM source"  # noqa: S608
            f" WHERE {name} IS NOT NULL GROUP BY {name} HAVING count(*) > {bound})",
        )
        bounds.append(f"{bound:,}")
        cut.append(f"{beyond / rows:.2g}" if 0 < beyond / rows < 0.001 else f"{beyond / rows:.1%}")
        if not beyond:
            break
    if len(bounds) == 1:  # nobody has several rows
        return
    what = f"bounds of {', '.join(bounds)} rows a person would cut {', '.join(cut)} of all rows"
    why = f"what a bound cuts is in no interval of an answer; declared is max_rows={registered.table.unit.max_rows}"
    fix = "register the least bound that cuts little; these figures are exact, so show them to nobody"
    yield Remark("note", registered.name, registered.identifier, what, why, fix)


def _merging_people(engine: duckdb.DuckDBPyConnection, registered: Registered, identifier: str) -> Iterator[Remark]:
    if found := merging(engine, identifier, registered.physical[identifier]):
        spelled, people, (one, other) = found
        what = f"{spelled:,} identifiers become {people:,} without spaces and case, such as {one!r} and {other!r}"
        why = "if these are the same people, each counts as several, and may lose several times the guarantee"
        yield Remark("warning", registered.name, identifier, what, why, "spell each person the same way in the source")


def _floating_people(engine: duckdb.DuckDBPyConnection, registered: Registered, identifier: str) -> Iterator[Remark]:
    exact = _exact_whole(registered.physical[identifier])
    if exact is None:
        return
    name = quoted(identifier)
    (beyond,) = _one(engine, f"SELECT count(*) FROM source WHERE isfinite({name}) AND abs({name}) > {1 << exact}")  # noqa: S608
    fix = f'store it as text or integers; in pandas: frame["{identifier}"].astype("Int64")'
    if beyond:
        what = f"{beyond:,} {'row has' if beyond == 1 else 'rows have'} a floating-point identifier beyond 2^{exact}"
        why = "integers are rounded there, so different people become one and count as one"
        yield Remark("warning", registered.name, identifier, what, why, fix)
    else:
        what = "people are identified by floating-point numbers"
        why = f"beyond 2^{exact} they are rounded, and different people would become one; none is so far"
        yield Remark("note", registered.name, identifier, what, why, fix)


def _floating(registered: Registered, column: Column) -> Iterator[Remark]:
    """Remark on a declared range of which floating-point numbers cannot hold every step."""
    assert column.name is not None
    exact = _exact_whole(registered.physical[column.name])
    if exact is None or column.kind != "number" or max(map(abs, column.steps)) <= 1 << exact:
        return
    what = f"its bounds are more than 2^{exact} steps from zero, and it is stored as floating-point numbers"
    why = "far from zero these are rounded to more than a step, and different values become one"
    fix = f'store it as integers or decimals (in pandas: frame["{column.name}"].astype("Int64"))'
    yield Remark("warning", registered.name, column.name, what, why, f"{fix}, or declare a coarser step")


def _exact_whole(physical: str) -> int | None:
    """Return up to which power of two a floating-point type holds every integer; None for other types."""
    kind = Physical.parse(physical)
    return None if kind.family != "double" else 53 if kind.name == "DOUBLE" else 24


def _column(engine: duckdb.DuckDBPyConnection, registered: Registered, column: Column, rows: int) -> Iterator[Remark]:
    assert column.name is not None
    name, value = registered.name, values_sql(column, registered.physical[column.name])
    (present,) = _one(engine, f"SELECT count({value}) FROM source")  # noqa: S608
    yield from _readable(engine, registered, column, rows)
    yield from _floating(registered, column)
    if column.kind in ("number", "date") and present:
        yield from _bounds(engine, name, column, value, present)
    if column.kind == "category":
        yield from _keys(engine, name, column, value, present)


def _readable(engine: duckdb.DuckDBPyConnection, registered: Registered, column: Column, rows: int) -> Iterator[Remark]:
    """Compare what is there with what the engine reads, by its own words for reading."""
    assert column.name is not None
    raw = quoted(column.name)
    read = raw_sql(column, registered.physical[column.name])
    # A blank field and a NaN are ways to write null; an undeclared key has a remark of its own.
    written = f"lower(trim(CAST({raw} AS VARCHAR))) NOT IN ('', 'nan')"
    empty, lost = _one(
        engine,
        f"SELECT count(*) FILTER (WHERE {read} IS NULL), count(*) FILTER (WHERE {read} IS NULL AND {written})"  # noqa: S608
        " FROM source",
    )
    if empty and not column.nullable:
        why = "the declaration says there are none"
        fix = "leave nullable=False out, or fix the source"
        yield Remark("error", registered.name, column.name, f"{_share(empty, rows)} are null or unreadable", why, fix)
    elif lost and column.kind != "category":
        seen = engine.execute(
            f"SELECT CAST({raw} AS VARCHAR) AS v FROM source WHERE {read} IS NULL AND {written}"  # noqa: S608
            " GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 3"
        ).fetchall()
        what = f"{_share(lost, rows)} cannot be read as a {column.kind}: {', '.join(repr(text) for (text,) in seen)}"
        why = f"they count as null, in every answer; {_WRITTEN[column.kind]}"
        yield Remark("warning", registered.name, column.name, what, why, "fix the source, or declare what it contains")


def _bounds(
    engine: duckdb.DuckDBPyConnection, table: str, column: Column, value: str, present: int
) -> Iterator[Remark]:
    assert column.bounds is not None
    low, high = column.bounds
    least, most = _one(engine, f"SELECT min({value}), max({value}) FROM source")  # noqa: S608
    for side, bound, exact in (("lower", low, least), ("upper", high, most)):
        if _number(bound) == _number(exact) and not is_round(bound):
            what = (
                f"the {side} bound {_written(bound)} is the {'least' if side == 'lower' else 'largest'} value there is"
            )
            why = "a bound copied from the data reveals the person who has it, outside the budget"
            yield Remark("warning", table, column.name, what, why, "declare a bound you would know without looking")
    ends = [_number(low), _number(high)]
    if column.kind == "date":
        value = f"({value} - DATE '1970-01-01')"
    (outside,) = _one(engine, f"SELECT count(*) FROM source WHERE {value} < ? OR {value} > ?", ends)  # noqa: S608
    if outside / present >= _CLAMPED:
        what = f"{outside / present:.0%} of the values lie outside {_written(low)}..{_written(high)}"
        why = "they are clamped, which shifts sums and means"
        yield Remark("warning", table, column.name, what, why, "widen the bounds, for more noise")


def _keys(engine: duckdb.DuckDBPyConnection, table: str, column: Column, value: str, present: int) -> Iterator[Remark]:
    assert column.keys is not None
    found = dict(engine.execute(f"SELECT {value} AS k, count(*) FROM source WHERE k IS NOT NULL GROUP BY 1").fetchall())  # noqa: S608
    others = {key: count for key, count in found.items() if key not in column.keys}
    if others:
        shown = ", ".join(repr(key) for key in sorted(others, key=lambda key: (-others[key], str(key)))[:3])
        what = f"{_share(sum(others.values()), present)} have keys that are not declared: {shown}"
        why = "they count as null, and appear in no group"
        yield Remark("warning", table, column.name, what, why, "declare these keys, if they are not secret themselves")
    unused = [key for key in column.keys if key not in found]
    if unused:
        what = f"nobody has {', '.join(repr(key) for key in unused[:3])}{' and others' if len(unused) > 3 else ''}"
        why = "the key appears in every answer, with noise; that is correct, unless it is a typo"
        yield Remark("note", table, column.name, what, why, "check the spelling")


def is_round(bound: Fraction | dt.date) -> bool:
    """Whether a person might choose this bound without data: 0, 110, 0.25, 999, the end of a month."""
    if isinstance(bound, dt.date):
        return bound.day == 1 or (bound + dt.timedelta(days=1)).day == 1
    if _FINE % bound.denominator:
        return bound.numerator in (-1, 0, 1)
    whole = str(abs(bound * _FINE).numerator).lstrip("0")
    digits = whole.rstrip("0")
    # 110 and 0.25 are chosen; 96 might be someone's age.
    return (
        len(digits) <= 1
        or digits in _EVERYDAY
        or set(digits) == {"9"}
        or (len(digits) == 2 and _is_plain(bound, digits))
    )


def _is_plain(bound: Fraction, digits: str) -> bool:
    return digits.endswith("5") or (abs(bound) >= 100 and bound % 10 == 0)


def _number(value: Any) -> float | int:  # noqa: ANN401  (a bound, or what the engine returns)
    if isinstance(value, str):  # a day that Python's calendar does not have, and that is no bound therefore
        return math.nan
    return (value - dt.date(1970, 1, 1)).days if isinstance(value, dt.date) else float(value)


def _written(bound: Fraction | dt.date) -> str:
    return bound.isoformat() if isinstance(bound, dt.date) else f"{float(bound):.12g}"


def _share(count: int, of: int) -> str:
    share = count / of
    return f"{count:,} rows ({share:.0%})" if share >= 0.01 or not count else f"{count:,} rows (below 1%)"


def _one(engine: duckdb.DuckDBPyConnection, sql: str, parameters: list[Any] | None = None) -> tuple[Any, ...]:
    found = engine.execute(sql, parameters or []).fetchone()
    assert found is not None
    return tuple(found)
