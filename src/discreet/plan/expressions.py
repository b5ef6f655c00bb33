"""Expressions: what may be computed from one row, as a tree of values; nothing is computed here."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, get_args, overload
from typing import Literal as OneOf

from discreet.core.column import check_name
from discreet.core.errors import BadParameter, Refusal, UnknownName, show
from discreet.core.rational import Number
from discreet.core.registry import Registry
from discreet.core.value import dataclass
from discreet.plan.constants import Parameter, Value, bound_of, positive_step, settled

Operand: TypeAlias = "Expression | Number | bool | str | dt.date"

Sign = OneOf["+", "-", "*", "/"]
Order = OneOf["==", "!=", "<", "<=", ">", ">="]
Word = OneOf["and", "or", "not"]

MOST_NODES, MOST_DEPTH = 10_000, 150  # enough for any question a person writes; derive() takes larger ones apart

FUNCTIONS = Registry("function", "discreet.plan.functions", entry=lambda _: "FUNCTION")
_OWN = frozenset({"name", "value", "sign", "step", "order", "word", "function", "parameters"})


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Expression:
    """A value computed from one row: a column, a constant, or an operation on others.

    Operators build larger expressions; `==` too, so two expressions are compared with `same_as`. They hash by
    identity and are true or false for a row only, never in Python.
    """

    size: int = field(init=False, default=1)
    depth: int = field(init=False, default=1)

    __array_ufunc__ = None  # NumPy's numbers leave their operators to us

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(part.size for part in self.parts))
        object.__setattr__(self, "depth", 1 + max((part.depth for part in self.parts), default=0))
        for what, value, most in (("size", self.size, MOST_NODES), ("depth", self.depth, MOST_DEPTH)):
            if value > most:
                why = f"an expression has a {what} of at most {most}"
                raise BadParameter(what, value, why=why, fix="name parts of it with derive() and use the names")

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The expressions that this one is made of."""
        return ()

    def same_as(self, other: Expression) -> bool:
        """Say whether two expressions are written alike."""
        return self.size == other.size and self.signature == other.signature

    @property
    def signature(self) -> tuple[object, ...]:
        """What expressions that are written alike share, to be looked up by; reprs, since True == 1 in Python."""
        own = (repr(getattr(self, name)) for name in _OWN if name in self.__match_args__)
        return type(self), *own, *(part.signature for part in self.parts)

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __bool__(self) -> bool:
        raise Refusal(
            f"the truth of {show(self)}",
            why="it has a value for each row, so and, or, not, in, if, min, max and chained comparisons cannot use it",
            fix="write &, | and ~ with parentheses around each comparison; is_in() for a list; when() for a choice; "
            "least() and greatest(); (x > 0) & (x < 9) for a chain",
            value=repr(self),
        )

    def __add__(self, other: Operand) -> Expression:
        return Arithmetic("+", self, lift(other))

    def __radd__(self, other: Operand) -> Expression:
        return Arithmetic("+", lift(other), self)

    def __sub__(self, other: Operand) -> Expression:
        return Arithmetic("-", self, lift(other))

    def __rsub__(self, other: Operand) -> Expression:
        return Arithmetic("-", lift(other), self)

    def __mul__(self, other: Operand) -> Expression:
        return Arithmetic("*", self, lift(other))

    def __rmul__(self, other: Operand) -> Expression:
        return Arithmetic("*", lift(other), self)

    def __truediv__(self, other: Operand) -> Expression:
        return Arithmetic("/", self, lift(other))

    def __rtruediv__(self, other: Operand) -> Expression:
        return Arithmetic("/", lift(other), self)

    def __neg__(self) -> Expression:
        return Arithmetic("*", Literal(Fraction(-1)), self)

    def __abs__(self) -> Expression:
        return self.abs()

    def __eq__(self, other: Operand) -> Expression:  # type: ignore[override]
        return Compare("==", self, lift(other))

    def __ne__(self, other: Operand) -> Expression:  # type: ignore[override]
        return Compare("!=", self, lift(other))

    def __lt__(self, other: Operand) -> Expression:
        return Compare("<", self, lift(other))

    def __le__(self, other: Operand) -> Expression:
        return Compare("<=", self, lift(other))

    def __gt__(self, other: Operand) -> Expression:
        return Compare(">", self, lift(other))

    def __ge__(self, other: Operand) -> Expression:
        return Compare(">=", self, lift(other))

    def __and__(self, other: Operand) -> Expression:
        return Logic("and", (self, lift(other)))

    def __or__(self, other: Operand) -> Expression:
        return Logic("or", (self, lift(other)))

    def __invert__(self) -> Expression:
        return Logic("not", (self,))

    def divided_by(self, other: Operand, step: Number) -> Expression:
        """Divide, and round the quotient to a multiple of `step`; null where the divisor is zero."""
        return Arithmetic("/", self, lift(other), positive_step(step))

    def abs(self) -> Expression:
        """Drop the sign."""
        return Call("abs", (self,))

    def round(self, step: Number = 1) -> Expression:
        """Round to the nearest multiple of `step`, halves upwards."""
        return Call("round", (self,), (positive_step(step),))

    def clip(self, low: Number | dt.date | str | None = None, high: Number | dt.date | str | None = None) -> Expression:
        """Replace what is below `low` by `low` and what is above `high` by `high`."""
        return Call("clip", (self,), (bound_of("low", low), bound_of("high", high)))

    def is_null(self) -> Expression:
        """Say whether the value is missing."""
        return Call("is_null", (self,))

    def fill_null(self, value: Operand) -> Expression:
        """Use another value where this one is missing."""
        return Call("fill_null", (self, lift(value)))

    def is_in(self, values: Iterable[Operand]) -> Expression:
        """Say whether the value is one of a list."""
        if isinstance(values, str | Expression) or not isinstance(values, Iterable):
            raise BadParameter("values", values, why="it is not a list", fix="write is_in(['A', 'B'])")
        listed = tuple(map(lift, values))
        if not listed or not all(isinstance(value, Literal) for value in listed):
            fix = "compare columns with ==, joined by |"
            raise BadParameter("values", list(listed), why="it lists constants, at least one", fix=fix)
        return Call("is_in", (self, *listed))

    def year(self) -> Expression:
        """Return the year of a date."""
        return Call("year", (self,))

    def month(self) -> Expression:
        """Return the month of a date, 1 to 12."""
        return Call("month", (self,))

    def day(self) -> Expression:
        """Return the day of the month of a date, 1 to 31."""
        return Call("day", (self,))

    def weekday(self) -> Expression:
        """Return the day of the week of a date: Monday is 1, Sunday is 7."""
        return Call("weekday", (self,))

    def starts_with(self, prefix: str) -> Expression:
        """Say whether a text begins with `prefix`, letter by letter."""
        if not isinstance(prefix, str):
            raise BadParameter("prefix", prefix, why="it is not text", fix="write starts_with('A')")
        return Call("starts_with", (self,), (Literal(prefix).value,))

    def length(self) -> Expression:
        """Count the Unicode code points of a text."""
        return Call("length", (self,))

    def as_number(self) -> Expression:
        """Return a flag as 0 or 1, or a category of integers as a number."""
        return Call("as_number", (self,))

    if not TYPE_CHECKING:  # type checkers see the methods above, and no others

        def __getattr__(self, name: str):  # noqa: ANN204
            if name.startswith("_") or name not in FUNCTIONS:  # whose folder is the list
                raise AttributeError(name, name=name, obj=self)
            return lambda *given: FUNCTIONS[name].call(name, (self, *given))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Name(Expression):
    """A column, by its name."""

    name: str

    def __post_init__(self) -> None:
        check_name("name", self.name)

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Literal(Expression):
    """A constant: a number exactly as written, a text, a day or a boolean."""

    value: Value

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", settled(self.value))

    def __repr__(self) -> str:
        return str(self.value) if isinstance(self.value, Fraction | dt.date) else repr(self.value)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Arithmetic(Expression):
    """Two expressions joined by + - * or /; a quotient is rounded to a multiple of `step`."""

    sign: Sign
    left: Expression
    right: Expression
    step: Fraction | None = None

    def __post_init__(self) -> None:
        _check_word("operator", self.sign, get_args(Sign))
        if self.step is not None and (self.sign != "/" or self.step <= 0):
            raise BadParameter("step", self.step, why="only a quotient has a step of its own", fix="use round(step)")
        Expression.__post_init__(self)

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The two operands."""
        return self.left, self.right

    def __repr__(self) -> str:
        if self.step is not None:
            return f"{self.left!r}.divided_by({self.right!r}, step={self.step})"
        return f"({self.left!r} {self.sign} {self.right!r})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Compare(Expression):
    """Two expressions compared; null where one of them is."""

    order: Order
    left: Expression
    right: Expression

    def __post_init__(self) -> None:
        _check_word("comparison", self.order, get_args(Order))
        Expression.__post_init__(self)

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The two operands."""
        return self.left, self.right

    def __repr__(self) -> str:
        return f"({self.left!r} {self.order} {self.right!r})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Logic(Expression):
    """Booleans joined by and, or, not."""

    word: Word
    of: tuple[Expression, ...]

    def __post_init__(self) -> None:
        _check_word("connective", self.word, get_args(Word))
        if len(self.of) != (1 if self.word == "not" else 2):
            raise BadParameter("of", len(self.of), why="not joins one, and and or join two", fix="write &, | or ~")
        Expression.__post_init__(self)

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The booleans."""
        return self.of

    def __repr__(self) -> str:
        sign = f" {'&' if self.word == 'and' else '|'} "
        return f"~{self.of[0]!r}" if self.word == "not" else f"({sign.join(map(repr, self.of))})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Case(Expression):
    """The value of the first branch whose condition is true; else the default, which is null if left out."""

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression | None = None

    def __post_init__(self) -> None:
        if not self.branches:
            raise BadParameter("branches", (), why="there is nothing to choose", fix="write when(condition, value)")
        Expression.__post_init__(self)

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The conditions and values, in order, and the default."""
        pairs = tuple(part for branch in self.branches for part in branch)
        return pairs if self.default is None else (*pairs, self.default)

    def when(self, condition: Operand) -> When:
        """Begin another branch, tried after the ones before."""
        return When(lift(condition), self)

    def otherwise(self, value: Operand) -> Case:
        """Say what rows get for which no condition is true."""
        return Case(self.branches, lift(value))

    def __repr__(self) -> str:
        branches = [f"when({condition!r}).then({value!r})" for condition, value in self.branches]
        return ".".join(branches if self.default is None else [*branches, f"otherwise({self.default!r})"])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Expression):
    """A function of expressions, with parameters that are fixed for all rows."""

    function: str
    of: tuple[Expression, ...]
    parameters: tuple[Parameter, ...] = ()

    def __post_init__(self) -> None:
        if not self.of:
            raise BadParameter("of", (), why=f"{self.function}() needs a value", fix="pass at least one column")
        Expression.__post_init__(self)

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The arguments."""
        return self.of

    def __repr__(self) -> str:
        shown = [repr(part) for part in self.of] + [str(each) for each in self.parameters if each is not None]
        if self.function in ("least", "greatest"):
            return f"{self.function}({', '.join(shown)})"
        return f"{shown[0]}.{self.function}({', '.join(shown[1:])})"


@dataclass(frozen=True, slots=True)
class When:
    """A condition that waits for its value."""

    condition: Expression
    before: Case | None = None

    def then(self, value: Operand) -> Case:
        """Say what rows get for which the condition is true."""
        branches, default = ((), None) if self.before is None else (self.before.branches, self.before.default)
        return Case((*branches, (self.condition, lift(value))), default)


@overload
def when(condition: Operand) -> When: ...
@overload
def when(condition: Operand, value: Operand) -> Case: ...
def when(condition: Operand, value: Operand | None = None) -> When | Case:
    """Begin a choice, with the value beside the condition or in then(); more branches and otherwise() may follow."""
    begun = When(lift(condition))
    return begun if value is None else begun.then(value)


def least(first: Operand, second: Operand, *more: Operand) -> Expression:
    """Return the smallest of several columns or numbers in the same row; null where one of them is."""
    return Call("least", tuple(lift(each) for each in (first, second, *more)))


def greatest(first: Operand, second: Operand, *more: Operand) -> Expression:
    """Return the largest of several columns or numbers in the same row; null where one of them is."""
    return Call("greatest", tuple(lift(each) for each in (first, second, *more)))


def lift(value: Any) -> Expression:  # noqa: ANN401  (whatever else is passed lands in a refusal)
    """Return an expression as it is, and a Python value as a constant."""
    return value if isinstance(value, Expression) else Literal(value)


def _check_word(kind: str, word: str, words: tuple[str, ...]) -> None:
    if word not in words:
        raise UnknownName(kind, str(word), words)
