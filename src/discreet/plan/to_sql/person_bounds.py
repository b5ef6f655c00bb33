"""Bounding: which of a person's rows and groups count, decided by an order that only the vault's secret knows.

The order is that of a hash of the person and of the row's own columns, or of the group's (Carter and Wegman 1979: sums
of products modulo a prime, with secret multipliers), cubed, so that people with alike rows are not ordered alike. Among
groups the group itself breaks ties; among rows a second hash does, and where two different rows tie nevertheless, once
in 2^62, either is kept. It is made of integer arithmetic alone, so that all engines find the same order, which no row
of anyone else and no place in a file can change.

Guarantee: whatever the order, a person keeps at most so many rows, in at most so many groups, exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from discreet.core.column import Column
from discreet.engines.dialect import MOST_ROWS as MOST_ROWS
from discreet.engines.dialect import NARROW, WIDE, Dialect, named, select
from discreet.engines.engine import MULTIPLIERS, ORDER_TABLE, PRIME
from discreet.plan.refusals import too_wide
from discreet.plan.whole import is_wide

# What is computed on the way; no column of a table may begin with ~.
PERSON, KEY, RANK, START = '"~person"', '"~key"', '"~rank"', '"~start"'
ROWS, UPTO, ALL, ALLOTTED = '"~n"', '"~upto"', '"~all"', '"~a"'

_BITS = 31
_LIMB = 1 << _BITS
# Whole numbers of fewer digits fit the narrow integers, and are recognised in a text by their spelling.
_SHORT = 10**18
_SHORT_TEXT = "-?[1-9][0-9]{0,17}|0"
_CUBED = f'("~t" * "~t" % {PRIME} * "~t" % {PRIME})'
# So many products below 2^59 add up to less than 2^62.
_TERMS = 8


def limbs(column: Column, sql: str, dialect: Dialect) -> list[str]:
    """Write a value as numbers from 0 to 2^31 - 1: the same for equal values, and others for others; null is 0."""
    match column.kind:
        case "flag":
            return [f"(CASE WHEN {sql} THEN 2 WHEN NOT {sql} THEN 1 ELSE 0 END)"]
        case "text":
            return _hashed(sql, dialect)
        case "category":
            return [f"COALESCE({dialect.cast(dialect.position(sql, column.keys or ()), dialect.narrow)}, 0)"]
    low, high = column.steps
    if high - low + 1 >= WIDE:
        raise too_wide(column.name)
    counted, least = f"COALESCE({sql} - {_integer(low - 1, low, high, dialect)}, 0)", high - low + 1
    if least < _LIMB:
        return [dialect.cast(counted, dialect.narrow)] if is_wide(low, high) else [counted]
    found = []
    for place in range(-(-least.bit_length() // _BITS)):
        unit = 1 << _BITS * place
        wide = is_wide(low, high) or is_wide(unit, least)
        shifted = dialect.floor_div(counted, _integer(unit, unit, least, dialect), wide=wide)
        found.append(dialect.cast(dialect.remainder(shifted, str(_LIMB), wide=wide), dialect.narrow))
    return found


def person_limbs(whole: bool, dialect: Dialect) -> list[str]:
    """Write who a row belongs to as numbers from 0 to 2^31 - 1; `whole` says that people are stored as whole numbers.

    Guarantee: they follow from the identifier's text alone: 7 has the same place as an integer, a float, a decimal or a
    text. Whole numbers of at most 18 digits are their own lowest bits, which costs least; all others are digests.
    """
    text = dialect.cast(PERSON, dialect.text) if whole else PERSON
    short = f"{PERSON} BETWEEN {1 - _SHORT} AND {_SHORT - 1}" if whole else dialect.matches(PERSON, _SHORT_TEXT)
    number = PERSON if whole else dialect.try_cast(f"(CASE WHEN {short} THEN {PERSON} END)", dialect.narrow)
    if dialect.shares_digests:
        # The digest of a whole number is hardly ever needed, and is no column that would be computed for every row.
        digests = (
            [f"COALESCE({part}, 0)" for part in dialect.digest_limbs(dialect.text_number(text))] if whole else None
        )
        return [
            _either(short, bits, digest)
            for bits, digest in zip(_two_limbs(number, dialect), digests or _hashed(PERSON, dialect), strict=True)
        ]
    most = _LIMB * _LIMB - 1
    digest = dialect.cast(f"({dialect.text_number(text)} & {most})", dialect.narrow)
    return _two_limbs(f"COALESCE((CASE WHEN {short} THEN {number} & {most} ELSE {digest} END), 0)", dialect)


def _two_limbs(number: str, dialect: Dialect) -> list[str]:
    return [dialect.low_bits(number, _BITS), dialect.low_bits(dialect.high_bits(number, _BITS), _BITS)]


def _either(condition: str, one: str, other: str) -> str:
    sql = f"(CASE WHEN {condition} THEN {one} ELSE {other} END)"
    return _Limb.of(sql, other.digest) if isinstance(other, _Limb) else sql


def ordered(sql: str, numbers: Sequence[str], people: Sequence[str], dialect: Dialect) -> str:
    """Add the place of rows in the secret order as the column ~key."""
    first, second = (_hash(letter, [*people, *numbers]) for letter in "ab")
    digested = _digested(sql, [*people, *numbers], dialect)
    hashed = select(("*", f'{first} AS "~t"', f'{second} AS "~w"'), f"{named(digested)}, {ORDER_TABLE}")
    return select(("*", f'{_CUBED} * {_LIMB} + "~w" AS {KEY}'), dialect.once(hashed))


def ordered_groups(sql: str, numbers: Sequence[str], people: Sequence[str], dialect: Dialect) -> str:
    """Add the place of groups in the secret order as ~key, where groups may tie, and a number of the person's own as
    ~start.
    """  # noqa: D205
    first, start = _hash("a", [*people, *numbers]), _hash("b", people)
    digested = _digested(sql, [*people, *numbers], dialect)
    hashed = select(("*", f'{first} AS "~t"', f"{start} AS {START}"), f"{named(digested)}, {ORDER_TABLE}")
    # Engines sort by short keys several times as fast as by long ones.
    return select(("*", f"{dialect.cast(_CUBED, dialect.small)} AS {KEY}"), dialect.once(hashed))


def first_rows(sql: str, most: int, within: Iterable[str] = ()) -> str:
    """Keep at most so many rows of each person, of those with equal values of `within`: the first ones in the order."""
    by = ", ".join((PERSON, *within))
    rank = f"row_number() OVER (PARTITION BY {by} ORDER BY {KEY}) AS {RANK}"
    return select("*", select(("*", rank), sql), where=f"{RANK} <= {most}")


def first_groups(sql: str, groups: Sequence[str], most: int) -> str:
    """Keep the rows of at most so many groups of each person, after `ordered_groups`."""
    # Equal places in the order count as one rank: without the groups themselves a tie would let one more in.
    by = ", ".join((KEY, *groups))
    rank = f"dense_rank() OVER (PARTITION BY {PERSON} ORDER BY {by}) AS {RANK}"
    return select("*", select(("*", rank), sql), where=f"{RANK} <= {most}")


def allotted(sql: str, groups: Sequence[str], dialect: Dialect, max_rows: int, max_groups: int | None) -> str:
    """Allot each person's rows to their groups, ~n in each, as the column ~a, after `ordered_groups`.

    With a bound on groups the first ones in the order are filled one after the other. Without one, all groups share in
    proportion to their rows: systematic sampling from a secret start of the person's own, so that a group gets
    max_rows * n / N rows on average, rounded up or down, and no more than max_rows groups get any. What a group gets on
    average does not depend on the order of groups, which is therefore that of the answer, the cheapest.

    Guarantee: the ~a of a person are at most max_rows in all, each at most ~n, in at most max_groups groups.
    """
    by = ", ".join(groups if max_groups is None else (KEY, *groups))
    window = f"(PARTITION BY {PERSON} ORDER BY {by} ROWS UNBOUNDED PRECEDING)"
    upto = f"{dialect.cast(f'sum({ROWS}) OVER {window}', dialect.narrow)} AS {UPTO}"
    if max_groups is not None:
        ranked = select(("*", f"row_number() OVER {window} AS {RANK}", upto), sql)
        room = f"greatest(0, {max_rows} - ({UPTO} - {ROWS}))"
        return select(("*", f"least({ROWS}, {room}) AS {ALLOTTED}"), ranked, where=f"{RANK} <= {max_groups}")
    total = f"{dialect.cast(f'sum({ROWS}) OVER (PARTITION BY {PERSON})', dialect.narrow)} AS {ALL}"
    wide = max_rows * MOST_ROWS >= NARROW
    most = dialect.cast(str(max_rows), dialect.wide if wide else dialect.narrow)

    def below(rows: str) -> str:
        start = dialect.remainder(START, ALL)
        return dialect.floor_div(f"({most} * {rows} + {start})", ALL, wide=wide)

    share = dialect.cast(f"{below(UPTO)} - {below(f'({UPTO} - {ROWS})')}", dialect.narrow)
    shared = f"CASE WHEN {ALL} <= {max_rows} THEN {ROWS} ELSE {share} END AS {ALLOTTED}"
    return select("*", select(("*", shared), select(("*", upto, total), sql)), where=f"{ALLOTTED} > 0")


def shrunk(total: str, rows: str, dialect: Dialect, *, wide: bool) -> str:
    """Write (total * allotted) // rows, or the total itself where all rows were allotted.

    Written as quotient and remainder, whose products stay small; both are non-negative, so that all engines agree.
    `wide` says that the total is of the wide type.
    """
    quotient, rest = dialect.floor_div(total, rows, wide=wide), dialect.remainder(total, rows, wide=wide)
    part = f"{quotient} * {ALLOTTED} + {dialect.floor_div(f'({rest} * {ALLOTTED})', rows, wide=wide)}"
    return f"CASE WHEN {rows} <= {ALLOTTED} THEN {total} ELSE {part} END"


def _hash(letter: str, numbers: Iterable[str]) -> str:
    """Write a sum of products modulo the prime; columns beyond the last multiplier only fail to break ties."""
    products = [f'{number} * "~{letter}{place}"' for place, number in enumerate(numbers, 1) if place < MULTIPLIERS]
    sums = [" + ".join(products[start : start + _TERMS]) for start in range(0, len(products), _TERMS)]
    parts = [f'"~{letter}0"', *(f"({each}) % {PRIME}" for each in sums)]
    return f"({' + '.join(parts)}) % {PRIME}"


class _Limb(str):
    """A limb of a text whose digest is a column of its own, computed in advance."""

    __slots__ = ("digest",)
    digest: str

    @classmethod
    def of(cls, sql: str, digest: str) -> _Limb:
        """Name the column and what it holds, as written in a SELECT."""
        found = cls(sql)
        found.digest = digest
        return found


def _hashed(sql: str, dialect: Dialect) -> list[str]:
    number = dialect.text_number(sql)
    if not dialect.shares_digests:
        return [f"COALESCE({part}, 0)" for part in dialect.digest_limbs(number)]
    column = dialect.quote(f"~d {sql}")
    return [_Limb.of(f"COALESCE({part}, 0)", f"{number} AS {column}") for part in dialect.digest_limbs(column)]


def _digested(sql: str, numbers: Iterable[str], dialect: Dialect) -> str:
    """Add the digests of texts as columns, for engines that would compute them again for each use."""
    digests = dict.fromkeys(number.digest for number in numbers if isinstance(number, _Limb))
    return dialect.once(select(("*", *digests), sql)) if digests else sql


def _integer(value: int, low: int, high: int, dialect: Dialect) -> str:
    return dialect.cast(str(value), dialect.wide if is_wide(low, high) else dialect.narrow)
