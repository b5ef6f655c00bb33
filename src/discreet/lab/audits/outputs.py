"""Outputs as columns of numbers, whatever a mechanism returns: numbers, arrays, tables, nothing, exceptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import blake2b
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.lab.audits.subject import Output, Raised

Column = NDArray[Any]

# Beyond so many columns the rest is left to the statistics of whole outputs.
WIDEST = 64
KIND = "kind of output"
REST = "sum of the rest"


@dataclass(frozen=True, slots=True)
class Outputs:
    """Many outputs on one neighbour: columns of numbers, and the words behind hashes.

    What stands in a column depends on that one output alone, never on the others: else the company an output keeps
    could accuse a mechanism that is private. `kind` describes all outputs where they are all alike.
    """

    columns: dict[str, Column]
    words: dict[int, str] = field(default_factory=dict)
    kind: str | None = None

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def part(self, start: int, stop: int) -> Outputs:
        """Return the runs from `start` to `stop`."""
        return Outputs({name: column[start:stop] for name, column in self.columns.items()}, self.words, self.kind)


def tabulate(outputs: object) -> Outputs:
    """Turn outputs into columns; what is no number becomes the hash of its description."""
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "biuf":
        return _numeric(outputs)
    things = _things(outputs)
    kinds = {type(thing) for thing in things}
    if kinds <= {int, bool, float, np.int64, np.float64, np.bool_}:
        packed = np.array(things)
        if packed.dtype.kind in "biuf":
            return _numeric(packed)
    if kinds == {np.ndarray} and len({(thing.shape, thing.dtype.kind) for thing in things}) == 1:
        return _numeric(np.stack(things)) if things[0].dtype.kind in "biuf" else _described(things)
    return _described(things)


def align(zero: Outputs, one: Outputs) -> tuple[Outputs, Outputs]:
    """Give both sides the same columns of the same type; where one side has none, it is not a number there."""
    if zero.kind != one.kind or zero.kind is None:
        zero, one = _with_kind(zero), _with_kind(one)
    shared = REST in zero.columns and REST in one.columns
    names = [name for name in {**zero.columns, **one.columns} if name != REST or shared]
    names.sort(key=lambda name: name != KIND)
    words = {**zero.words, **one.words}
    first, second = ({name: side.columns.get(name) for name in names} for side in (zero, one))
    columns: tuple[dict[str, Column], dict[str, Column]] = ({}, {})
    single = [name for name in names if name != KIND] == ["output[0]"]
    for name in names:
        pair = [_filled(first[name], len(zero)), _filled(second[name], len(one))]
        kind = np.result_type(*pair)
        for side, column in zip(columns, pair, strict=True):
            side["output" if single and name != KIND else name] = column.astype(kind, copy=False)
    return Outputs(columns[0], words), Outputs(columns[1], words)


def digest(text: str) -> int:
    """Return 63 bits that stand for a text, the same in every run."""
    return int.from_bytes(blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).digest(), "little") >> 1


def _numeric(values: Column) -> Outputs:
    flat = values.reshape(len(values), -1)
    if flat.dtype.kind in "bu":
        flat = flat.astype(np.int64 if flat.dtype.itemsize < 8 else np.float64)
    columns = {f"output[{place}]": flat[:, place] for place in range(min(flat.shape[1], WIDEST))}
    if flat.shape[1] > WIDEST:
        columns[REST] = flat[:, WIDEST:].sum(axis=1, dtype=np.float64)
    if not columns:
        columns = {"output[0]": np.full(len(values), np.nan)}
    return Outputs(columns, kind="a number" if values.ndim == 1 else f"shape {values.shape[1:]}")


def _things(outputs: object) -> list[Output]:
    if isinstance(outputs, np.ndarray) and outputs.ndim > 1:
        return [tuple(row.ravel().tolist()) for row in outputs]
    assert isinstance(outputs, (np.ndarray, Sequence))
    return list(outputs)


def _described(things: list[Output]) -> Outputs:
    """Describe each output by a kind (hashed) and by its numbers; columns end where the longest output does."""
    words: dict[int, str] = {}
    kinds = np.empty(len(things), dtype=np.int64)
    numbers: list[list[float]] = []
    for place, thing in enumerate(things):
        kind, inside = _parts(thing)
        kinds[place] = code = digest(kind)
        words[code] = kind
        numbers.append(inside)
    width = min(max(map(len, numbers), default=0), WIDEST)
    table = np.full((len(things), width), np.nan)
    for place, inside in enumerate(numbers):
        table[place, : len(inside)] = inside[:width]
    columns: dict[str, Column] = {KIND: kinds}
    columns |= {f"output[{place}]": table[:, place] for place in range(width)}
    return Outputs(columns, words)


def _parts(thing: Output) -> tuple[str, list[float]]:
    match thing:
        case None:
            return "None", []
        case Raised():
            return f"{thing.kind} raised: {thing.text}", []
        case bool() | np.bool_():
            return "a number", [float(thing)]
        case str():
            return repr(thing), []
        case Fraction() | Real():
            return "a number", [_float(thing)]
        case Mapping():
            return f"keys {list(thing)!r}", _numbers(list(thing.values()))
        case np.ndarray() | list() | tuple():
            inside = list(np.ravel(np.asarray(thing, dtype=object)))
            shape = np.shape(thing) if isinstance(thing, np.ndarray) else (len(thing),)
            strange = [(place, each) for place, each in enumerate(inside) if not isinstance(each, (Real, np.bool_))]
            return f"shape {shape}" + (f" with {strange!r}" if strange else ""), _numbers(inside)
    return repr(thing), []


def _numbers(values: list[Output]) -> list[float]:
    return [_float(value) if isinstance(value, (Real, np.bool_)) else np.nan for value in values]


def _float(value: Output) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _with_kind(side: Outputs) -> Outputs:
    if side.kind is None:
        return side
    code = digest(side.kind)
    return Outputs({KIND: np.full(len(side), code), **side.columns}, {**side.words, code: side.kind})


def _filled(column: Column | None, size: int) -> Column:
    return np.full(size, np.nan) if column is None else column
