"""Coded tables: rows of whole-number codes in memory, and the exact marginals of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import BadParameter, UnknownName
from discreet.core.exact import Exact
from discreet.publish.domain import Clique, Domain

Counts = NDArray[np.int64]

# Exact tables of cliques, one for each, in the order asked: nobody looks at them but a door.
Measure = Callable[[Sequence[Clique]], list[Exact[Counts]]]

# Types of pandas, Polars and Arrow that hold no numbers, by how their names begin.
_NO_NUMBERS = ("str", "large_str", "utf8", "date", "time", "duration", "binary", "list", "struct")

# Rows are counted in chunks whose indices stay in a processor's cache.
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A table as columns of codes; a code outside the domain counts as null, wherever it stands.

    Guarantee: no value of any row makes anything here fail; one row changes one cell of a marginal, by one.
    """

    domain: Domain
    columns: tuple[NDArray[np.int32], ...]

    @classmethod
    def of(cls, data: object, domain: Domain) -> Coded:
        """Read a mapping of columns, a data frame or an Arrow table; columns that the domain does not name stay out."""
        columns = columns_of(data)
        for name in domain.names:
            if name not in columns:
                raise UnknownName("column", name, columns)
        found = tuple(
            codes_of(name, columns[name], size) for name, size in zip(domain.names, domain.sizes, strict=True)
        )
        if len({len(each) for each in found}) > 1:
            # Which, and not how long they are: the number of rows is nobody's to know.
            other = [name for name, each in zip(domain.names, found, strict=True) if len(each) != len(found[0])]
            why = f"they differ in length from {domain.names[0]!r}"
            raise BadParameter("data", other, why=why, fix="give each row all its values")
        return cls(domain, found)

    def measure(self, cliques: Sequence[Clique]) -> list[Exact[Counts]]:
        """Return the exact marginals of cliques; a row with a null in a clique counts for none of its cells."""
        return [Exact(self._marginal(clique)) for clique in cliques]

    def _marginal(self, clique: Clique) -> Counts:
        shape = self.domain.shape(clique)
        cells = self.domain.cells(clique)
        total = np.zeros(cells + 1, np.int64)  # the last cell is for nulls
        rows = len(self.columns[0])
        for start in range(0, rows, _CHUNK):
            index = np.zeros(min(_CHUNK, rows - start), np.int64)
            missing = np.zeros(len(index), bool)
            for place, size in zip(clique, shape, strict=True):
                codes = self.columns[place][start : start + _CHUNK]
                missing |= codes < 0
                index *= size
                index += codes
            index[missing] = cells
            total += np.bincount(index, minlength=cells + 1)
        return total[:cells].reshape(shape)


def codes_of(name: str, values: object, size: int) -> NDArray[np.int32]:
    """Return integers below a size as they are, and everything else as -1; a column of another type is refused.

    The type is what the column declares, never what its values look like: lists, and columns of any objects, are read
    value by value. One None among them is no reason to refuse the others.
    """
    declared = str(getattr(values, "dtype", None) or getattr(values, "type", None) or "").lower()
    if not declared and isinstance(values, Sequence):
        return _each(values, size)
    if declared.startswith(_NO_NUMBERS):
        raise _not_codes(name, declared)
    try:
        array = np.asarray(values)
    except Exception:  # a type that another library does not turn into an array, whatever it holds
        raise _not_codes(name, declared) from None
    if array.ndim != 1:
        raise BadParameter(name, f"{array.ndim} axes", why="a column has one value a row", fix="pass one axis alone")
    if array.dtype.kind == "O":
        return _each(array.tolist(), size)
    if array.dtype.kind == "f":
        inside = (array >= 0) & (array < size) & (array == np.floor(array))
    elif array.dtype.kind in "iub":
        inside = (array >= 0) & (array < size)
    else:
        raise _not_codes(name, str(array.dtype))
    return np.where(inside, np.where(inside, array, 0).astype(np.int32), np.int32(-1))


def _not_codes(name: str, kind: str) -> BadParameter:
    why = f"its values are of the type {kind}, and codes are integers"
    return BadParameter(name, kind, why=why, fix="code the column as 0, 1, ... first, or declare it with one_of")


def _each(values: Sequence[object], size: int) -> NDArray[np.int32]:
    """Return the codes of values of any kind, which may be anything at all."""
    return np.fromiter((_code(value, size) for value in values), np.int32, len(values))


def _code(value: object, size: int) -> int:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return int(value) if 0 <= value < size else -1
    return -1


def columns_of(data: object) -> dict[str, Any]:
    """Return the columns of a mapping, a data frame or an Arrow table, by name."""
    if isinstance(data, Mapping):
        return dict(data)
    names = getattr(data, "column_names", None) or getattr(data, "columns", None)
    if isinstance(names, Mapping):  # a sample's
        return dict(names)
    if names is None or not hasattr(data, "__getitem__"):
        why, fix = "it has no columns", "pass a data frame, an Arrow table or a dict of arrays"
        raise BadParameter("data", type(data).__name__, why=why, fix=fix)
    frame: Any = data
    return {str(name): frame[name] for name in names}
