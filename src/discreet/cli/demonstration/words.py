"""The demonstration's sentences, for the terminal and the page alike; they hold whatever noise was drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.account.budgets.exceeded import rounded_down
from discreet.cli.demonstration.steps import EPSILON, SAMPLES, Attacked, DemoAnswer, Stood

if TYPE_CHECKING:
    from discreet.ask.preview import PreviewLine
    from discreet.lab.audits.finding import Finding


# What a narrow screen has room for of a preview.
SHORT = ("column", "mechanism", "noise", "95% half-width", "cost")


def short(line: PreviewLine) -> tuple[str, ...]:
    """Return a line of a preview, less the columns for which there is no room."""
    return line.column, line.mechanism, line.noise, line.within, line.cost


def asked_words(asked: DemoAnswer) -> tuple[str, str]:
    """Say what a preview is, and how to read the answer."""
    before = (
        "The preview is free: it uses the question and the custodian's declarations, and reads no row. "
        "n is the number of rows in a group, so small groups get wide error bars."
    )
    after = (
        "Each interval contains the exact mean with probability at least 95%; a year counts for at most 25 visits and "
        "1,000 dollars, as declared. The guarantee protects whole people with all their years: no output is "
        f"more than {math.exp(EPSILON):.2g} times as likely with any one of them as without."
    )
    if asked.replayed:
        after += " An earlier run paid for this question, so the same answer was replayed for free."
    return before, after


def attacked_words(attacked: Attacked) -> tuple[str, str]:
    """Say what the attacker does, and what came of it."""
    before = (
        f"A copy of {attacked.people} people from the public file, outside any vault; the secret is whether their "
        f"health is less than excellent. The attacker asks {attacked.queries} times how many of a random half have "
        "it, and solves the equations. Shares of people guessed right; guessing gets half (│):"
    )
    after = (
        "Rounding looks careful and hides almost nobody. Discreet answered all questions for epsilon "
        f"{attacked.epsilon:g} together: no attack can then expect more than {attacked.most:.0%}."
    )
    return before, after


def audited_words(finding: Finding) -> tuple[str, str]:
    """Say how the promise was put to the test, and what was found."""
    before = (
        f"The noise of your question, drawn {SAMPLES:,} times with and without one person whose five years lie at "
        "the bounds. The best event found to distinguish the two proves this lower bound on epsilon:"
    )
    after = (
        "The claim is refuted: do not rely on this installation, and please report it."
        if finding.violated
        else "Nothing against the guarantee, and the guarantee is close to what was measured. "
        "(A correct guarantee is refuted in at most one run of a million.)"
    )
    return before, after


def stood_words(stood: Stood) -> tuple[list[str], str]:
    """Write the ledger's entry, and say what verifying found."""
    entry = stood.entry
    body = entry.record()
    lines = [
        f"entry {entry.sequence}   {entry.kind}: {body.get('label', '')}",
        f"by        {body.get('analyst', '')}, at {body.get('at', '')}",
        f"follows   {entry.previous}",
        f"hash      {entry.hash}",
    ]
    after = (
        f"The debit was on disk before a row was read. All {stood.verified.entries} entries verify, each chained to "
        f"the one before; you may still spend epsilon {rounded_down(stood.mine)}."
    )
    return lines, after
