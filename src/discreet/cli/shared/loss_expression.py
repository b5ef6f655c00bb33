"""Expressions: what happened, in a word or two on the command line, as the privacy loss it stands for.

    laplace:10                 one event: a name and its parameters, in the order of the Python constructor
    laplace:epsilon=0.1        or by name (laplace and discrete_laplace also take epsilon, for scale = 1/epsilon)
    gaussian:1.1@0.01*10000    on a Poisson sample at rate 0.01, ten thousand times (x is as good as *)
    pure:0.1@50of1000          on 50 rows of 1000, drawn without replacement
    laplace:10^3               for groups of three people
    laplace:10 + gaussian:2    one after the other; a space is as good as +
    renyi:2=0.1,8=0.5          a Renyi curve, order by order
    (laplace:10 gaussian:2)@0.01*100

Suffixes apply from left to right. Numbers are read exactly as written: 0.1 is one tenth, 1/3 is a third.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.unit import Relation

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss

# Event, the class of discreet.account it names, and its parameters in order.
EVENTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "laplace": ("Laplace", ("scale",)),
    "gaussian": ("Gaussian", ("sigma",)),
    "discrete_laplace": ("DiscreteLaplace", ("scale", "sensitivity")),
    "discrete_gaussian": ("DiscreteGaussian", ("sigma", "sensitivity")),
    "randomized_response": ("RandomizedResponse", ("epsilon",)),
    "exponential": ("Exponential", ("epsilon",)),
    "pure": ("Pure", ("epsilon",)),
    "approx": ("Approx", ("epsilon", "delta")),
    "zcdp": ("Zcdp", ("rho", "delta")),
    "renyi": ("Renyi", ("order=epsilon",)),
    "gaussian_dp": ("GaussianDP", ("mu",)),
}
_INVERSE = {"laplace", "discrete_laplace"}

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?(?:/\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
    r"|(?P<of>of\b|of(?=\d))|(?P<times>\*|x(?=\s*\d))|(?P<word>[a-zA-Z_][a-zA-Z_-]*)|(?P<sign>[:,=@^+()]))"
)


class BadExpression(BadParameter):
    """An expression that cannot be read; `span` is where, and the text points at it."""

    def __init__(self, text: str, span: tuple[int, int], *, why: str, fix: str) -> None:
        super().__init__("expression", text, why=why, fix=fix)
        self.span = span
        start, end = span
        self.what = f"expression  {text}\n{' ' * (21 + start)}{'^' * max(1, end - start)}"


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number or sign, and where it stands."""

    kind: str
    text: str
    span: tuple[int, int]


def parse(text: str, *, relation: Relation = "add_remove") -> PrivacyLoss:
    """Return the privacy loss that an expression stands for."""
    return _Reader(text, relation).whole()


def tokens(text: str) -> list[Token]:
    """Cut an expression into tokens, ending with one of kind "end"."""
    found, place = [], 0
    while text[place:].strip():
        match = _TOKEN.match(text, place)
        if match is None:
            start = place + len(text[place:]) - len(text[place:].lstrip())
            why = f"{text[start]!r} means nothing here"
            raise BadExpression(text, (start, start + 1), why=why, fix="write events like laplace:10*100")
        kind = match.lastgroup or ""
        found.append(Token(kind, match[kind], match.span(kind)))
        place = match.end()
    return [*found, Token("end", "", (len(text.rstrip()), len(text.rstrip()) + 1))]


class _Reader:
    """A recursive descent over the tokens: sums of terms, terms of an event and its suffixes."""

    def __init__(self, text: str, relation: Relation) -> None:
        self.text = text
        self.relation = relation
        self.tokens = tokens(text)
        self.place = 0

    def whole(self) -> PrivacyLoss:
        loss = self.sum()
        if self.next.kind != "end":
            raise self.error(f"{self.next.text!r} does not belong here", "continue with an event, or a suffix * @ or ^")
        return loss

    def sum(self) -> PrivacyLoss:
        loss = self.term()
        while self.next.kind == "word" or self.next.text in ("+", "("):
            self.take("+")
            loss = loss + self.term()
        return loss

    def term(self) -> PrivacyLoss:
        if self.take("("):
            loss = self.sum()
            if not self.take(")"):
                raise self.error("a bracket is still open", "close it with )")
        else:
            loss = self.event()
        while suffix := self.suffix():
            start = self.tokens[self.place].span[0]
            self.place += 1
            loss = self.at(start, suffix, loss)
        return loss

    def suffix(self) -> Callable[[PrivacyLoss], PrivacyLoss] | None:
        if self.next.kind == "times":
            return lambda loss: loss * self.count()
        return {"@": self.sampled, "^": lambda loss: loss.group(self.count())}.get(self.next.text)

    def sampled(self, loss: PrivacyLoss) -> PrivacyLoss:
        if self.tokens[self.place + 1].kind == "of":
            size = self.count()
            self.place += 1
            return loss.sampled(size, of=self.count())
        return loss.sampled(self.number())

    def event(self) -> PrivacyLoss:
        word = self.next
        if word.kind != "word":
            raise self.error("an event was expected", "start with its name, for example laplace:10")
        self.place += 1
        name = word.text.lower().replace("-", "_")
        if name not in EVENTS:
            unknown = UnknownName("event", word.text, EVENTS)
            raise BadExpression(self.text, word.span, why=unknown.why, fix=unknown.fix)
        given = self.curve() if name == "renyi" and self.take(":") else self.parameters(name, word)
        import discreet.account as account

        made: Callable[..., PrivacyLoss] = getattr(account, EVENTS[name][0])
        return self.at(word.span[0], lambda _: made(**given, relation=self.relation), None)

    def curve(self) -> dict[str, Any]:
        curve: dict[int | Fraction, int | Fraction] = {}
        while True:
            alpha = self.number()
            if not self.take("="):
                raise self.error(
                    "the epsilon of this order is missing", "write renyi:8=0.5, for epsilon 0.5 at order 8"
                )
            curve[alpha] = self.number()
            if not self.take(","):
                return {"curve": curve}

    def parameters(self, name: str, word: Token) -> dict[str, Any]:
        names = EVENTS[name][1]
        if not self.take(":"):
            why = f"{word.text} needs its {names[0]}"
            raise BadExpression(self.text, word.span, why=why, fix=f"write {word.text}:{names[0]}=1, or {word.text}:1")
        given: dict[str, Any] = {}
        while True:
            key = self.key(name, names, len(given))
            given[key] = self.number()
            if not self.take(","):
                break
        if "epsilon" in given and name in _INVERSE:
            epsilon = given.pop("epsilon")
            given["scale"] = given.get("sensitivity", 1) / Fraction(epsilon) if epsilon else 0
        return given

    def key(self, name: str, names: tuple[str, ...], position: int) -> str:
        known = (*names, "epsilon") if name in _INVERSE else names
        if self.next.kind == "word":
            key = self.next
            self.place += 1
            if key.text not in known or not self.take("="):
                fix = UnknownName("parameter", key.text, known).fix
                raise BadExpression(self.text, key.span, why=f"{name} has no parameter of that name", fix=fix)
            return key.text
        if position >= len(names):
            raise self.error(f"{name} takes {' and '.join(names)} and no more", "leave the last number out")
        return names[position]

    def number(self) -> int | Fraction:
        token = self.next
        if token.kind != "number":
            raise self.error("a number was expected", "write it like 2, 0.1, 1e-6 or 1/3")
        self.place += 1
        from discreet.core.rational import parse_written

        value = parse_written("number", token.text)
        return value.numerator if value.denominator == 1 else value

    def count(self) -> int:
        token = self.next
        value = self.number()
        if not isinstance(value, int):
            raise BadExpression(self.text, token.span, why="an integer was expected", fix="write it like 1000")
        return value

    def at(self, start: int, make: Callable[[Any], PrivacyLoss], loss: object) -> PrivacyLoss:
        """Make a loss; a refusal is told with the part of the expression it speaks of."""
        try:
            return make(loss)
        except BadExpression:
            raise
        except Refusal as refusal:
            end = self.tokens[self.place - 1].span[1]
            why = f"{refusal.what}: {refusal.why}"
            raise BadExpression(self.text, (start, end), why=why, fix=refusal.fix) from refusal

    @property
    def next(self) -> Token:
        return self.tokens[self.place]

    def take(self, sign: str) -> bool:
        if self.next.text == sign:
            self.place += 1
            return True
        return False

    def error(self, why: str, fix: str) -> BadExpression:
        return BadExpression(self.text, self.next.span, why=why, fix=fix)


def join(words: Sequence[str]) -> str:
    """Join the words of a command line into one expression."""
    return " ".join(words)
