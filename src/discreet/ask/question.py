"""Asking: a question without its price: what it is about, its aggregates, and how they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import FunctionType
from typing import Any, Self

from discreet.ask.query_base import QueryBase
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.rational import Number, as_written
from discreet.measures.reach import word_of
from discreet.plan.aggregates import Aggregate


@dataclass(frozen=True, slots=True, repr=False)
class Question:
    """Aggregates of a subject, each a column of the answer, and the weights by which they share a price."""

    query: QueryBase
    aggregates: tuple[tuple[str, Aggregate], ...]
    weights: tuple[tuple[str, Fraction], ...] = ()

    def __repr__(self) -> str:
        asked = (
            f"{name} = {word_of(each)}({', '.join(map(repr, each.expressions))})" for name, each in self.aggregates
        )
        return f"{self.query!r}\n\nask for {', '.join(asked)}"

    @classmethod
    def of(cls, query: QueryBase, aggregates: Mapping[str, Any]) -> Self:
        """Check the aggregates of a question and put them behind it."""
        if not aggregates:
            fix = "write agg(n=dp.count(), cost=dp.mean('cost'))"
            raise BadParameter("aggregates", {}, why="nothing is asked", fix=fix)
        taken = query.keys.names if query.keys is not None else ()
        if "keys" in aggregates and query.keys is not None and query.keys.selected:
            why = "keys are selected here, and weighted(keys=) is their share of the price"
            raise BadParameter("aggregates", "keys", why=why, fix="give the column another name")
        for name, aggregate in aggregates.items():
            if isinstance(aggregate, FunctionType):
                why, word = "it is the function that makes an aggregate", aggregate.__name__
                raise BadParameter(name, word, why=why, fix=f"call it: {word}(), or {word}('cost')")
            if not isinstance(aggregate, Aggregate):
                why, fix = "it is not an aggregate", "use one, such as dp.count() or dp.mean('cost')"
                raise BadParameter(name, aggregate, why=why, fix=fix)
            if name in taken:
                why = "it is the name of a key"
                raise BadParameter("aggregates", name, why=why, fix="give the column another name")
            if aggregate.alone and len(aggregates) > 1:
                why = f"a {word_of(aggregate)} has its own rows, unlike other aggregates"
                raise BadParameter(name, word_of(aggregate), why=why, fix="ask for it in a separate question")
        return cls(query, tuple(aggregates.items()))

    def weighted(self, **weights: Number) -> Self:
        """Split the price in these proportions, as in `weighted(n=1, cost=3)`; what is not named weighs 1.

        `keys` is the weight of selecting keys that were not declared.
        """
        known = {*dict(self.aggregates), "keys"}
        found = {}
        for name, weight in weights.items():
            if name not in known:
                raise UnknownName("aggregate", name, known)
            found[name] = as_written(name, weight)
            if found[name] <= 0:
                why = "an aggregate without a share cannot be answered"
                raise BadParameter(name, weight, why=why, fix="use a positive weight, or leave the aggregate out")
        return replace(self, weights=tuple(found.items()))
