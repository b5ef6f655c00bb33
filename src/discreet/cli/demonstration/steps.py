"""The demonstration's four steps: ask, attack, audit and look at the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.cli.demonstration.vault import TABLE, DemoVault

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.account.losses.loss import PrivacyLoss
    from discreet.answers.answer import Answer
    from discreet.ask.preview import Preview
    from discreet.ask.report import Report
    from discreet.lab.audits.finding import Finding
    from discreet.ledger.entry import Entry
    from discreet.ledger.integrity.verify import Verified
    from discreet.measures.sums import SumMeasure

EPSILON = 1
PEOPLE, QUERIES = 200, 800
SAMPLES = 200_000

QUESTION = """\
report = rand.group_by("health").agg(
    visits=dp.mean("visits"), spending=dp.mean("spending"))
report.preview(epsilon=1)"""


@dataclass(frozen=True, slots=True)
class DemoAnswer:
    """The first step: what was expected of the answer, and the answer."""

    report: Report
    preview: Preview
    answer: Answer

    @property
    def replayed(self) -> bool:
        """Whether an earlier run had paid."""
        return bool((self.answer.receipt or {}).get("replayed"))

    def record(self) -> dict[str, Any]:
        """Return the step as plain JSON values."""
        return {
            "preview": self.preview.record(),
            "answer": [dict(row) for row in self.answer],
            "replayed": self.replayed,
        }


@dataclass(frozen=True, slots=True)
class Attacked:
    """The second step: for each way to answer, how many people the attacker guessed."""

    people: int
    queries: int
    epsilon: float
    right: tuple[tuple[str, int], ...]
    most: float

    def shares(self) -> list[tuple[str, float]]:
        """Return the share of people guessed, for each way to answer."""
        return [(name, count / self.people) for name, count in self.right]

    def record(self) -> dict[str, Any]:
        """Return the step as plain JSON values."""
        shares = dict(self.shares())
        return {"people": self.people, "queries": self.queries, "epsilon": self.epsilon, "guessed": shares} | {
            "guessing": 0.5,
            "most": self.most,
        }


@dataclass(frozen=True, slots=True)
class Stood:
    """The fourth step: what is spent, the entry that says so, and the whole ledger in order."""

    spent: Fraction
    budget: Fraction
    mine: Fraction
    entry: Entry
    verified: Verified

    def record(self) -> dict[str, Any]:
        """Return the step as plain JSON values."""
        entry = {"sequence": self.entry.sequence, "kind": self.entry.kind, "hash": self.entry.hash}
        return {
            "spent": str(self.spent),
            "budget": str(self.budget),
            "yours": str(self.mine),
            "entry": {**entry, "previous": self.entry.previous, "body": self.entry.record()},
            "verified": {"entries": self.verified.entries, "head": self.verified.head},
        }


def ask(vault: DemoVault) -> DemoAnswer:
    """Ask for doctor visits and spending by self-rated health, having looked at the preview."""
    from discreet.plan.aggregates import mean

    table = vault.session.table(TABLE)
    report = table.group_by("health").agg(visits=mean("visits"), spending=mean("spending"))
    preview = report.preview(epsilon=EPSILON)
    answer = report.release(epsilon=EPSILON)
    vault.keep(vault.place.answer, answer.to_json() + "\n")
    return DemoAnswer(report, preview, answer)


def attack() -> Attacked:
    """Reconstruct a secret bit of people in a copy of the public table; no vault or ledger is touched."""
    from discreet.lab import rand
    from discreet.lab.attacks.reconstruction import reconstruction
    from discreet.lab.defence import Defence, ExactDefence, LaplaceDefence, RoundedDefence, ceiling

    copied = rand.copy(PEOPLE)
    private = LaplaceDefence(EPSILON)
    defences: dict[str, Defence] = {
        "exact": ExactDefence(),
        "rounded to 5": RoundedDefence(5),
        "rounded to 10": RoundedDefence(10),
        "Discreet": private,
    }
    right = tuple(
        (name, reconstruction(copied.secret, defence, questions=QUERIES, method="least_squares").right)
        for name, defence in defences.items()
    )
    return Attacked(PEOPLE, QUERIES, private.epsilon, right, ceiling(private.epsilon) or 1.0)


def audit(asked: DemoAnswer) -> Finding:
    """Measure what the noise of the question reveals about one person, on invented neighbours."""
    from discreet.lab.audits.audit import audit as examined
    from discreet.lab.audits.finding import Layer
    from discreet.measures.sums import SumMeasure

    layers: tuple[Layer, ...] = ("black_box",)
    question = asked.report.asked(epsilon=EPSILON)
    measures = [each for each in question.measures if isinstance(each, SumMeasure)]
    mechanism = DemoNoise(measures, question.loss)
    return examined(mechanism, *mechanism.neighbours(), samples=SAMPLES, delta=0.0, layers=layers)


@dataclass(frozen=True, slots=True)
class DemoNoise:
    """The very noise of a question about means, as an attacker sees it who looks for one person in one group.

    The attacker knows everyone else, and how far the person moves each noisy integer: of all integers, the least
    excess is looked at, counted in such moves. That is post-processing, so what it tells was in the answer.
    """

    measures: Sequence[SumMeasure]
    loss: PrivacyLoss

    def neighbours(self) -> tuple[Tallies, Tallies]:
        """Return an invented group of 300 rows without and with the person who moves it most: all rows at the top."""
        means: list[Any] = [each.statistic for each in self.measures]
        added = [(mean.contributions * mean.grid.width, mean.contributions) for mean in means]
        return tuple((0, 300) for _ in means), tuple((above, 300 + rows) for above, rows in added)

    def releases(self, tallied: Tallies, count: int) -> NDArray[np.float64]:
        """Return what the attacker sees in so many runs."""
        import numpy as np

        known = zip(self.measures, tallied, *self.neighbours(), strict=True)
        excesses = []
        for measure, own, without, with_one in known:
            repeated: Any = np.tile(measure.exact(own), (count, 1))
            noisy = measure.statistic.noisy(repeated)
            base, moved = (measure.statistic.inner(measure.exact(each)) for each in (without, with_one))
            for place, (low, high) in enumerate(zip(base, moved, strict=True)):
                if high != low:
                    excesses.append((noisy[:, place] - low) / (high - low))
        least: NDArray[np.float64] = np.min(excesses, axis=0)
        return least


Tallies = tuple[tuple[int, int], ...]


def stand(vault: DemoVault, asked: DemoAnswer) -> Stood:
    """Look at the budget, find the entry that paid for the answer, and verify the ledger."""
    standings = {each.scope: each for each in vault.session.remaining()}
    paid = int((asked.answer.receipt or {})["sequence"])
    (entry,) = vault.curator.ledger.entries(after=paid - 1, limit=1)
    return Stood(
        standings["account"].filter.figures.spent.loss,
        standings["account"].filter.figures.budget.loss,
        standings["grant"].filter.figures.remaining.loss,
        entry,
        vault.curator.verify(),
    )
