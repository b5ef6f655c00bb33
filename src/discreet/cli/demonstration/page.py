"""The demonstration's page: one file with its pictures, in light and dark, that fetches nothing from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from discreet.cli.demonstration import svg
from discreet.cli.demonstration.steps import EPSILON, QUESTION, Attacked, DemoAnswer, Stood
from discreet.cli.demonstration.words import SHORT, asked_words, attacked_words, audited_words, short, stood_words
from discreet.core import page as pages
from discreet.core.version import __version__

if TYPE_CHECKING:
    from discreet.lab.audits.finding import Finding

_STYLE = """
table.preview { border-collapse: collapse; font-size: 14px; margin: 12px 0; font-variant-numeric: tabular-nums; }
table.preview th, table.preview td { text-align: left; padding: 4px 18px 4px 0; border-bottom: 1px solid var(--rule); }
svg text { dominant-baseline: middle; font: 13.5px system-ui, sans-serif; fill: var(--ink);
  font-variant-numeric: tabular-nums; }
svg text.title { font-weight: 600; } svg text.quiet { fill: var(--quiet); font-size: 12px; }
.soft { fill: var(--soft); } .track { fill: var(--track); } .bad { fill: var(--bad); } .good { fill: var(--good); }
.blue { fill: var(--blue); } .line { stroke: var(--blue); stroke-width: 1.8; fill: none; } .dot { fill: var(--blue); }
.mark { stroke: var(--ink); stroke-width: 1.2; stroke-dasharray: 4 3; fill: none; }
.without { fill: var(--quiet); stroke: var(--quiet); } .with { fill: var(--blue); stroke: var(--blue); }
.area { fill-opacity: .18; stroke: none; } .edge { fill: none; stroke-width: 2; }
.hash { overflow-wrap: anywhere; white-space: pre-wrap; }
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """All four steps."""

    asked: DemoAnswer
    attacked: Attacked
    finding: Finding
    stood: Stood


def page(shown: Shown, again: str) -> str:
    """Return the page; `again` is what to try next, in lines of code."""
    body = (
        "<h1>Answers without anyone in them</h1>"
        '<p class="lead">Discreet answers questions about a table of people without giving away anyone in it. Here it '
        "does so with 20,190 person-years of the RAND Health Insurance Experiment. No number below is canned: the "
        "noise in all of them was drawn on this machine.</p>"
        f"{_asked(shown.asked)}{_attacked(shown.attacked)}{_audited(shown)}{_stood(shown.stood)}"
        f"<section><h2>What to try next</h2><pre>{escape(again)}</pre></section>"
    )
    words = (
        f"Made by discreet demo, version {escape(__version__)}. The table is in the public domain: RAND "
        "Corporation; Cameron and Trivedi, Microeconometrics (2005)."
    )
    return pages.page("Discreet: the demonstration", body, style=_STYLE, words=words)


def _asked(asked: DemoAnswer) -> str:
    from discreet.answers.text_table import grid

    before, after = asked_words(asked)
    header, rows = grid(asked.answer)
    names = {"visits": "Visits to a doctor in a year", "spending": "Dollars spent in a year"}
    drawn = ""
    for name, title in names.items():
        texts, cells = [row[header.index(name)].strip() for row in rows], asked.answer.column(name).cells
        keys = [row[0] for row in rows]
        drawn += svg.whiskers(title, list(zip(keys, texts, cells, strict=True)))
    head = "".join(f"<th>{word}</th>" for word in SHORT)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(word)}</td>" for word in short(line)) + "</tr>" for line in asked.preview.lines
    )
    preview = f'<div class="scroll"><table class="preview"><tr>{head}</tr>{body}</table></div>'
    return _section(
        1,
        "ASK",
        "How do visits to the doctor and spending go with self-rated health?",
        f"<pre>{escape(QUESTION)}</pre>{preview}{_p(before)}",
        f"<pre>answer = report.release(epsilon={EPSILON})</pre>{drawn}{_p(after)}",
    )


def _attacked(attacked: Attacked) -> str:
    before, after = attacked_words(attacked)
    rows = [(name, share, "good" if name == "Discreet" else "bad", f"{share:.1%}") for name, share in attacked.shares()]
    drawn = svg.bars("Share of people whose secret was guessed", rows, mark=(0.5, "a coin"))
    text = before.replace(" (│)", "")
    return _section(
        2, "ATTACK", "Guess a secret about everyone from harmless-looking counts", _p(text), drawn, _p(after)
    )


def _audited(shown: Shown) -> str:
    finding, before, after = shown.finding, *audited_words(shown.finding)
    most = 1.25 * max(finding.claimed, finding.lower)
    colour = "bad" if finding.violated else "good"
    amounts = [("at most", finding.claimed, "blue", "promised"), ("at least", finding.lower, colour, "measured")]
    rows = [(name, value / most, kind, f"{value:.3f} {words}") for name, value, kind, words in amounts]
    measure = shown.asked.report.asked(epsilon=EPSILON).measures[0]
    noise = measure.statistic.noises[0][0]  # type: ignore[attr-defined]  # the first column is a mean
    laws = svg.overlap(
        "The sum of visits in a group, as it may come out",
        float(noise.scale),
        float(noise.sensitivity.l1),
        ("without one person", "with them, at the bounds"),
    )
    bars = svg.bars("Epsilon", rows)
    return _section(3, "AUDIT", "Try to refute the guarantee of this answer", _p(before), bars, _p(after), laws)


def _stood(stood: Stood) -> str:
    entry, after = stood_words(stood)
    share = float(stood.spent / stood.budget)
    bar = svg.bars("The budget of the table", [("spent", share, "blue", f"epsilon {stood.spent} of {stood.budget}")])
    lines = escape("\n".join(entry))
    return _section(
        4, "BUDGET", "What is left, and the ledger entry", bar, f'<pre class="hash">{lines}</pre>', _p(after)
    )


def _section(number: int, word: str, title: str, *parts: str) -> str:
    return f"<section><h2><b>{number} {word}</b>{escape(title)}</h2>{''.join(parts)}</section>"


def _p(words: str) -> str:
    return f"<p>{escape(words)}</p>"
