"""Sketches: few keyed numbers of a table's columns, by which the same people are known in another format.

Every value is written as one text whatever its type, without blanks around it, in lower case and without leading zeros,
and hashed under a secret of the vault by the engine that holds the rows (as in `plan.to_sql.person_bounds`).
The least hashes are kept: a sample that two columns of the same people draw alike (Broder 1997). All columns that can
be read are sketched, declared or not, and whole rows but for the identifier. One pass, at registration and refresh; no
session comes here.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.core.errors import Refusal
from discreet.core.schema import between, date
from discreet.core.value import dataclass, replace
from discreet.engines.dialect import Dialect, dialect_of, select
from discreet.engines.physical import Physical
from discreet.engines.source import home_of
from discreet.plan.to_sql.column_values import READERS
from discreet.plan.to_sql.person_bounds import KEY, ordered

if TYPE_CHECKING:
    from discreet.ask.registered import Registered

# Hashes kept of each column, columns looked at, and bytes of a text that may be an identifier.
MOST, _COLUMNS, _LENGTH = 1024, 100, 200

_ROW_NUMBERS = "__index_level_"  # how pandas calls them
_PLACE, _DIGEST, _TIMES, _EMPTY = '"~place"', '"~digest"', '"~times"', "''"
# With what numbers, infinite ones too, and days begin in `column_values`, blanks apart; truth values are words here.
_BEGIN = "0123456789+-.iI"
_NUMBER = replace(between(-(10**15), 10**15, step=Fraction(1, 1000)), name="~")
_DAY = date("1600-01-01", "2400-12-31")


@dataclass(frozen=True, slots=True)
class IdentifierSketch:
    """The least keyed hashes of what occurs in a column, or of whole rows; all of them where there are few."""

    hashes: tuple[int, ...]

    @property
    def reach(self) -> float:
        """The hash up to which this is all there is."""
        return self.hashes[-1] if len(self.hashes) >= MOST else float("inf")

    def __or__(self, other: IdentifierSketch) -> IdentifierSketch:
        """Return the sketch of what occurs in either."""
        both = sorted({*self.hashes, *other.hashes})
        reach = min(self.reach, other.reach)
        return IdentifierSketch(tuple(each for each in both if each <= reach)[:MOST])

    def shared(self, other: IdentifierSketch) -> tuple[int, int, int]:
        """Return, of a sample of both drawn alike, how much is in this one, in the other, and in both."""
        reach = min(self.reach, other.reach)
        mine, theirs = ({each for each in one.hashes if each <= reach} for one in (self, other))
        return len(mine), len(theirs), len(mine & theirs)


@dataclass(frozen=True, slots=True)
class TableSketches:
    """What is known of a table's people: a sketch of each column that can be read, and of its rows.

    Rows are those that occur once, without the identifier. `counted` are columns declared as what can be counted, whose
    small numbers may well be someone's identifiers; `skipped` those that are not compared.

    Guarantee: it is stored beside the chain, under a secret of the vault, and only custodians' commands read it.
    """

    account: str
    identifier: str | None
    columns: Mapping[str, IdentifierSketch]
    rows: IdentifierSketch | None = None
    counted: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()

    @property
    def people(self) -> IdentifierSketch | None:
        """The sketch of the column that identifies people."""
        return self.columns.get(self.identifier or "")

    def __or__(self, other: TableSketches) -> TableSketches:
        """Return what is known after another version of the same table."""
        columns = dict(self.columns)
        for name, sketch in other.columns.items():
            columns[name] = columns[name] | sketch if name in columns else sketch
        rows = self.rows | other.rows if self.rows and other.rows else self.rows or other.rows
        return replace(self, columns=columns, rows=rows)

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        columns = {name: list(each.hashes) for name, each in self.columns.items()}
        rows = None if self.rows is None else list(self.rows.hashes)
        named = {"counted": list(self.counted), "skipped": list(self.skipped)}
        return {"account": self.account, "identifier": self.identifier, "columns": columns, "rows": rows, **named}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> TableSketches:
        """Read what `record` returned."""
        columns = {name: IdentifierSketch(tuple(each)) for name, each in record["columns"].items()}
        rows = None if record["rows"] is None else IdentifierSketch(tuple(record["rows"]))
        counted, skipped = (tuple(record[name]) for name in ("counted", "skipped"))
        return cls(record["account"], record["identifier"], columns, rows, counted, skipped)


def sketched(registered: Registered, secret: bytes) -> TableSketches | None:
    """Sketch a table; None where the engine could not finish, since no record may decide whether a table is refused."""
    source, names = registered.source, _candidates(registered)
    if registered.identifier is not None and registered.identifier not in names:
        return None  # bytes, lists and the like, which no other format has
    found: dict[int, set[int]] = {place: set() for place in range(len(names) + 1)}
    try:
        with home_of(source).opened([source], secret) as engine, engine.question():
            dialect = dialect_of(engine.name)
            # Kept in between: engines would write the digest of a value out for each use of it.
            with engine.kept(digests_sql(registered, names, dialect)) as digests:
                for place, key in engine.rows(_least_sql(digests, len(found), dialect)):
                    found[int(place or 0)].add(int(key or 0))
    except Refusal:
        return None
    sketches = [IdentifierSketch(tuple(sorted(found[place]))) for place in found]
    return TableSketches(
        registered.account,
        registered.identifier,
        dict(zip(names, sketches, strict=False)),
        sketches[-1],
        tuple(column.name or "" for column in registered.table.columns if column.kind != "text"),
        tuple(name for name in registered.physical if name not in names and not name.startswith(_ROW_NUMBERS)),
    )


def digests_sql(registered: Registered, names: list[str], dialect: Dialect) -> str:
    """Write the digest of each column's value; those of whole rows come last."""
    physical = registered.physical
    values = [f"NULLIF({_identifier(name, physical[name], dialect)}, {_EMPTY})" for name in names]
    others = [name for name in _readable(registered) if name != registered.identifier]
    values.append(f"NULLIF({_row({name: physical[name] for name in others}, dialect)}, {_EMPTY})")
    digests = [f'{dialect.text_number(value)} AS "~d{at}"' for at, value in enumerate(values)]
    return select(digests, registered.from_sql)


def _least_sql(digests: str, places: int, dialect: Dialect) -> str:
    """Write the least keyed hashes of each place, each by a heap of its own rather than by sorting all of them.

    Of whole rows, those that occur once: rows of few columns are alike in every table, whoever they are about.
    """
    least = []
    for at in range(places):
        counted = (f'"~d{at}" AS {_DIGEST}', f"COUNT(*) AS {_TIMES}")
        each = select(counted, digests, where=f'"~d{at}" IS NOT NULL', by=[f'"~d{at}"'])
        each = select((_DIGEST,), each, where=f"{_TIMES} = 1") if at == places - 1 else select((_DIGEST,), each)
        keyed = ordered(each, dialect.digest_limbs(_DIGEST), [], dialect)
        least.append(select("*", f"{select((f'{at} AS {_PLACE}', KEY), keyed)} ORDER BY {KEY} LIMIT {MOST}"))
    return " UNION ALL ".join(least)


def _readable(registered: Registered) -> list[str]:
    # pandas writes the numbers of its rows as a column, which an excerpt has and the whole has not.
    return [
        name
        for name, kind in sorted(registered.physical.items(), key=lambda each: each[0].lower())
        if Physical.parse(kind).family != "other" and not name.startswith(_ROW_NUMBERS)
    ]


def _candidates(registered: Registered) -> list[str]:
    """Return the identifier and all other columns that can be read, as many as are looked at."""
    readable = _readable(registered)
    undeclared = [name for name in registered.physical if name in readable and name not in registered.table]
    return [*dict.fromkeys((*(n for n in readable if n == registered.identifier), *undeclared, *readable))][:_COLUMNS]


def _identifier(name: str, physical: str, dialect: Dialect) -> str:
    """Write an identifier as one text: "P7" and "p7 ", 7, 7.0 and "007" are alike; of a moment, its day."""
    kind, sql = Physical.parse(physical), dialect.quote(name)
    match kind.family:
        case "date":
            return dialect.cast(sql, dialect.text)
        case "timestamp":
            return dialect.cast(dialect.date_of_timestamp(sql), dialect.text)
        case "instant":
            return dialect.cast(dialect.date_of_instant(sql), dialect.text)
        case "text":
            folded = f"regexp_replace({_folded(dialect.person(sql, physical.upper()), dialect)}, '[.]0+$', '')"
            return _short(name, physical, _without_zeros(folded), dialect)
    return _without_zeros(dialect.person(sql, physical.upper()))


def _without_zeros(sql: str) -> str:
    return f"trim(LEADING '0' FROM {sql})"


def _row(columns: Mapping[str, str], dialect: Dialect) -> str:
    """Write a whole row as one text, in the order of its columns' names."""
    parts = [
        f"{dialect.literal(name.lower() + '=')} || COALESCE({_value(name, physical, dialect)}, '')"
        for name, physical in columns.items()
    ]
    return " || '|' || ".join(parts) or _EMPTY


def _value(name: str, physical: str, dialect: Dialect) -> str:
    """Write a value as a text that does not tell how it is stored: numbers in thousandths, moments as their days."""
    kind, sql = Physical.parse(physical), dialect.quote(name)
    number, day = (READERS[column.kind](column, kind, sql, dialect) for column in (_NUMBER, _DAY))
    found = [f"'n' || {dialect.cast(number, dialect.text)}"] if number is not None else []
    if day is not None:
        found.append(f"'d' || {dialect.cast(day, dialect.text)}")
    if kind.family == "text":
        bare = dialect.without_blanks(dialect.cast(sql, dialect.text))
        # To try a comment for all ways in which numbers, days and truth values are written takes many times as long.
        begins = f"{dialect.prefix(bare, 1)} IN ({', '.join(map(dialect.literal, _BEGIN))})"
        found = [f"(CASE WHEN {begins} THEN COALESCE({', '.join(found)}) END)"]
        word, flags = dialect.ascii_lower(bare), "WHEN 'true' THEN 'n1000' WHEN 'false' THEN 'n0'"
        short = f"{dialect.bytes_of(bare)} <= {len('false')}"
        found.append(f"(CASE WHEN {short} THEN CASE {word} {flags} ELSE {word} END ELSE {word} END)")
    return _short(name, physical, f"COALESCE({', '.join([*found, dialect.cast('NULL', dialect.text)])})", dialect)


def _folded(sql: str, dialect: Dialect) -> str:
    return dialect.ascii_lower(dialect.without_blanks(sql))


def _short(name: str, physical: str, sql: str, dialect: Dialect) -> str:
    """Leave out texts that nobody would type, so none of them decides how long this takes."""
    if physical.upper() != "VARCHAR":
        return sql
    return f"(CASE WHEN {dialect.bytes_of(dialect.plain_text(dialect.quote(name)))} <= {_LENGTH} THEN {sql} END)"
