"""Random schemas, rows and typed expressions, for tests of expressions and of plans."""

import datetime as dt
import re
from fractions import Fraction
from hashlib import shake_256

from hypothesis import strategies as st

import discreet as dp
from discreet.core.errors import Refusal
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.plan.expressions import Literal, Name, greatest, least, when
from discreet.plan.to_sql.scalar import stored_type
from discreet.plan.types import type_of

STEPS = [Fraction(1), Fraction(1, 2), Fraction(1, 100), Fraction(1, 3), Fraction(5), Fraction(7, 4), Fraction(1, 10)]
WORDS = ["", "A", "B", "a", "Ä", "A\u0308", "\U0001f600", "naïve", "O'Neil", '"', "ward", "%_", "\n", "A ", "ab"]

texts = st.one_of(
    st.sampled_from(WORDS), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
)
days = st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31))


@st.composite
def numbers(draw, most=10**6):
    """Declare a number with up to `most` steps on either side of zero."""
    step = draw(st.sampled_from(STEPS))
    edges = draw(
        st.tuples(*[st.one_of(st.integers(-most, most), st.integers(-9, 9), st.sampled_from([-most, most]))] * 2)
    )
    return dp.between(min(edges) * step, max(edges) * step, step=step)


@st.composite
def schemas(draw):
    """Declare two numbers, two dates, two flags, categories of text and of integers, and text."""
    first, last = sorted(draw(st.tuples(days, days)))
    near = draw(st.dates(dt.date(1990, 1, 1), dt.date(2030, 1, 1)))
    declared = {
        "x": draw(numbers()),
        "y": draw(numbers(most=draw(st.sampled_from([3, 1000, 10**12, 2**61, 2**100])))),
        "d": dp.date(first, last),
        "e": dp.date(near, near + dt.timedelta(draw(st.integers(0, 800)))),
        "f": dp.flag(),
        "g": dp.flag(nullable=False),
        "w": dp.one_of(*draw(st.lists(texts, min_size=1, max_size=5, unique=True))),
        "k": dp.one_of(*draw(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=5, unique=True))),
        "t": dp.text(),
    }
    return {name: column.named(name) for name, column in declared.items()}


def value(column, choice, place):
    """Return a value of a column that is already read: null, an edge or any other, by two integers."""
    if choice % 5 == 0:
        return None
    match column.kind:
        case "number" | "date":
            low, high = column.steps
            edges = (low, high, min(max(0, low), high), min(max(1, low), high))
            if choice % 5 == 1:
                return edges[place % 4]
            if choice % 5 == 2:  # small ones, among which ties and zeros are common
                return min(max(place % 41 - 20, low), high)
            return low + ((place * (high - low)) >> 64)
        case "flag":
            return bool(place % 2)
        case "category":
            return column.keys[place % len(column.keys)]
    return WORDS[place % len(WORDS)]


def rows(schema, seed, count=60):
    """Make rows from a seed; cheaper than drawing each value, and as varied."""
    stream = iter(memoryview(shake_256(str(seed).encode()).digest(16 * count * len(schema))).cast("Q"))
    return [{name: value(column, next(stream), next(stream)) for name, column in schema.items()} for _ in range(count)]


def relation(schema, rows):
    """Write rows that are already read as a relation."""
    names = ", ".join(DUCKDB.quote(name) for name in schema)
    written = [
        "(" + ", ".join(f"CAST({DUCKDB.literal(row[n])} AS {stored_type(c)})" for n, c in schema.items()) + ")"
        for row in rows
    ]
    return f"(VALUES {', '.join(written)}) AS rows({names})"


literal_numbers = st.one_of(
    st.integers(-9, 9).map(Fraction), st.sampled_from(STEPS), st.fractions(-1000, 1000, max_denominator=12)
).map(Literal)


@st.composite
def of_kind(draw, kind, schema, depth):
    """Draw an expression of a kind; the deeper ones are operations on others."""
    if depth > 0 and draw(st.booleans()) and (names := [name for name in RESULTS if kind == RESULTS[name]]):
        return draw(OPERATORS[draw(st.sampled_from(names))](schema, depth - 1))
    leaves = st.sampled_from([Name(name) for name, column in schema.items() if column.kind == kind])
    literal = {"number": literal_numbers, "date": days.map(Literal)}.get(kind)
    return draw(leaves if literal is None or draw(st.integers(0, 2)) else literal)


def _binary(kind, make):
    def draw(schema, depth):
        inner = of_kind(kind, schema, depth)
        return st.builds(make, inner, inner)

    return draw


def _unary(kind, make):
    return lambda schema, depth: st.builds(make, of_kind(kind, schema, depth))


def _clip(schema, depth):
    bounds = st.one_of(st.none(), st.fractions(-1000, 1000, max_denominator=12))
    numbers = st.builds(lambda x, low, high: x.clip(low, high), of_kind("number", schema, depth), bounds, bounds)
    first = st.one_of(st.none(), days)
    return st.one_of(numbers, st.builds(lambda x, a, b: x.clip(a, b), of_kind("date", schema, depth), first, first))


def _compare(order):
    def make(left, right):
        return {
            "==": lambda: left == right,
            "!=": lambda: left != right,
            "<": lambda: left < right,
            "<=": lambda: left <= right,
            ">": lambda: left > right,
            ">=": lambda: left >= right,
        }[order]()

    def draw(schema, depth):
        kinds = ["number", "number", "date"] + (["flag", "text", "key", "whole"] if order in ("==", "!=") else [])

        def pairs(kind):
            if kind == "key":
                one = st.sampled_from(schema["w"].keys)
                return st.builds(make, st.just(Name("w")), st.one_of(one, st.just(Name("t")), st.just(Name("w"))))
            if kind == "whole":
                return st.builds(make, st.just(Name("k")), st.sampled_from(schema["k"].keys))
            if kind == "text":
                return st.builds(make, st.just(Name("t")), st.one_of(texts, st.just(Name("w"))))
            inner = of_kind(kind, schema, depth)
            return st.builds(make, inner, inner)

        return st.sampled_from(kinds).flatmap(pairs)

    return draw


def _choose(schema, depth):
    def chosen(kind):
        value, condition = of_kind(kind, schema, depth), of_kind("flag", schema, depth)
        one = st.builds(lambda c, v, w: when(c, v).otherwise(w), condition, value, value)
        two = st.builds(lambda c, v, e, w: when(c, v).when(e).then(w), condition, value, condition, value)
        return st.one_of(one, two)

    return st.sampled_from(["number", "date", "flag"]).flatmap(chosen)


def _label(schema, depth):
    condition = of_kind("flag", schema, depth)
    return st.builds(lambda c, v, w: when(c, v).otherwise(w), condition, texts, st.one_of(texts, st.just(Name("w"))))


def _fill(schema, depth):
    def filled(kind):
        inner = of_kind(kind, schema, depth)
        return st.builds(lambda x, y: x.fill_null(y), inner, inner)

    other = st.sampled_from([Name("w").fill_null("missing"), Name("k").fill_null(7), Name("t").fill_null("?")])
    return st.one_of(st.sampled_from(["number", "date", "flag"]).flatmap(filled), other)


def _is_in(schema, depth):
    listed = st.lists(st.one_of(st.integers(-9, 9), st.fractions(-9, 9, max_denominator=4)), min_size=1, max_size=5)
    numbers = st.builds(lambda x, found: x.is_in(found), of_kind("number", schema, depth), listed)
    dates = st.builds(lambda x, found: x.is_in(found), of_kind("date", schema, depth), st.lists(days, min_size=1))
    keys = st.lists(st.sampled_from(schema["w"].keys), min_size=1).map(lambda found: Name("w").is_in(found))
    wholes = st.lists(st.sampled_from(schema["k"].keys), min_size=1).map(lambda found: Name("k").is_in(found))
    free = st.lists(texts, min_size=1, max_size=4).map(lambda found: Name("t").is_in(found))
    return st.one_of(numbers, dates, keys, wholes, free)


def _shift(sign):
    def make(day, by):
        return day + by if sign == "+" else day - by

    def draw(schema, depth):
        whole = of_kind("number", schema, depth).map(lambda by: by.round(1))
        far = st.integers(-(10**30), 10**30).map(lambda by: Literal(Fraction(by)))
        return st.builds(make, of_kind("date", schema, depth), st.one_of(whole, far))

    return draw


def _extreme(pick):
    def draw(schema, depth):
        return st.sampled_from(["number", "date"]).flatmap(
            lambda kind: st.lists(of_kind(kind, schema, depth), min_size=2, max_size=4).map(lambda of: pick(*of))
        )

    return draw


steps = st.one_of(st.sampled_from([*STEPS, Fraction(2), Fraction(10)]), st.integers(1, 1000).map(Fraction))
string_columns = st.sampled_from([Name("t"), Name("w")])

OPERATORS = {
    "+": _binary("number", lambda x, y: x + y),
    "-": _binary("number", lambda x, y: x - y),
    "*": _binary("number", lambda x, y: x * y),
    "/": _binary("number", lambda x, y: x / y),
    "divided_by": lambda schema, depth: st.builds(
        lambda x, y, step: x.divided_by(y, step),
        of_kind("number", schema, depth),
        of_kind("number", schema, depth),
        steps,
    ),
    "square": _unary("number", lambda x: x * x),
    "days between": _binary("date", lambda x, y: x - y),
    "date +": _shift("+"),
    "date -": _shift("-"),
    **{order: _compare(order) for order in ("==", "!=", "<", "<=", ">", ">=")},
    "&": _binary("flag", lambda x, y: x & y),
    "|": _binary("flag", lambda x, y: x | y),
    "~": _unary("flag", lambda x: ~x),
    "when": _choose,
    "label": _label,
    "abs": _unary("number", abs),
    "round": lambda schema, depth: st.builds(lambda x, step: x.round(step), of_kind("number", schema, depth), steps),
    "clip": _clip,
    "least": _extreme(least),
    "greatest": _extreme(greatest),
    "is_null": lambda schema, depth: st.one_of(
        *(_unary(kind, lambda x: x.is_null())(schema, depth) for kind in ("number", "date", "flag", "text", "category"))
    ),
    "fill_null": _fill,
    "is_in": _is_in,
    "year": _unary("date", lambda x: x.year()),
    "month": _unary("date", lambda x: x.month()),
    "day": _unary("date", lambda x: x.day()),
    "weekday": _unary("date", lambda x: x.weekday()),
    "like": lambda _schema, _depth: st.builds(
        lambda x, pieces: x.like("%".join(re.sub(r"[%_\\]", "", piece) for piece in pieces)),
        string_columns,
        st.lists(texts, min_size=2, max_size=4),
    ),
    "starts_with": lambda _schema, _depth: st.builds(lambda x, prefix: x.starts_with(prefix), string_columns, texts),
    "substring": lambda _schema, _depth: st.builds(
        lambda x, first, length: x.substring(first, length), string_columns, st.integers(1, 5), st.integers(1, 4)
    ),
    "length": lambda _schema, _depth: string_columns.map(lambda x: x.length()),
    "as_number": lambda schema, depth: st.one_of(
        of_kind("flag", schema, depth).map(lambda x: x.as_number()), st.just(Name("k").as_number())
    ),
}
RESULTS = {
    **dict.fromkeys(["+", "-", "*", "/", "divided_by", "abs", "round", "year", "weekday", "length"], "number"),
    **dict.fromkeys(["as_number", "square", "days between"], "number"),
    **dict.fromkeys(["date +", "date -"], "date"),
    **dict.fromkeys(["==", "!=", "<", ">=", "&", "|", "~", "is_in", "is_null", "starts_with", "like"], "flag"),
}


def accepted(expression, schema):
    """Say whether an expression has a type; ranges that are too wide are refused, and tested elsewhere."""
    try:
        type_of(expression, schema)
    except Refusal:
        return False
    return True


def names_in(expression):
    """Return the columns that an expression uses."""
    own = {expression.name} if isinstance(expression, Name) else set()
    return own.union(*(names_in(part) for part in expression.parts))
