"""Sources: what a kind of source is to the suite of neighbours, and the families of values behind Arrow's types."""

from contextlib import nullcontext

import pyarrow as pa

from tests.neighbours import values as v

BITS = (8, 16, 32, 64)
WHOLES = {f"int{bits}": v.whole(-(1 << bits - 1), (1 << bits - 1) - 1) for bits in BITS}
NATURALS = {f"uint{bits}": v.whole(0, (1 << bits) - 1) for bits in BITS}
FLOATS = {
    "float16": v.floats(*v.HALF),
    "float16 missing": v.floats(*v.HALF, v.MISSING),
    "float32": v.floats(*v.SINGLE),
    "float32 missing": v.floats(*v.SINGLE, v.MISSING),
    "float64": v.floats(*v.DOUBLE),
    "float64 missing": v.floats(*v.DOUBLE, v.MISSING),
}
DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
MOMENTS = {f"{unit}{zone}": v.moments(per_day) for unit, per_day in DAY.items() for zone in ("", " UTC")}
TEXTS = {f"text {name}": v.texts(name) for name in v.WORDS}
ARROW = {
    **WHOLES, **NATURALS, **FLOATS, **MOMENTS, **TEXTS, "bool": v.FLAGS, "date32": v.DAYS, "date64": v.DAYS,
    "decimal 5 2": v.decimals(5, 2), "decimal 18 0": v.decimals(18, 0), "decimal 36 9": v.decimals(36, 9),
    "large text": v.texts("word"), "dictionary": v.texts("key"),
}  # fmt: skip


def without(types, *words):
    """The types whose names begin with none of these words."""
    return {name: family for name, family in types.items() if name.split()[0] not in words}


def arrow_type(name):
    """The Arrow type that a name of ours means."""
    word = name.split()[0]
    if word in DAY:
        return pa.timestamp(word, "UTC" if name.endswith("UTC") else None)
    if word == "decimal":
        return pa.decimal128(*map(int, name.split()[1:]))
    texts = {"text": pa.string(), "large": pa.large_string(), "dictionary": pa.dictionary(pa.int32(), pa.string())}
    return (
        texts.get(word)
        or {"bool": pa.bool_(), "date32": pa.date32(), "date64": pa.date64()}.get(word)
        or getattr(pa, word)()
    )


def arrow_array(name, found):
    """Values as an Arrow array; moments are given as the integers that they are."""
    kind = arrow_type(name)
    if name.startswith("float16"):
        import numpy as np

        mask = [value is None for value in found]
        return pa.array(
            np.array([0 if value is None else value for value in found], "float16"), kind, mask=np.array(mask)
        )
    return pa.array(found, pa.int64()).cast(kind) if pa.types.is_timestamp(kind) else pa.array(found, kind)


class Kind:
    """A kind of source: the physical types of its columns, those that may tell people apart, and how it is made.

    Outside of the soak the first `checked` identifiers are tried, on the pairs in `brief` where it has few enough.
    """

    types: dict
    identifiers = ("int64", "float64", "text word")
    checked = 2
    brief = None

    def made(self, columns, folder):
        """Write columns of values and return their source."""
        raise NotImplementedError

    def hurry(self, engine):
        """Have an engine waste no time on tables of a few rows."""

    def started(self):
        """Return a context in which what is slow to start runs already."""
        return nullcontext()
