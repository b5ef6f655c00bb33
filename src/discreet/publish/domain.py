"""Domains: the attributes of a table to be published, each with codes 0, 1, ... below its size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from discreet.core.column import check_name
from discreet.core.errors import BadParameter, UnknownName

# Attributes beyond this many codes are to be binned first: a table over three of them would not fit any memory.
MOST_CODES = 1 << 16

Clique = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    """Attributes by name, in order, and how many codes each has. Cliques are sets of them, as sorted places."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.names:
            raise BadParameter("domain", {}, why="it has no attribute", fix="name them: {'age': 32, 'sex': 2}")
        for name, size in zip(self.names, self.sizes, strict=True):
            check_name("name", name)
            if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MOST_CODES:
                why = f"an attribute has 1 to {MOST_CODES:,} codes"
                raise BadParameter(name, size, why=why, fix="say how many codes it has; bin what has more")
        if len({*self.names}) < len(self.names):
            twice = sorted({name for name in self.names if self.names.count(name) > 1})
            raise BadParameter("domain", twice, why="attributes need distinct names", fix="rename one of the two")

    @classmethod
    def of(cls, sizes: Mapping[str, int]) -> Domain:
        """Make a domain from names and sizes, as in {"age": 32, "sex": 2}."""
        return cls(tuple(sizes), tuple(sizes.values()))

    def __len__(self) -> int:
        return len(self.names)

    def clique(self, names: str | Iterable[str]) -> Clique:
        """Return the places of attributes, sorted; a name that is none is refused with the nearest."""
        listed = (names,) if isinstance(names, str) else tuple(names)
        for name in listed:
            if name not in self.names:
                raise UnknownName("attribute", str(name), self.names)
        if len({*listed}) < len(listed):
            raise BadParameter("columns", listed, why="a column is named twice", fix="name each once")
        return tuple(sorted(self.names.index(name) for name in listed))

    def named(self, clique: Clique) -> tuple[str, ...]:
        """Return the names of a clique."""
        return tuple(self.names[place] for place in clique)

    def shape(self, clique: Iterable[int]) -> tuple[int, ...]:
        """Return the sizes of a clique, which are the shape of its table."""
        return tuple(self.sizes[place] for place in clique)

    def cells(self, clique: Iterable[int]) -> int:
        """Return how many cells the table of a clique has."""
        return math.prod(self.shape(clique))

    def batches(self, cliques: Iterable[Clique], most: int) -> Iterator[list[Clique]]:
        """Yield cliques in turn, as many at a time as have so many cells together, and one at least."""
        batch: list[Clique] = []
        held = 0
        for clique in cliques:
            if batch and held + self.cells(clique) > most:
                yield batch
                batch, held = [], 0
            batch.append(clique)
            held += self.cells(clique)
        if batch:
            yield batch
