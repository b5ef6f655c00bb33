"""The demonstration's page: one file with its pictures, in light and dark, that fetches nothing from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from discreet.cli import _demo_svg as svg
from discreet.cli._demo_steps import EPSILON, QUESTION, Asked, Attacked, Stood
from discreet.cli._demo_words import SHORT, asked_words, attacked_words, audited_words, short, stood_words
from discreet.core.version import __version__

if TYPE_CHECKING:
    from discreet.lab.finding import Finding

_STYLE = """
:root { color-scheme: light dark; --paper: #fdfdfc; --card: #ffffff; --ink: #1e293b; --quiet: #64748b; --rule: #e2e8f0;
  --blue: #2563eb; --soft: #bfd3fb; --track: #eef2f7; --bad: #dc7c5c; --good: #2f9e8f; --code: #f3f5f9; }
@media (prefers-color-scheme: dark) { :root { --paper: #10151f; --card: #171e2b; --ink: #e2e8f0; --quiet: #94a3b8;
  --rule: #2b3648; --blue: #7fa9ff; --soft: #2f4a80; --track: #232d3f; --bad: #d9805f; --good: #3fb8a7;
  --code: #1d2635; } }
* { box-sizing: border-box; }
body { background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, sans-serif; margin: 0; }
main { max-width: 760px; margin: 0 auto; padding: 40px 20px 60px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 8px; }
h2 { font-size: 19px; margin: 0 0 10px; }
h2 b { color: var(--blue); letter-spacing: .06em; margin-right: 8px; }
section { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 22px 24px;
  margin: 22px 0; }
p { margin: 10px 0; }
.lead, footer { color: var(--quiet); }
pre { background: var(--code); border-radius: 6px; padding: 12px 14px; overflow-x: auto; font-size: 13.5px;
  line-height: 1.5; margin: 12px 0; }
table.preview { border-collapse: collapse; font-size: 14px; margin: 12px 0; font-variant-numeric: tabular-nums; }
table.preview th, table.preview td { text-align: left; padding: 4px 18px 4px 0; border-bottom: 1px solid var(--rule); }
.scroll { overflow-x: auto; }
svg { display: block; max-width: 100%; height: auto; margin: 16px 0; }
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

    asked: Asked
    attacked: Attacked
    finding: Finding
    stood: Stood


def page(shown: Shown, again: str) -> str:
    """Return the page; `again` is what to try next, in lines of code."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Discreet: the demonstration</title>'
        f"<style>{_STYLE}</style></head><body><main><h1>Answers without anyone in them</h1>"
        '<p class="lead">Discreet answers questions about a table of people without giving away anyone in it. Here it '
        "does so with 20,190 person-years of the RAND Health Insurance Experiment. No number below is canned: the "
        "noise in all of them was drawn on this machine.</p>"
        f"{_asked(shown.asked)}{_attacked(shown.attacked)}{_audited(shown)}{_stood(shown.stood)}"
        f"<section><h2>What to try next</h2><pre>{escape(again)}</pre></section>"
        f"<footer>Made by discreet demo, version {escape(__version__)}. The table is in the public domain: RAND "
        "Corporation; Cameron and Trivedi, Microeconometrics (2005).</footer></main></body></html>\n"
    )


def _asked(asked: Asked) -> str:
    from discreet.curator._table import grid

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
        2, "ATTACK", "Guess a secret about everybody from harmless-looking counts", _p(text), drawn, _p(after)
    )


def _audited(shown: Shown) -> str:
    finding, before, after = shown.finding, *audited_words(shown.finding)
    most = 1.25 * max(finding.claimed, finding.lower)
    colour = "bad" if finding.violated else "good"
    amounts = [("at most", finding.claimed, "blue", "promised"), ("at least", finding.lower, colour, "measured")]
    rows = [(name, value / most, kind, f"{value:.3f} {words}") for name, value, kind, words in amounts]
    measure = shown.asked.report.asked(epsilon=EPSILON).measures[0]
    noise = measure.statistic.noises[0][0]  # type: ignore[union-attr]  # the first column is a mean
    laws = svg.overlap(
        "The sum of visits in a group, as it may come out",
        float(noise.scale),
        float(noise.sensitivity.l1),
        ("without one person", "with them, at the bounds"),
    )
    bars = svg.bars("Epsilon", rows)
    return _section(3, "AUDIT", "Try to refute the promise of that very answer", _p(before), bars, _p(after), laws)


def _stood(stood: Stood) -> str:
    entry, after = stood_words(stood)
    share = float(stood.spent / stood.budget)
    bar = svg.bars("The budget of the table", [("spent", share, "blue", f"epsilon {stood.spent} of {stood.budget}")])
    lines = escape("\n".join(entry))
    return _section(
        4, "BUDGET", "What is left, and the ledger that says so", bar, f'<pre class="hash">{lines}</pre>', _p(after)
    )


def _section(number: int, word: str, title: str, *parts: str) -> str:
    return f"<section><h2><b>{number} {word}</b>{escape(title)}</h2>{''.join(parts)}</section>"


def _p(words: str) -> str:
    return f"<p>{escape(words)}</p>"
