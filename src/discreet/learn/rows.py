"""Rows in memory: what a caller of `fit` passes, as exact batches, which only noise opens again."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.core.exact import Exact
from discreet.plan.batches import Batch
from discreet.plan.gradients.person_gradients import DesignRows, design_rows
from discreet.plan.gradients.row_design import RowDesign, side_by_side
from discreet.plan.gradients.value_codes import step_codes

Columns = Column | Sequence[Column] | Mapping[str, Column]

_DECLARE = "declare what each column may hold: columns={'age': dp.between(17, 90), 'sex': dp.one_of('F', 'M')}"


def declared_columns(columns: Columns | None, data: Any) -> dict[str, Column]:  # noqa: ANN401  (tables of any kind)
    """Return a declaration for each column of a table: a mapping by name, a list in order, or one for all of them."""
    if columns is None:
        why = "what a column may hold is declared, since learning it from data would tell of single rows"
        raise BadParameter("columns", None, why=why, fix=_DECLARE)
    if isinstance(columns, Mapping):
        found = dict(columns)
    else:
        names = names_of(data)
        each = [columns] * len(names) if isinstance(columns, Column) else [*columns]
        if len(each) != len(names):
            why = f"{len(each)} columns are declared"
            raise BadParameter("X", f"{len(names)} columns", why=why, fix="declare each column once, in their order")
        found = dict(zip(names, each, strict=True))
    wrong = [name for name, column in found.items() if not isinstance(column, Column)]
    if wrong:
        raise BadParameter("columns", wrong[0], why="it is not declared by a column", fix=_DECLARE)
    return {str(name): column.named(str(name)) for name, column in found.items()}


def names_of(data: Any) -> list[str]:  # noqa: ANN401
    """Return the names of a table's columns; those of an array are x0, x1, ..."""
    named = _named(data)
    return [str(name) for name in named] if named is not None else [f"x{at}" for at in range(_array(data).shape[1])]


def columns_in(data: Any) -> dict[str, object]:  # noqa: ANN401
    """Return the columns of a mapping, a data frame, an Arrow table or an array with two axes."""
    named = _named(data)
    if named is not None:
        return {str(name): data[name] for name in named}
    array = _array(data)
    return {name: array[:, place] for place, name in enumerate(names_of(data))}


def target_in(values: Any, learner: str) -> Any:  # noqa: ANN401
    """Return the values of a target: one axis, or a single column, as which it is taken with a warning."""
    if values is None:
        why = f"{learner} requires y to be passed, but the target y is None"
        raise BadParameter("y", None, why=why, fix="pass the column that is to be learnt")
    shape = getattr(values, "shape", None)
    if shape is None and not np.iterable(values):
        return np.asarray(values)
    if shape is None or len(shape) == 1:
        return values
    if len(shape) == 2 and shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        text = "A column-vector y was passed when a 1d array was expected; it is taken as one"
        warnings.warn(text, DataConversionWarning, stacklevel=4)
        return np.asarray(values)[:, 0]
    raise BadParameter("y", f"{len(shape)} axes", why="there is one target", fix="pass one column")


def _named(data: Any) -> list[Any] | None:  # noqa: ANN401
    """Return the names of columns where a table has some; they are asked of its type, never of what it holds."""
    if hasattr(data, "tocsr"):
        why = "a sparse matrix is not supported: its entries would stand for declared columns, one by one"
        raise BadParameter("X", "sparse", why=why, fix="pass the columns themselves, or X.toarray()")
    if isinstance(data, Mapping):
        return [*data]
    names = getattr(data, "column_names", None)
    names = getattr(data, "columns", None) if names is None else names
    return None if names is None else [*names]


def _array(data: Any) -> Any:  # noqa: ANN401
    # One type for all cells of a list would let one record's value decide how those of all others are read.
    array = np.asarray(data, dtype=object if isinstance(data, list | tuple) else None)
    if array.ndim != 2:
        why, fix = "rows have columns", "Reshape your data to two axes: X.reshape(-1, 1) if it is one column"
        raise BadParameter("X", f"{array.ndim} axes", why=why, fix=fix)
    if array.dtype.kind == "c":
        raise BadParameter("X", str(array.dtype), why="Complex data not supported", fix="pass real numbers")
    return array


def exact_rows(design: RowDesign, columns: Mapping[str, object], target: Column, values: object) -> Exact[DesignRows]:
    """Return rows in memory, each a person, as the door takes them.

    Guarantee: no value of any row makes anything here fail; a target that was not declared counts for nothing.
    """
    features = design.codes(columns)
    named = [("X", features[:, 0]), ("y", step_codes(target, values))]
    codes = np.column_stack([features, side_by_side(named)[:, 1]])
    many = len(codes)
    batch = Batch(codes, np.arange(many), np.zeros(many, np.uint64), np.ones(many, np.int64))
    return Exact(batch).map(design_rows, design)
