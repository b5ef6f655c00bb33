"""Census: solve published tables of small blocks for the people in them, and put names to the records."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.account.numeric.checks import positive, whole
from discreet.core.errors import BadParameter
from discreet.lab.attacks._coins import coins
from discreet.lab.attacks.census.solver import Solution, UniquenessProof, solve
from discreet.lab.attacks.census.tables import Design, design, published
from discreet.lab.attacks.reconstruction.people import crowd
from discreet.lab.defence import (
    Defence,
    ExactDefence,
    GaussianDefence,
    LaplaceDefence,
    RoundedDefence,
    SuppressedDefence,
    ceiling,
)
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Bars, GuideLine
from discreet.lab.table_copy import Bits, TableCopy

# How many of the first columns a public register holds too, beside a name: age and sex, say.
REGISTER = 2
# What a guesser gets is the mean of so many guesses.
_GUESSES = 20
# An age has tens of values, other attributes a few; so many kinds of records are solved for in a blink.
_FINE, _FEW, _KINDS = range(20, 131), range(2, 9), 4000
_BLOCK = 20


@dataclass(frozen=True, slots=True)
class Block:
    """One block: its people, how many records were made up for them, and how many of those are right.

    `named` people were given a record by the register, `confirmed` ones the right one. `pairs` people are set against
    one from another block, and `told` of them have more records of their kind in the solution, ties decided by a coin.
    A block that was not solved in time counts for free: that a solver was slow says nothing about the tables.
    """

    people: int
    records: int
    found: int
    unique: UniquenessProof
    named: int
    confirmed: int
    told: int = 0
    pairs: int = 0
    solved: bool = True


@dataclass(frozen=True, slots=True)
class Census:
    """What became of all blocks; `chance` and `luck` are what guesses reach for records and for names.

    All shares are of the people in blocks that were solved in time.
    """

    target: str
    tables: tuple[str, ...]
    attributes: tuple[str, ...]
    blocks: tuple[Block, ...]
    chance: float
    luck: float
    epsilon: float | None = None
    register: tuple[str, ...] = field(default=())
    ceiling: float | None = None

    @property
    def solved(self) -> tuple[Block, ...]:
        """The blocks that were solved in time."""
        return tuple(each for each in self.blocks if each.solved)

    @property
    def people(self) -> int:
        """How many people live in the blocks that were solved."""
        return sum(each.people for each in self.solved)

    @property
    def found(self) -> float:
        """The share of records that were reconstructed, all attributes exactly; of the larger side, where sizes differ.

        Whoever makes up a record of every kind finds everyone's, and has found nothing.
        """
        larger = sum(max(each.people, each.records) for each in self.solved)
        return sum(each.found for each in self.solved) / max(1, larger)

    @property
    def unique(self) -> float:
        """The share of blocks whose tables are proven to fit no other records."""
        return self.statements(UniquenessProof.PROVEN) / max(1, len(self.solved))

    def statements(self, status: UniquenessProof) -> int:
        """Count the solved blocks of which it is proven, refuted or undecided that no other records fit."""
        return sum(each.unique is status for each in self.solved)

    @property
    def named(self) -> float:
        """The share of people whom the register gave a record."""
        return sum(each.named for each in self.solved) / max(1, self.people)

    @property
    def confirmed(self) -> float:
        """The share of people to whose name the right record was put."""
        return sum(each.confirmed for each in self.solved) / max(1, self.people)

    @property
    def outcome(self) -> Outcome:
        """The attack in a sentence, with its figures and a picture."""
        columns = ", ".join(self.register)
        said = (
            f"From {len(self.tables)} tables of {len(self.solved)} blocks, {self.found:.1%} of {self.people:,} records "
            f"were reconstructed exactly ({self.chance:.1%} by guessing); a list of names with {columns} put the right "
            f"record to {self.confirmed:.1%} of the people ({self.luck:.1%} by guessing)."
        )
        proven, refuted, undecided = (self.statements(status) for status in UniquenessProof)
        if proven or refuted:
            said += (
                f" That no other records fit the tables is proven for {proven} blocks, refuted for {refuted} and "
                f"undecided for {undecided}."
            )
        late = len(self.blocks) - len(self.solved)
        if late:
            said += f" {late} more were not solved in time, which says nothing of them."
        figures = {
            "people": self.people,
            "blocks": len(self.blocks),
            "blocks_not_solved": late,
            "tables": list(self.tables),
            "unique_blocks": {"proven": proven, "refuted": refuted, "undecided": undecided},
            "records_found": self.found,
            "records_by_guessing": self.chance,
            "named": self.named,
            "confirmed": self.confirmed,
            "confirmed_by_guessing": self.luck,
            "epsilon_of_a_person": self.epsilon,
        }
        label = "share"
        names = ["records found", "blocks with one solution", "names with a record", "names with the right record"]
        shares = [self.found, self.unique, self.named, self.confirmed]
        lines = [GuideLine(self.chance, "records by guessing")]
        told, pairs = sum(each.told for each in self.solved), sum(each.pairs for each in self.solved)
        found = Outcome(
            attack="census",
            target=self.target,
            evidence=Counted(told, pairs, "people told from one of another block"),
            chance=0.5,
            told=said,
            ceiling=self.ceiling,
            figures=figures,
        )
        kinds = [found.kind] * len(names)
        return replace(
            found, picture=Bars(f"Census tables, {self.target}", names, shares, label, kinds, lines, True, 1.0)
        )


def census(
    people: TableCopy,
    *,
    block: str,
    attributes: Sequence[str],
    defence: Defence | None = None,
    register: int = REGISTER,
    seconds: float = 1.0,
) -> Census:
    """Publish tables of every block, solve each block's for its records, and look them up in a register of names.

    Of every block there appear the total, each attribute alone, the first by the second in full detail, groups of the
    first by every two of the others, and medians: exact, or as the defence makes them (medians with exact and
    suppressed tables alone). Each block is an integer program (HiGHS, at most `seconds` for each of its solves). The
    register has the first `register` attributes of everyone, by block and name.

    That is how the Census Bureau reconstructed its own 2010 tables: 46% of the country's records exactly, 71% with the
    age within a year (Abowd 2018; Garfinkel, Abowd and Martindale 2019).
    """
    used, complete = defence or ExactDefence(), _complete(people, [block, *attributes])
    positive("seconds", seconds)
    if not 1 <= whole("register", register) < len(attributes):
        why = "the register has some of the attributes, not all"
        raise BadParameter("register", register, why=why, fix=f"use 1 to {len(attributes) - 1}")
    plan, kinds = design(complete, attributes)
    blocks = complete.codes([block])
    solved = []
    for number in range(int(blocks.max(initial=-1)) + 1):
        records = kinds[blocks == number]
        middles = (
            plan.middles(records)
            if isinstance(used, ExactDefence | SuppressedDefence)
            else [(0, -1)] * len(plan.medians)
        )
        found = solve(plan, published(plan, records, used), middles, used, seconds)
        solved.append(_looked_up(plan, records, kinds[blocks != number], found, register))
    if not solved:
        why = "there is nobody in it whose attributes are all known"
        raise BadParameter("people", people.rows, why=why, fix="give a table with rows, or fewer attributes")
    return Census(
        used.name,
        plan.titles,
        tuple(attributes),
        tuple(solved),
        _guessed(plan, kinds, blocks),
        _lucky(plan, kinds, register),
        used.epsilon,
        tuple(attributes[:register]),
        exchanged(used),
    )


def exchanged(defence: Defence) -> float | None:
    """Return how often anyone tells rightly, at most, which of two people lives in a block; None without a promise.

    Exchanging one for the other is one row less and one more: twice the promise about one row. For rho-zCDP, whose
    squared sensitivity doubles, Pinsker's inequality gives 1/2 + sqrt(rho / 4).
    """
    if isinstance(defence, GaussianDefence):
        return min(1.0, 0.5 + math.sqrt(float(defence.rho) / 4))
    return None if defence.epsilon is None else ceiling(2 * defence.epsilon)


def blocked(people: TableCopy, size: int = _BLOCK, most: int | None = None) -> TableCopy:
    """Return the people with a column `block`: made-up neighbourhoods of `size` at random, at most so many of them."""
    step = whole("size", size)
    chosen = coins().permutation(people.rows)
    count = max(1, people.rows // step) if most is None else min(max(1, people.rows // step), whole("most", most))
    kept = people.taken(chosen[: count * step])
    block = np.arange(kept.rows, dtype=np.int64) // step
    return TableCopy(kept.name, {**kept.columns, "block": block}, kept.identifier)


# What a table has to have for it, in words for whoever has a table without.
NEEDS = "40 people, a column of tens of whole numbers, such as an age, and two of 2 to 8 values"


def expose(copied: TableCopy, say: Callable[[str], None] = lambda _: None) -> list[Outcome]:
    """Publish a custodian's own copy as census tables of made-up blocks of twenty people, and solve them."""
    everyone = crowd(copied)
    names = [] if everyone is None else chosen(everyone)
    if everyone is None or len(names) <= REGISTER:
        return []
    everyone = _complete(everyone, names)
    if everyone.rows < 2 * _BLOCK:  # with nobody outside of a block, there is nothing to compare it with
        return []
    results = []
    targets: list[tuple[Defence, int]] = [
        (ExactDefence(), 40),
        (SuppressedDefence(3), 5),
        (RoundedDefence(5), 5),
        (LaplaceDefence(1), 8),
    ]
    for defence, most in targets:
        say(f"census tables of {', '.join(names)}: {defence.name}")
        neighbourhoods = blocked(everyone, _BLOCK, most)
        results.append(census(neighbourhoods, block="block", attributes=names, defence=defence, seconds=1.0))
    return compared([each for each in results if each.solved])


def compared(results: list[Census]) -> list[Outcome]:
    """Return the outcomes of several targets, the first with a picture of all of them."""
    outcomes = [each.outcome for each in results]
    if len(outcomes) < 2:
        return outcomes
    names, shares = [each.target for each in outcomes], [each.found for each in results]
    kinds = [each.kind for each in outcomes]
    lines = [GuideLine(results[0].chance, "by guessing")]
    title = "Census tables of small blocks: records reconstructed exactly"
    bars = Bars(title, names, shares, "share of people", kinds, lines, True, 1.0)
    return [replace(each, picture=bars if at == 0 else None) for at, each in enumerate(outcomes)]


def chosen(people: TableCopy) -> list[str]:
    """Choose columns to publish: one with tens of whole values (an age), and up to three with few; or none."""
    sizes: dict[str, int] = {}
    surprise: dict[str, float] = {}
    for name in people.attributes:
        cells = people.column(name).tolist()
        plain = all(cell is None or isinstance(cell, bool | int | float | str) for cell in cells)
        whole_cells = [int(cell // 1) if isinstance(cell, float) and np.isfinite(cell) else cell for cell in cells]
        counts = np.array([*Counter(whole_cells).values()]) if plain else np.ones(1)
        sizes[name] = len(counts)
        surprise[name] = -float((counts / counts.sum()) @ np.log(counts / counts.sum()))
    fine = [name for name, size in sizes.items() if size in _FINE and people.column(name).dtype.kind in "iuf"]
    # The register knows the one with the fewest values, as of sex; of the rest, those that tell the most are published.
    few = sorted((name for name, size in sizes.items() if size in _FEW), key=lambda name: -surprise[name])
    if not fine or not few or people.rows < 2 * _BLOCK:
        return []
    names = [max(fine, key=surprise.__getitem__), min(few, key=sizes.__getitem__)]
    for name in [name for name in few if name not in names][:2]:
        if math.prod(sizes[each] for each in [*names, name]) <= _KINDS:
            names.append(name)
    return names


def _complete(people: TableCopy, names: Sequence[str]) -> TableCopy:
    """Leave out anyone who lacks one of the values."""
    there = [np.array([cell is not None for cell in people.column(name).tolist()], bool) for name in names]
    return people.taken(np.logical_and.reduce([np.ones(people.rows, bool), *there]))


def _looked_up(plan: Design, records: Bits, others: Bits, solution: Solution | None, register: int) -> Block:
    """Compare a solution with the block, and let the register name the records of which it knows only one."""
    if solution is None:
        return Block(len(records), 0, 0, UniquenessProof.UNDECIDED, named=0, confirmed=0, solved=False)
    truth = np.bincount(records, minlength=plan.kinds)
    known = _known(plan, register)
    seen: dict[int, set[int]] = {}
    for kind in np.flatnonzero(solution.counts).tolist():
        seen.setdefault(int(known[kind]), set()).add(kind)
    claims = [seen.get(int(known[kind]), set()) for kind in records.tolist()]
    named = [(kind, next(iter(claim))) for kind, claim in zip(records.tolist(), claims, strict=True) if len(claim) == 1]
    confirmed = sum(kind == claim for kind, claim in named)
    found = _overlap(truth, np.repeat(np.arange(plan.kinds), solution.counts))
    pairs = min(len(records), len(others))
    one = solution.counts[coins().permutation(records)[:pairs]]
    other = solution.counts[coins().permutation(others)[:pairs]]
    told = int(((one > other) | ((one == other) & (coins().random(pairs) < 0.5))).sum())
    made = int(solution.counts.sum())
    return Block(len(records), made, found, solution.unique, len(named), confirmed, told, pairs)


def _known(plan: Design, register: int) -> Bits:
    """Return what the register knows of every kind of record, as a number."""
    codes = np.unravel_index(np.arange(plan.kinds), plan.shape)
    return np.ravel_multi_index(tuple(codes[:register]), plan.shape[:register]).astype(np.int64)


def _guessed(plan: Design, kinds: Bits, blocks: Bits) -> float:
    """Return what the better of two guessers finds, who make up as many records as a block has people.

    One draws from everyone outside of the block; the other from all kinds of records alike, which is the better where
    there are few kinds, or nobody outside.
    """
    draw, outside, alike = coins(), 0, 0
    for number in range(int(blocks.max()) + 1):
        own, rest = kinds[blocks == number], kinds[blocks != number]
        truth = np.bincount(own, minlength=plan.kinds)
        for _ in range(_GUESSES):
            if len(rest):
                outside += _overlap(truth, draw.choice(rest, len(own)))
            alike += _overlap(truth, draw.integers(plan.kinds, size=len(own)))
    return max(outside, alike) / (_GUESSES * len(kinds))


def _overlap(truth: Bits, guess: Bits) -> int:
    return int(np.minimum(truth, np.bincount(guess, minlength=len(truth))).sum())


def _lucky(plan: Design, kinds: Bits, register: int) -> float:
    """Return how many names get the right record by the most common one of all that share what the register knows."""
    hidden = kinds % int(np.prod(plan.shape[register:]))
    return float(np.bincount(hidden).max() / len(kinds))
