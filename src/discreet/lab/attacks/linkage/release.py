"""Releases: half of a copy's people, published behind a defence, and what a list of everyone teaches of them then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.budgets.budget import Budget
from discreet.core.errors import BadParameter
from discreet.lab.attacks._coins import Coins, coins
from discreet.lab.attacks.linkage.columns import coarse, numbers
from discreet.lab.attacks.linkage.join import aligned, linkage
from discreet.lab.attacks.linkage.uniqueness import crowds
from discreet.lab.defence import (
    DELTA,
    Defence,
    GaussianDefence,
    NoisyDefence,
    RoundedDefence,
    SampledDefence,
    SuppressedDefence,
    ceiling,
)
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Bars
from discreet.lab.table_copy import Bits, TableCopy

_METHOD = "mst"  # measures chosen pairs of columns: fast, and good to join on
_SYNTHETIC = "synthetic data by {}"
_CATEGORIES = 12  # a column of numbers with fewer values is one of categories, which nobody rounds
_NOWHERE = -1e9  # where what is missing lies, among numbers


@dataclass(frozen=True, slots=True)
class Learned:
    """What an attacker learned by joining a list of everyone to a release: of people in it, and of people outside.

    `inside` and `outside` are the shares whose secret was guessed right: as the most common among the rows that match
    them, or in the whole release where none does. People not in the table cannot be harmed by its release: what is
    told of them is what the table teaches about people like them. A coin has put each person into the table or not, and
    `told` counts those of whom the release says which: "in" where a row agrees with what the list says and the guess
    with their secret. A release that does not depend on who is in it is right half of the time, exactly.
    """

    target: str
    on: tuple[str, ...]
    secret: str
    members: int
    outsiders: int
    published: int  # rows
    named: int | None  # members matched by their own row, alone on both sides; synthetic rows belong to nobody
    matched: int  # people on the list who match one row and are matched by it alone
    precision: float | None  # the share of them whose secret that row tells
    inside: float
    outside: float
    told: int
    epsilon: float | None

    @property
    def ceiling(self) -> float | None:
        """How often, at most, anyone tells rightly whether a coin put a person into the table."""
        return ceiling(self.epsilon, DELTA)

    @property
    def outcome(self) -> Outcome:
        """The verdict, with a bar for people in the table and one for those outside."""
        figures: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__ if name != "target"}
        names, shares = ["people in the table", "people outside"], [self.inside, self.outside]
        title, label = f"{self.secret} guessed right: {self.target}", "share guessed right"
        people = self.members + self.outsiders
        found = Outcome(
            attack="linkage",
            target=self.target,
            evidence=Counted(self.told, people, "people of whom it is told whether they are in the table"),
            chance=0.5,
            told=self._told(),
            ceiling=self.ceiling,
            figures={**figures, "on": [*self.on]},
        )
        return replace(found, picture=Bars(title, names, shares, label, [found.kind, "quiet"], percent=True, most=1.0))

    def _told(self) -> str:
        told = (
            f"Joined on {', '.join(self.on)}, {self.secret} is guessed right for {self.inside:.0%} of the people in "
            f"the table, against {self.outside:.0%} of people who are not in it"
        )
        if self.named is None:
            sure = "" if self.precision is None else f" ({self.matched:,} match one, right for {self.precision:.0%})"
            return f"{told}; its {self.published:,} rows belong to nobody{sure}."
        share = self.named / max(1, self.members)
        many = f", among {self.matched:,} matches" if self.matched > self.named else ""
        return f"{told}; {self.named:,} of {self.members:,} ({share:.1%}) are named by a row of their own{many}."


def learned(copied: TableCopy, on: Sequence[str], secret: str, defence: Defence) -> Learned:
    """Publish a half of the copy's people, chosen at random, and join a list of all of them to it.

    A table is published as it is, with numbers rounded (`RoundedDefence`) or made noisy (`NoisyDefence`), as a sample
    (`SampledDefence`), or coarse and without classes of fewer than so many (`SuppressedDefence`: the k-anonymity of
    Sweeney 2002). A defence with a promise publishes synthetic data. In coarse tables and synthetic data columns have
    at most 32 values, which are taken from the copy where a custodian would declare them.
    """
    if secret in on or not on:
        why = "the attacker knows the columns that are joined on, and wants another"
        raise BadParameter("secret", secret, why=why, fix="join on columns that do not say it")
    own, people = coins(), copied.people()
    inside = own.random(people.rows) < 1 / 2
    listed = _listed(people, on, secret, defence)
    release, owners = _release(listed, inside, on, secret, defence, own)
    joined = linkage(release, listed, on)
    hidden = listed.column(secret)
    guesses, met = _guessed(release, listed, on, secret)
    right = guesses == hidden
    told = release.column(secret)[joined.rows] == hidden[joined.names]
    return Learned(
        target=_SYNTHETIC.format(defence.name) if owners is None else f"{copied.name}, {defence.name}",
        on=tuple(on),
        secret=secret,
        members=int(inside.sum()),
        outsiders=int((~inside).sum()),
        published=release.rows,
        named=None if owners is None else int((owners[joined.rows] == joined.names).sum()),
        matched=len(told),
        precision=float(told.mean()) if len(told) else None,
        inside=_share(right, inside),
        outside=_share(right, ~inside),
        told=int(((right & met) == inside).sum()),
        epsilon=defence.epsilon,
    )


def _guessed(release: TableCopy, listed: TableCopy, on: Sequence[str], secret: str) -> tuple[Bits, NDArray[np.bool_]]:
    """Guess a secret for everyone: the most common among the rows that look like them, or else in the release.

    The second array says for whom there are such rows.
    """
    told = release.column(secret)
    here, there = aligned(release, listed, on)
    found = np.full(int(max(here.max(initial=0), there.max(initial=0))) + 1, np.bincount(told, minlength=1).argmax())
    many = int(told.max(initial=0)) + 1
    pairs, counts = np.unique(here * many + told, return_counts=True)
    order = np.argsort(counts, kind="stable")  # of those written to one place, the most common comes last
    found[pairs[order] // many] = pairs[order] % many
    return found[there], np.isin(there, here)


def _share(right: NDArray[np.bool_], among: NDArray[np.bool_]) -> float:
    return float(right[among].mean()) if among.any() else 0.0


def _listed(people: TableCopy, on: Sequence[str], secret: str, defence: Defence) -> TableCopy:
    """Return everyone as the attacker knows them, in the words of the release, and their secrets as codes."""
    columns: dict[str, NDArray[Any]] = {}
    for name in on:
        codes, amounts = people.codes([name]), numbers(people.column(name))
        if defence.epsilon is not None or isinstance(defence, SuppressedDefence):
            columns[name] = coarse(people, name)[0]
        elif (
            amounts is None
            or codes.max(initial=0) < _CATEGORIES
            or not isinstance(defence, RoundedDefence | NoisyDefence)
        ):
            columns[name] = codes
        else:
            base = defence.base if isinstance(defence, RoundedDefence) else 1
            columns[name] = np.floor(np.nan_to_num(amounts, nan=_NOWHERE) / base + 0.5) * base
    return TableCopy("the list", {**columns, secret: coarse(people, secret)[0]})


def _release(
    listed: TableCopy, inside: NDArray[np.bool_], on: Sequence[str], secret: str, defence: Defence, own: Coins
) -> tuple[TableCopy, Bits | None]:
    """Return what is published, and whose each row is; None where rows are nobody's."""
    members, places = listed.taken(inside), np.flatnonzero(inside)
    if defence.epsilon is not None:
        return _synthetic(members, listed, defence), None
    keep = np.ones(members.rows, bool)
    match defence:
        case SuppressedDefence(least=least):
            keep = crowds(codes := members.codes(on), None)[codes] >= least
        case SampledDefence(share=share):
            keep = own.random(members.rows) < share
        case NoisyDefence(width=width):
            columns = {
                name: values + own.integers(-width, width + 1, len(values)) if values.dtype.kind == "f" else values
                for name, values in members.columns.items()
                if name != secret
            }
            members = TableCopy(members.name, {**columns, secret: members.column(secret)})
    return members.taken(keep), places[keep]


def _synthetic(members: TableCopy, listed: TableCopy, defence: Defence) -> TableCopy:
    """Make synthetic data from the members' codes, with as many rows as it estimates there are.

    How many codes a column has is taken from the list, which is public here, and not from those who are in the table.
    """
    from discreet.publish.synthesis import synthesize

    sizes = {name: int(values.max(initial=0)) + 1 for name, values in listed.columns.items()}
    budget = Budget(rho=defence.rho) if isinstance(defence, GaussianDefence) else Budget(epsilon=defence.epsilon or 0)
    return TableCopy("the synthetic data", synthesize(members.columns, sizes, budget=budget, method=_METHOD).codes())
