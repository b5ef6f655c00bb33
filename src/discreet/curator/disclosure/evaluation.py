"""Evaluations: what a reviewer must see of a vault, as text, JSON or a page; from declarations and the ledger alone."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from discreet.ask.registered import unit_words
from discreet.ask.remaining import counted, declared, percent, share_left
from discreet.ask.work_limits import WorkLimits
from discreet.core.page import page
from discreet.core.value import dataclass
from discreet.core.version import __version__
from discreet.curator.disclosure.certificates import CertificatePolicy, assumptions
from discreet.curator.disclosure.ledger_facts import LedgerFacts

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.standing import Standing

Row = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Sections of pairs: what is looked at, and what holds of it here.

    Guarantee: no row is read for it, and nothing in it was computed from one.
    """

    vault: str
    sections: tuple[tuple[str, tuple[Row, ...]], ...]

    def record(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        said = [
            {"title": title, "rows": [{"what": what, "is": words} for what, words in rows]}
            for title, rows in self.sections
        ]
        return {"vault": self.vault, "sections": said}

    def __str__(self) -> str:
        lines = [f"The vault {self.vault}"]
        for title, rows in self.sections:
            lines += ["", title.upper(), *(f"  {what}: {words}" for what, words in rows)]
        return "\n".join(lines)

    def html(self) -> str:
        """Return it as a page that fetches nothing from elsewhere."""
        body = [f"<h1>The vault {escape(self.vault)}</h1>"]
        for title, rows in self.sections:
            cells = "".join(f"<dt>{escape(what)}</dt><dd>{escape(words)}</dd>" for what, words in rows)
            body.append(f"<section><h2>{escape(title)}</h2><dl>{cells}</dl></section>")
        style = "dt { font-weight: 600; margin-top: 10px; } dd { margin: 2px 0 0; overflow-wrap: anywhere; }"
        words = f"Made by discreet evaluate, version {__version__}, from declarations and the ledger alone."
        return page(f"The vault {self.vault}", "".join(body), style=style, words=words)


def evaluation(ledger: Ledger) -> Evaluation:
    """Put together what a reviewer must see."""
    facts, standings = LedgerFacts.of(ledger), ledger.standing()
    sections = (
        ("Units and relations", tuple(_units(facts))),
        ("Budgets and filters", tuple(_budgets(standings, facts))),
        ("Composition", tuple(_composition(standings, facts))),
        ("Mechanisms", tuple(_mechanisms(facts))),
        ("Samplers", tuple(_samplers())),
        ("Access control", tuple(_access(ledger, facts, standings))),
        ("Time and side channels", tuple(_time(ledger))),
        ("Retention", tuple(_retention(ledger, facts))),
        ("What was looked at, and when", tuple(_audits(ledger, facts))),
        ("What the promise rests on", tuple(_assumed(facts))),
    )
    return Evaluation(ledger.vault_id, sections)


def _units(facts: LedgerFacts) -> list[Row]:
    found = []
    for each in facts.tables:
        unit, kind = each.table.unit, each.source.kind
        bound = "" if unit.is_row else f"; people are bounded {_BOUNDS[unit.bound]}"
        words = f"protects {unit_words(unit)}{bound}; version {each.version}, account {each.account}, source {kind}"
        found.append((each.name, words))
    return found or [("tables", "none is registered")]


_BOUNDS = {"query": "in each question", "table": "once for each version of the table"}


def _budgets(standings: tuple[Standing, ...], facts: LedgerFacts) -> list[Row]:
    found = []
    for each in standings:
        if each.scope == "account":
            sums = f"; {counted(each.filter)}" if counted(each.filter) else ""
            words = f"{declared(each.filter)}, under {each.filter.relation}; {percent(share_left(each.filter))} left"
            found.append((each.account, f"{words}; {each.filter.figures.theorem}{sums}"))
            pays = ", ".join(table.name for table in facts.tables if table.account == each.account)
            found.append((f"{each.account} pays for", pays or "no table"))
    windows = [each for each in standings if each.scope == "window" and not each.analyst]
    found += [(f"{each.account}, {each.window}", f"{declared(each.filter)} at most") for each in windows]
    return found or [("accounts", "there are none")]


def _composition(standings: tuple[Standing, ...], facts: LedgerFacts) -> list[Row]:
    unions = any(counted(each.filter) for each in standings if each.scope == "account")
    bills = [(name, many) for name, many in sorted(facts.bills.items()) if many]
    union = ", each charge counted in every sum" if unions else ""
    return [
        ("adaptivity", f"questions may depend on earlier answers: privacy filters admit them{union}"),
        (
            "order",
            "a debit is durable before a row is read; a retry repeats its draws; failures are final",
        ),
        (
            "charges",
            (
                f"{facts.kinds.get('charge', 0)}, of which {facts.kinds.get('settle', 0)} were answered and "
                f"{facts.kinds.get('failure', 0)} failed; {facts.kinds.get('refusal', 0)} refusals"
            ),
        ),
        ("running releases", f"{facts.running}, with {facts.kinds.get('part', 0)} parts: each is one of the charges"),
        ("bills for work done elsewhere", "; ".join(f"{many} to {name}" for name, many in bills) or "none"),
        *(
            (f"released from {account}", f"{many}, from {facts.first[account]} to {facts.last[account]}")
            for account, many in sorted(facts.released.items())
        ),
    ]


def _mechanisms(facts: LedgerFacts) -> list[Row]:
    from discreet.mechanisms import registry

    used = facts.losses_of()
    tests = [
        (name, f"{registry.summary(name).rstrip('.')}; tested in tests/mechanisms/test_{name}.py") for name in registry
    ]
    return [("losses charged so far, by kind", used), *tests]


def _samplers() -> list[Row]:
    from discreet import noise
    from discreet.noise.draws import SAMPLER_VERSION

    names = ", ".join(noise.__all__)
    return [
        ("distributions", f"{names}: discrete, exact, integers; tested in tests/noise and tests/distributions"),
        ("version", str(SAMPLER_VERSION)),
        ("bits", "AES-256 in counter mode, keyed by the operating system; a debit's own key for its draws"),
        ("floats", "no float meets secret data and noise together, other than in methods that say so"),
    ]


def _access(ledger: Ledger, facts: LedgerFacts, standings: tuple[Standing, ...]) -> list[Row]:
    now, grants = ledger.now(), ledger.grants()
    live = [each for each in grants if not each.ended(now)]
    capped = {each.analyst for each in standings if each.scope == "grant"}
    policy = ledger.charge_policy()
    waits = ", ".join(policy.approval) or "none"
    requests = ledger.requests()
    return [
        (
            "grants",
            (
                f"{len(live)} of {len(grants)} are open, to {len({each.analyst for each in live})} analysts, "
                f"{len({each.analyst for each in live} & capped)} of whom have a cap of their own"
            ),
        ),
        ("custodians", f"whoever can write the vault, and {sum(each.role == 'custodian' for each in live)} grants"),
        ("questions that wait for approval, by table", waits.replace("*", "all")),
        ("requests", f"{len(requests)}, of which {sum(each.state == 'pending' for each in requests)} wait"),
        ("isolation", f"analysts see answers, schemas and budgets; {facts.kinds.get('revoke', 0)} times grants ended"),
    ]


def _time(ledger: Ledger) -> list[Row]:
    from discreet.ask.work_limits import late

    limits = WorkLimits.of(ledger)
    pace = f"responses take multiples of {float(limits.pace):g} s" if limits.pace else "response times are not rounded"
    return [
        ("deadline", f"{float(limits.deadline):g} s; questions stopped there: {len(late(ledger))}"),
        ("pace", pace),
        (
            "work",
            (
                f"at most {limits.partners:,} rows of one by joins; questions cost {float(limits.least_price):g} of "
                "a budget at least"
            ),
        ),
        ("not covered", "memory, caches, power, network traffic, and how long an answer takes within a pace"),
    ]


def _retention(ledger: Ledger, facts: LedgerFacts) -> list[Row]:
    copies = sum(each.source.kind == "memory-copy" for each in facts.tables)
    anchors = ledger.anchor_policy()
    return [
        (
            "ledger",
            f"{sum(facts.kinds.values())} entries since {facts.made}, kept for ever, with their answers",
        ),
        ("rows", f"{copies} tables are copies beside the vault; the others stay in their sources"),
        ("erasures", str(facts.documents.get("erasure", 0))),
        ("anchors", "required" if anchors.required else "kept, and not required"),
        ("certificates", "written for every release" if CertificatePolicy.of(ledger).folder else "made on request"),
        ("budgets", "are for life: a new version of a table gives nothing back"),
    ]


def _audits(ledger: Ledger, facts: LedgerFacts) -> list[Row]:
    last = ledger.last_verified()
    return [
        ("the ledger", f"verified whole at {last[0]}, up to entry {last[1]}" if last else "never verified whole"),
        ("head", f"entry {ledger.head[0]}, {ledger.head[1]}"),
        ("public key", ledger.public_key),
        ("keys exchanged", f"{facts.keys.get('vault', 0)} that sign, {facts.keys.get('secret', 0)} secrets"),
        ("state", f"frozen: {ledger.frozen}" if ledger.frozen else "open"),
        ("clock corrections", str(facts.kinds.get("clock", 0))),
        ("missing anchors", str(facts.kinds.get("anchor", 0))),
        ("alerts", str(len(ledger.alerts()))),
        ("code", f"{__version__} now; answers were made by {', '.join(facts.codes) or 'none'}"),
        ("audits of questions", "discreet audit runs the code that answers on made-up rows; it leaves no entry here"),
    ]


def _assumed(facts: LedgerFacts) -> list[Row]:
    return [(each.name, each.words) for each in assumptions({each.name: each for each in facts.tables})]
