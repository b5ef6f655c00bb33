"""Batches: bounded rows as integer codes, part by part, for code of the package whose work is no sum in SQL.

Gradients, blocks and medians of functions need single rows. They come as `Exact` batches, to be summed person by person
(`discreet.plan.person_sums`); no other code sees one, and none is written down. A batch is for ever the same people:
those whose secret hash lies in its part of the range. How many batches there are is public, and whoever comes or goes
changes one of them, by their own rows.

What the engine computes of a person is a hash whose multipliers are secret, but linear ones. Blocks and samples are
drawn by the output of a cipher on it, under a key that is derived from the same secret, so that no two purposes and no
two people go together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import groupby

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.core.exact import Exact
from discreet.core.unit import Unit
from discreet.core.value import dataclass
from discreet.engines.dialect import NARROW, Dialect, select
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.engine import PRIME, Engine
from discreet.plan.expressions import Expression
from discreet.plan.keys import NO_KEYS
from discreet.plan.nodes import Plan
from discreet.plan.refusals import too_wide
from discreet.plan.to_sql.person_bounds import KEY, PERSON, RANK, first_rows, ordered
from discreet.plan.to_sql.rows import Relations, base_columns, row_limbs, tables_under
from discreet.plan.to_sql.scalar import expression_sql
from discreet.plan.to_sql.statement import SettledPlan
from discreet.plan.types import type_of
from discreet.plan.whole import OutOfRange, Whole

Hashes = NDArray[np.uint64]

_KEY_BYTES = 32
_BITS = 64


def person_hashes(keys: NDArray[np.int64], places: NDArray[np.int64], secret: bytes) -> Hashes:
    """Return a uniform number for each person, of what the engine hashed of them and a place among equal ones.

    Guarantee: a number follows from the secret, the key and the place, and from nobody else: AES-256 of the two as one
    block, under a key that the secret alone determines.
    """
    if not secret:
        raise BadParameter("secret", None, why="without one anybody could compute the numbers", fix="use the vault's")
    key = hashlib.blake2b(b"discreet person hash", key=hashlib.sha256(secret).digest(), digest_size=_KEY_BYTES).digest()
    blocks = np.empty((len(keys), 2), "<u8")
    blocks[:, 0], blocks[:, 1] = keys, places
    return _enciphered(blocks, key)


def derived(hashes: Hashes, key: bytes) -> Hashes:
    """Return other uniform numbers of the same people: of another key, independent ones.

    The key is that of a debit's draws where the numbers are coins, and a public name where they only divide people:
    the hashes themselves are secret.
    """
    blocks = np.zeros((len(hashes), 2), "<u8")
    blocks[:, 0] = hashes
    return _enciphered(blocks, hashlib.sha256(b"discreet derived\0" + key).digest())


def block_numbers(hashes: Hashes, many: int, name: str) -> NDArray[np.int64]:
    """Return which of so many blocks each person is in, for blocks of one name.

    Guarantee: a block follows from the person alone. Whoever comes or goes moves nobody else from theirs.
    """
    if many < 1:
        raise BadParameter("blocks", many, why="people are divided into at least one", fix="use 1 or more")
    found: NDArray[np.int64] = (derived(hashes, name.encode()) % np.uint64(many)).astype(np.int64)
    return found


def sampled(hashes: Hashes, rate: Fraction, key: bytes) -> NDArray[np.bool_]:
    """Return who is in a sample that takes each person with at most this chance, independently: a Poisson sample.

    Guarantee: the chance is the rate, rounded down to a multiple of 2^-64; `key` is drawn for one sample alone.
    """
    if not 0 <= rate <= 1:
        raise BadParameter("rate", rate, why="it is a probability", fix="use a number from 0 to 1")
    if rate == 1:
        return np.ones(len(hashes), np.bool_)
    found: NDArray[np.bool_] = derived(hashes, key) < np.uint64(int(rate * (1 << _BITS)))
    return found


def _enciphered(blocks: NDArray[np.uint64], key: bytes) -> Hashes:
    """Encipher blocks of 16 bytes, each by itself, and return the first half of each: a pseudorandom function of it."""
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305  (a function of blocks, not of a text)
    found: Hashes = np.frombuffer(cipher.update(blocks.tobytes()), "<u8")[::2].astype(np.uint64)
    return found


Codes = NDArray[np.int64]

# What stands for null among the codes of a feature, which are never negative.
MISSING = -1
# How many batches a table is divided into where nothing else is said: of a billion rows, a million each.
PARTS = 1 << 10
MOST_PARTS = 1 << 16

# The first 31 bits of a place in the secret order are below the prime, the others break ties.
_TIES = 31


@dataclass(frozen=True, slots=True)
class CodeColumn:
    """One column of codes, as was declared: `size` of them from 0, and `MISSING`.

    A number in steps is its code plus `low`; a day counts from `low`; a category's code is its place in `keys`.
    """

    name: str
    column: Column
    low: int
    size: int

    @classmethod
    def of(cls, name: str, expression: Expression, columns: Mapping[str, Column]) -> CodeColumn:
        """Take the bounds that follow from the declared columns; what has none is refused."""
        column = type_of(expression, columns)
        if column.kind == "text" or (column.kind == "category" and not column.keys):
            why = "its values were not declared, so that nothing can number them"
            raise BadParameter("features", name, why=why, fix=f"declare the keys of {name}, or leave it out")
        if column.kind == "category":
            return cls(name, column, 0, len(column.keys or ()))
        low, high = column.steps
        if high - low + 1 >= NARROW:
            why = "counted in steps it has more values than 62 bits can number"
            raise BadParameter(
                "features", name, why=why, fix="narrow it with clip(low, high), or coarsen with round(step)"
            )
        return cls(name, column, low, high - low + 1)

    def sql(self, expression: Expression, columns: Mapping[str, Column], dialect: Dialect) -> str:
        """Write the code of a row, from 0 to size - 1, or `MISSING`."""
        sql, column = expression_sql(expression, columns, dialect), self.column
        if column.kind == "category":
            place = f"NULLIF({dialect.position(sql, column.keys or ())}, 0) - 1"
        elif column.kind == "flag":
            place = dialect.flag_to_integer(sql)
        else:
            try:
                place = Whole.of(sql, column.steps, dialect).shifted(-self.low).stored
            except OutOfRange:
                raise too_wide(expression) from None
        return dialect.cast(f"COALESCE({place}, {MISSING})", dialect.narrow)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Batch:
    """The rows of some people: codes, a column for each feature; sorted by person, and by the secret order.

    `person` numbers the people of this batch from 0, a number for each row, and means nothing beyond it; `hashes` are
    one for each person, uniform and secret: by them blocks and samples are drawn. `weights` are one for each row, from
    0 to the weight's largest, in its steps; 1 where none was asked for.
    """

    codes: Codes
    person: Codes
    hashes: Hashes
    weights: Codes

    def __repr__(self) -> str:
        return "Batch(hidden)"

    @property
    def people(self) -> int:
        """How many people it has: as secret as their rows."""
        return len(self.hashes)

    def of(self, chosen: NDArray[np.bool_]) -> Batch:
        """Return the rows of some of its people, those who are chosen, numbered anew."""
        rows, numbers = chosen[self.person], np.cumsum(chosen) - 1
        return Batch(self.codes[rows], numbers[self.person[rows]], self.hashes[chosen], self.weights[rows])

    def by_person(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """Add up values, a row of them for each row, person by person."""
        if not self.people:
            return np.zeros((0, *values.shape[1:]), values.dtype)
        found: NDArray[np.generic] = np.add.reduceat(values, np.searchsorted(self.person, range(self.people)))
        return found


@dataclass(frozen=True, slots=True)
class Batches:
    """The rows of a plan in batches; iterating asks the engine, each time anew, and hands out `parts` tokens.

    Guarantee: of each person at most `reach` rows are in all batches together, all in one, and those that the secret
    order keeps everywhere else. Adding a person adds their rows to one batch, between rows that stay as they were, in
    the order that they had; the number of batches is public.
    """

    engine: Engine
    statement: str
    features: tuple[CodeColumn, ...]
    unit: Unit
    reach: int
    parts: int
    secret: bytes

    def __repr__(self) -> str:
        return f"Batches({', '.join(feature.name for feature in self.features)})"

    def __iter__(self) -> Iterator[Exact[Batch]]:
        last = 0
        for part, rows in self._by_part():
            for _ in range(last, part):
                yield Exact(self._batch(np.zeros((0, self._width), np.int64)))
            yield Exact(self._batch(rows))
            last = part + 1
        for _ in range(last, self.parts):
            yield Exact(self._batch(np.zeros((0, self._width), np.int64)))

    @property
    def _width(self) -> int:
        return 3 + len(self.features)

    def _by_part(self) -> Iterator[tuple[int, Codes]]:
        """Put the rows of each part together, as far as the engine has handed them out."""
        for part, pieces in groupby(self._pieces(), lambda each: each[0]):
            yield part, np.concatenate([piece for _, piece in pieces])

    def _pieces(self) -> Iterator[tuple[int, Codes]]:
        for found in self.engine.batches(self.statement):
            rows = np.array(found, np.int64)
            parts = (rows[:, 0] >> _TIES) * self.parts // PRIME
            starts = [0, *(np.flatnonzero(np.diff(parts)) + 1)]
            yield from zip(map(int, parts[starts]), np.split(rows, starts[1:]), strict=True)

    def _batch(self, rows: Codes) -> Batch:
        """Tell the people of some rows apart; in the order of the statement a person begins with their first row."""
        keys, places, weights = rows[:, 0], rows[:, 1], rows[:, 2]
        first = np.ones(len(rows), np.bool_) if self.unit.is_row else places == 1
        hashes = person_hashes(keys[first], places[first] if self.unit.is_row else places[first] * 0, self.secret)
        return Batch(rows[:, 3:], np.cumsum(first) - 1, hashes, weights)


def batches(
    engine: Engine,
    source: Plan,
    features: Mapping[str, Expression],
    relations: Relations,
    dialect: Dialect = DUCKDB,
    unit: Unit | None = None,
    *,
    secret: bytes,
    weight: Expression | None = None,
    parts: int = PARTS,
) -> Batches:
    """Return the rows of a plan as batches of codes; no row is read before they are asked for.

    `secret` is the vault's. `parts` is how many batches there are, which everybody may know; a weight is a number that
    is never negative, and null weighs nothing.
    """
    if not 1 <= parts <= MOST_PARTS:
        why = "a table is divided into at least one batch, and into few enough to go through"
        raise BadParameter("parts", parts, why=why, fix=f"use a number from 1 to {MOST_PARTS:,}")
    asked = SettledPlan.of(source, NO_KEYS, relations, dialect, unit)
    made = tuple(CodeColumn.of(name, each, asked.columns) for name, each in features.items())
    if asked.unit.is_row and asked.reach > 1:
        why = "single rows are protected, and joins or unions make several of one, which nothing puts together again"
        raise BadParameter(
            "source", asked.reach, why=why, fix="leave them out, or register the table with unit=person(...)"
        )
    columns = [each.sql(features[each.name], asked.columns, dialect) for each in made]
    weights = "1" if weight is None else _weight_sql(weight, asked.columns, dialect)
    statement = batches_sql(asked, [dialect.cast(weights, dialect.narrow), *columns], relations)
    return Batches(engine, statement, made, asked.unit, asked.reach, parts, secret)


def batches_sql(asked: SettledPlan, columns: list[str], relations: Relations) -> str:
    """Write the rows that count, as many of each person as may: the hash of whose they are, their place, the columns.

    They are sorted by that hash, and within a person by the secret order. A row that is protected by itself has the
    hash of what it holds, and its place among rows that hold the same, which are alike in everything.
    """
    dialect = asked.dialect
    numbers = row_limbs(base_columns(asked.plan, tables_under(relations)), dialect)
    names = [f'"~f{place}"' for place in range(len(columns))]
    coded = [f"{sql} AS {name}" for sql, name in zip(columns, names, strict=True)]
    if asked.unit.is_row:
        rows = select((*coded, KEY), ordered(asked.rows, numbers, (), dialect))
        found = select(("*", f"row_number() OVER (PARTITION BY {KEY} ORDER BY {KEY}) AS {RANK}"), rows)
    else:
        first = first_rows(ordered(asked.rows, numbers, asked.people, dialect), asked.reach)
        found = ordered(select((*coded, PERSON, RANK), first), (), asked.people, dialect)
    place, by = dialect.cast(RANK, dialect.narrow), (KEY, RANK) if asked.unit.is_row else (KEY, PERSON, RANK)
    return f"{select((KEY, place, *names), found)} ORDER BY {', '.join(by)}"


def _weight_sql(expression: Expression, columns: Mapping[str, Column], dialect: Dialect) -> str:
    """Write a weight in its steps; null weighs nothing."""
    column = type_of(expression, columns)
    if column.kind != "number" or column.steps[0] < 0 or column.steps[1] >= NARROW:
        why = "a weight is a number that is never negative"
        raise BadParameter("weight", expression, why=why, fix="weigh by a column whose bounds begin at 0, or clip it")
    return f"COALESCE({expression_sql(expression, columns, dialect)}, 0)"
