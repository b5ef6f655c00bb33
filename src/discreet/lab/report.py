"""The report: every attack on a copy of a custodian's own table, on one page."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any, cast

from discreet.core.errors import Refusal
from discreet.lab.attacks import attacks
from discreet.lab.danger import Danger, danger
from discreet.lab.outcome import CONFIDENCE, FORMAT, Outcome, tally
from discreet.lab.table_copy import TableCopy

Say = Callable[[str], None]
Expose = Callable[[TableCopy, Say], list[Outcome]]
# Counts per person that the meter assumes: what the strongest attack of the page asks for.
QUESTIONS = 4
# Gaussian noise of so much rho in all is worth an epsilon of about 1, at a delta of one in a million.
RHO = Fraction(1, 50)


@dataclass(frozen=True, slots=True)
class ReportSection:
    """One attack: what it showed and how long it took, or why it had nothing to go by."""

    attack: str
    about: str
    outcomes: tuple[Outcome, ...]
    seconds: float
    skipped: str = ""

    def record(self) -> dict[str, Any]:
        """Return the section as plain JSON values."""
        return {
            "attack": self.attack,
            "outcomes": [each.record() for each in self.outcomes],
            "seconds": round(self.seconds, 3),
            "skipped": self.skipped,
        }


@dataclass(frozen=True, slots=True)
class AttackReport:
    """What attacks got out of releases of one table; `meters` place planned releases under the fundamental law."""

    table: str
    rows: int
    people: int
    sections: tuple[ReportSection, ...]
    meters: tuple[Danger, ...]

    @property
    def summary(self) -> str:
        """How many targets each verdict is on, without demonstrations, which are counted by themselves."""
        counts, shown = tally(self.outcomes), sum(each.demonstration for each in self.outcomes)
        words = ", ".join(f"{verdict} {many}" for verdict, many in counts.items())
        return (
            f"Verdicts of {len(self.outcomes) - shown} attacks that read the table: {words}. "
            f"Demonstrations, which read nothing of it but its size, are not counted: {shown}."
        )

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """All outcomes, attack by attack."""
        return tuple(outcome for section in self.sections for outcome in section.outcomes)

    def record(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {
            "format": FORMAT,
            "confidence": CONFIDENCE,
            "table": self.table,
            "rows": self.rows,
            "people": self.people,
            "verdicts": {str(verdict): many for verdict, many in tally(self.outcomes).items()},
            "demonstrations": sum(each.demonstration for each in self.outcomes),
            "attacks": [section.record() for section in self.sections],
            "danger": [meter.record() for meter in self.meters],
        }


def report(copied: TableCopy, *, only: Collection[str] = (), say: Say = lambda _: None) -> AttackReport:
    """Run every attack there is on the copy, or `only` some, and place planned releases by the fundamental law."""
    sections = tuple(_section(name, copied, say) for name in (only or attacks))
    people = copied.people().rows
    return AttackReport(copied.name, copied.rows, people, sections, meters(people))


def meters(people: int) -> tuple[Danger, ...]:
    """Place releases of four counts a person under the law: rounded ones, ones within the root, and Discreet's."""
    if not people:
        return ()
    questions = QUESTIONS * people
    return (
        danger(people, questions, rounded=10),
        danger(people, questions, rounded=100),
        danger(people, questions, error=round(math.sqrt(people), 1)),
        danger(people, questions, laplace=1),
        danger(people, questions, gaussian=RHO),
    )


def _section(name: str, copied: TableCopy, say: Say) -> ReportSection:
    say(name)
    began = time.perf_counter()
    expose, about = cast("Expose", attacks[name]), attacks.summary(name).partition(": ")[2]
    try:
        outcomes, skipped = tuple(expose(copied, lambda word: say(f"{name}: {word}"))), ""
    except Refusal as refusal:  # the table has not what the attack needs
        outcomes, skipped = (), str(refusal)
    if not outcomes and not skipped:
        needs: str = import_module(f"{attacks.package}.{name}").NEEDS
        skipped = f"it needs {needs}. That it finds nothing to attack here promises nothing."
    return ReportSection(name, about, outcomes, time.perf_counter() - began, skipped)
