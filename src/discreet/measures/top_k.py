"""Top k: the keys that occur most often, without their counts."""

from __future__ import annotations

from discreet.account.budgets.price import Price
from discreet.measures.bins import BinMeasure, binned_column, made_bins
from discreet.measures.reach import Reach
from discreet.mechanisms.top_k import TopK
from discreet.plan import aggregates as words
from discreet.plan.keys import Key, declared


def measure(name: str, aggregate: words.TopK, price: Price, reach: Reach) -> BinMeasure:
    """Return a choice among all sequences of k declared keys."""
    column = binned_column(aggregate, reach)
    values = declared(column) or ()
    names = tuple(str(value) if isinstance(value, bool) else value for value in values)
    mechanism = TopK(k=aggregate.k, keys=names, epsilon=price.selecting, contributions=reach.rows)  # type: ignore[arg-type]
    table = Key("key", column, values), tuple(range(len(values))), tuple(range(1, aggregate.k + 1)), "rank"
    return made_bins(name, aggregate, price, reach, mechanism, table)
