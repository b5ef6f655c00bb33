"""Reconstruction: guess a secret bit of every person from answers about many groups of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from discreet.account.numeric.checks import whole
from discreet.core.errors import BadParameter, UnknownName
from discreet.lab.attacks.reconstruction import solvers as solve
from discreet.lab.attacks.reconstruction.knowledge import AttackerKnowledge, known
from discreet.lab.attacks.reconstruction.message_passing import Floats, message_passing
from discreet.lab.attacks.reconstruction.people import crowd, fair, secret_column
from discreet.lab.attacks.reconstruction.questions import all_groups, predicates, random_groups
from discreet.lab.defence import (
    DELTA,
    Answers,
    Defence,
    ExactDefence,
    GaussianDefence,
    Groups,
    LaplaceDefence,
    NoisyDefence,
    RoundedDefence,
    SampledDefence,
    SuppressedDefence,
    ceiling,
)
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Bars, GuideLine, Shades
from discreet.lab.table_copy import Bits, TableCopy
from discreet.noise.bernoulli import bernoulli

Method = Literal["auto", "exhaustive", "linear_program", "least_squares", "message_passing"]
Shape = Literal["random", "sql"]
METHODS: tuple[Method, ...] = ("auto", "exhaustive", "linear_program", "least_squares", "message_passing")
SHAPES: tuple[Shape, ...] = ("random", "sql")
# All 2^n groups of more people are too many to ask about.
EXHAUSTIVE = 16
_ASKED = {"random": "counts of random groups", "sql": "counts over WHERE clauses"}
_BLATANT = "Fewer than a tenth of the guesses are wrong: to publish these answers is to publish the table."
# Questions for each person, where nobody says how many.
QUESTIONS = 4
# Above so many people a linear program takes minutes.
_PROGRAM = 500


@dataclass(frozen=True, slots=True, eq=False)
class Reconstruction:
    """What an attacker made of the answers: a guess for every person, and how many of them are right.

    `furthest` is how far the worst answer was from the exact count; `epsilon` what the target promised about one row.
    """

    target: str
    method: str
    shape: str
    guesses: Bits = field(repr=False)
    hits: Bits = field(repr=False)
    asked: int
    answered: int
    furthest: float
    epsilon: float | None = None
    example: str | None = None

    @property
    def people(self) -> int:
        """How many bits there were to guess."""
        return len(self.guesses)

    @property
    def right(self) -> int:
        """How many guesses are right."""
        return int(self.hits.sum())

    @property
    def share(self) -> float:
        """The share of people whose bit was guessed; half of them would be by throwing a coin."""
        return self.right / self.people

    @property
    def blatant(self) -> bool:
        """Whether the answers were blatantly non-private: fewer than a tenth of the guesses are wrong.

        Dinur and Nissim (2003). No (1, 0.1)-private answers are, except for a vanishing probability.
        """
        return 10 * (self.people - self.right) < self.people

    @property
    def ceiling(self) -> float | None:
        """The share that no attacker can expect to exceed, where every bit is a fair coin; None without a promise."""
        return ceiling(self.epsilon, DELTA)

    @property
    def outcome(self) -> Outcome:
        """The attack in a sentence, with its figures and a picture of who was guessed."""
        figures = {
            "people": self.people,
            "right": self.right,
            "asked": self.asked,
            "answered": self.answered,
            "method": self.method,
            "questions": self.shape,
            "blatantly_non_private": self.blatant,
            "furthest_answer": self.furthest,
            "alpha": self.furthest / self.people,
            "example": self.example,
        }
        told = f"{self.answered:,} {_ASKED[self.shape]} were answered"
        if self.answered < self.asked:
            told += f", and {self.asked - self.answered:,} more refused"
        found = Outcome(
            attack="reconstruction",
            target=self.target if self.shape == "random" else f"{self.target} (SQL)",
            evidence=Counted(self.right, self.people, "secret bits guessed right"),
            chance=0.5,
            told=f"{told}.",
            ceiling=self.ceiling,
            figures=figures,
            picture=_grid(self),
        )
        next_to_everyone = self.blatant and found.succeeds
        return replace(found, told=f"{told}. {_BLATANT}") if next_to_everyone else found


def reconstruction(
    secret: ArrayLike,
    defence: Defence,
    *,
    questions: int | None = None,
    method: Method = "auto",
    shape: Shape = "random",
    public: TableCopy | None = None,
) -> Reconstruction:
    """Ask how many people of each group have the secret bit, and solve for all bits at once.

    `secret` is a copy made for the attack, one bit a person, and each should be a fair coin's (see `rand.copy`): then a
    coin is right about half of them. The attacker knows who is in which group and how the target makes its answers. By
    default 4 n random groups are asked about, half of the people in each (or near it, such that rounding tells the
    most); of 16 people or fewer, all 2^n groups.
    `shape="sql"` asks what an analyst may write, WHERE clauses over the columns of `public`, a row for each person.

    Dinur and Nissim (2003): answers to all groups within E give all but 4 E bits away (`exhaustive`), and answers to
    O(n) random ones within o(sqrt(n)) all but o(n) (`linear_program`, `least_squares`). `message_passing` gets more out
    of the same answers; it is what `auto` takes for random groups.
    """
    bits, chosen = _bits(secret), _method(secret, questions, method, shape)
    groups, example = _asked(len(bits), questions, chosen, shape, public, known(defence))
    answers = defence.protect(bits, len(groups)).sums(groups)
    if answers.shape != (len(groups),):
        fix = "return one answer for each group, NaN where there is none"
        raise BadParameter("defence", answers.shape, why=f"{len(groups)} answers are expected", fix=fix)
    given = np.isfinite(answers)
    off = np.abs(answers - ExactDefence().protect(bits, len(groups)).sums(groups))[given]
    if not given.all():
        groups, answers = groups[given], answers[given]
    guesses = _guessed(groups, answers, known(defence), chosen)
    return Reconstruction(
        defence.name,
        chosen,
        shape,
        guesses,
        (guesses == bits).astype(np.int64),
        len(given),
        len(answers),
        float(off.max(initial=0.0)),
        defence.epsilon,
        example,
    )


def compared(results: list[Reconstruction]) -> list[Outcome]:
    """Return the outcomes of several targets, the first with a picture of all of them."""
    outcomes = [each.outcome for each in results]
    if not outcomes:
        return []
    promises = {each.ceiling for each in outcomes if each.ceiling is not None and each.ceiling < 0.99}
    lines = [GuideLine(0.5, "a coin"), *(GuideLine(at, f"promise {at:.0%}") for at in sorted(promises))]
    kinds = [each.kind for each in outcomes]
    names, shares = [each.target for each in outcomes], [each.success for each in outcomes]
    label = "secret bits guessed"
    bars = Bars("Reconstruction: who answers, and what an attacker gets", names, shares, label, kinds, lines, True, 1.0)
    return [replace(each, picture=bars if at == 0 else None) for at, each in enumerate(outcomes)]


# What a table has to have for it, in words for whoever has a table without.
NEEDS = "a column of 2 to 20 values, the most common of which 8 people do not have"


def expose(copied: TableCopy, say: Callable[[str], None] = lambda _: None) -> list[Outcome]:
    """Reconstruct a column of a custodian's own copy, asked about in groups, at random and by WHERE clauses."""
    from discreet.lab.vault_copy import Vaulted

    everyone = crowd(copied)
    column = None if everyone is None else secret_column(everyone)
    if everyone is None or column is None:
        return []
    people, bits = fair(everyone, everyone.bits(column), 400)
    defences: list[Defence] = [
        ExactDefence(),
        RoundedDefence(5),
        RoundedDefence(10),
        SuppressedDefence(10),
        SampledDefence(0.5),
    ]
    defences += [NoisyDefence(math.ceil(math.sqrt(len(bits)) / 2)), LaplaceDefence(1), GaussianDefence(0.1)]
    results = []
    for defence in defences:
        say(f"reconstruction of {column}: {defence.name}")
        results.append(reconstruction(bits, defence, questions=QUESTIONS * len(bits)))
    public = [name for name in people.attributes if name != column]
    if public:
        known_of, bits = fair(everyone, everyone.bits(column), 150)
        known_of = TableCopy(known_of.name, {name: known_of.column(name) for name in public})
        for defence in (ExactDefence(), RoundedDefence(5), LaplaceDefence(1)):
            say(f"reconstruction of {column}, by WHERE clauses: {defence.name}")
            results.append(reconstruction(bits, defence, shape="sql", public=known_of))
    say(f"reconstruction of {column}: a vault of Discreet's own")
    _, bits = fair(everyone, everyone.bits(column), 30)
    results.append(reconstruction(bits, Vaulted(1), questions=2 * len(bits)))
    return compared(results)


def _bits(secret: ArrayLike) -> Bits:
    bits = np.asarray(secret)
    if bits.ndim != 1 or not len(bits) or not np.isin(bits, (0, 1)).all():
        raise BadParameter("secret", secret, why="it is not a list of bits", fix="give 0 or 1 for every person")
    return bits.astype(np.int64)


def _method(secret: ArrayLike, questions: int | None, method: Method, shape: Shape) -> Method:
    people = len(np.asarray(secret))
    if method not in METHODS:
        raise UnknownName("method", method, METHODS)
    if shape not in SHAPES:
        raise UnknownName("shape", shape, SHAPES)
    if method == "exhaustive" and (people > EXHAUSTIVE or questions is not None or shape != "random"):
        why = f"it asks about all 2^n groups of at most {EXHAUSTIVE} people"
        raise BadParameter("method", method, why=why, fix="use linear_program or least_squares, or fewer people")
    if method != "auto":
        return method
    if shape == "sql":
        return "linear_program" if people <= _PROGRAM else "least_squares"
    return "exhaustive" if people <= EXHAUSTIVE and questions is None else "message_passing"


def _asked(
    people: int, questions: int | None, method: Method, shape: Shape, public: TableCopy | None, told: AttackerKnowledge
) -> tuple[Groups, str | None]:
    if method == "exhaustive":
        return all_groups(people), None
    count = QUESTIONS * people if questions is None else whole("questions", questions)
    if shape == "random":
        return random_groups(count, people, told.group_share(people)), None
    if public is None or not public.attributes or public.rows != people:
        why = "WHERE clauses are over public columns, with a row for each secret bit"
        raise BadParameter("public", public and public.rows, why=why, fix=f"give a copy of {people} rows as public=")
    clauses = predicates(public, public.attributes, count)
    longest = max((each.text for each in clauses if each.members.any()), key=len, default=clauses[0].text)
    return np.array([each.members for each in clauses]), f"SELECT count(*) WHERE secret = 1 AND {longest}"


def _guessed(groups: Groups, answers: Answers, told: AttackerKnowledge, method: Method) -> Bits:
    """Guess every bit; with no answer at all, by throwing coins."""
    people = groups.shape[1]
    if not len(answers):
        return np.asarray(bernoulli(1 / 2, people), np.int64)
    counts = answers * told.scale
    found: Floats
    match method:
        case "exhaustive":
            found = solve.exhaustive(groups, counts)
        case "linear_program":
            found = solve.linear_program(groups, counts, told)
        case "least_squares":
            found = solve.least_squares(groups, counts)
        case _:
            found, settled = message_passing(groups, counts, told)
            if not settled:
                found = _better(groups, counts, found, solve.least_squares(groups, counts))
    return (found > 0.5).astype(np.int64)


def _better(groups: Groups, counts: Answers, *found: Floats) -> Floats:
    """Return the one whose bits fit the answers better: messages that never settle may have run away."""

    def misfit(each: Floats) -> float:
        exact = ExactDefence().protect((each > 0.5).astype(np.int64), len(groups)).sums(groups)
        return float(np.square(counts - exact).sum())

    return min(found, key=misfit)


def _grid(result: Reconstruction) -> Shades:
    """Show everyone as a cell, dark where the guess is right."""
    wide = math.ceil(math.sqrt(2.5 * result.people))
    cells = np.full(wide * math.ceil(result.people / wide), 0.0)
    cells[: result.people] = result.hits
    title = f"{result.target}: dark where a secret bit was guessed ({result.share:.1%})"
    return Shades(title, cells.reshape(-1, wide).tolist(), "people", "")
