"""The long runs of the auditor: every planted defect at every price, and two thousand audits of honest code."""

import time
from collections import defaultdict
from fractions import Fraction

from discreet.lab.audits.finding import AuditFailed
from discreet.lab.audits.sql import audit_sql
from discreet.testing import seeded
from tests.lab.audits.release.honest import CASES, case
from tests.lab.audits.release.planted import EPSILONS, PLANTS, QUESTIONS, VISITS

FLAGGED = ("violated", "failed")
MOST = 30  # seconds that an audit with default settings may take
# What an audit of honest code flags has a probability of at most 1e-6; a flagged defect is no statistical test.
# Every cell of the table, in an order in which a part of it has every defect at every price, and other aggregates each.
EVERY = [
    f"{plant.defect}|{question}|{epsilon}"
    for _, plant, question, epsilon in sorted(
        (
            ((at - number - turn) % len(plant.questions), plant, question, epsilon)
            for number, plant in enumerate(PLANTS)
            for at, question in enumerate(plant.questions)
            for turn, epsilon in enumerate(EPSILONS)
        ),
        key=lambda cell: (cell[0] % len(EPSILONS), cell[0]),
    )
]


def planted(defect, question, epsilon, **effort):
    """Audit a question while a defect is planted; return the verdict, by which way it was found, and the event."""
    (plant,) = [each for each in PLANTS if each.defect == defect]
    text, price = QUESTIONS[question]
    try:
        with plant.planted(), seeded(1):
            found = audit_sql(text, VISITS, **price(Fraction(epsilon)), **effort)
    except AuditFailed as failed:
        return "failed", "release", str(failed)
    return (
        found.verdict,
        ", ".join(sorted({each.way for each in found.tried if each.finding.violated})),
        found.worst.event,
    )


def planted_record(key, _):
    """Plant and audit, for a long run."""
    begun = time.process_time(), time.perf_counter()
    verdict, way, event = planted(*key.split("|"))
    return {"verdict": verdict, "way": way, "event": event, **seconds(begun)}


def honest_record(key, _):
    """Audit honest code, for a long run; a refusal of the question is told as such, and counts as no audit."""
    found, begun = case(int(key)), (time.process_time(), time.perf_counter())
    with seeded(int(key)):
        audited = found.audited()
    worst = audited.worst
    return {
        "case": found.name,
        "verdict": audited.verdict,
        "open": [f"{each.pair}, {each.way}: {each.finding.event}" for each in audited.open],
        "event": worst.event if worst.violated else "",
        **seconds(begun),
    }


def seconds(begun):
    """Return how long a run took: of the processor, and on the clock."""
    return {"cpu": round(time.process_time() - begun[0], 2), "wall": round(time.perf_counter() - begun[1], 2)}


def planted_table(records):
    """Return the lines of the table: a row for each defect and aggregate, a column for each epsilon."""
    rows = defaultdict(dict)
    for plant in PLANTS:
        for question in plant.questions:
            for epsilon in EPSILONS:
                if (record := records.get(f"{plant.defect}|{question}|{epsilon}")) is not None:
                    rows[plant.defect, question][epsilon] = record
    lines = [f"| defect | aggregate | {' | '.join(EPSILONS)} |", "|---|---|" + "---|" * len(EPSILONS)]
    for (defect, question), cells in rows.items():
        told = [_cell(cells.get(epsilon)) for epsilon in EPSILONS]
        lines.append(f"| {defect} | {question} | {' | '.join(told)} |")
    return lines


def _cell(record):
    if record is None:
        return ""
    found = record["way"] if record["verdict"] == "violated" else record["verdict"]
    return f"{found if record['verdict'] in FLAGGED else '**' + record['verdict'] + '**'} {record['cpu']:.0f} s"


def planted_summary(records):
    """Return a sentence for all of them."""
    flagged = sum(each["verdict"] in FLAGGED for each in records.values())
    slow = max(each["cpu"] for each in records.values())
    ran = (
        ""
        if len(records) == len(EVERY)
        else f" Of {len(EVERY):,} cells {len(records):,} were run; the others are empty."
    )
    return f"{flagged:,} of {len(records):,} were flagged; an audit took {slow:.0f} s of processor time at most.{ran}"


def honest_summary(records):
    """Return a sentence for all of them."""
    accused = [each for each in records.values() if each["verdict"] == "violated"]
    opened = [each for each in records.values() if each["open"]]
    cases = len({each["case"] for each in records.values()})
    slow = max(each["cpu"] for each in records.values())
    return (
        f"{len(records):,} audits of honest code, of {cases:,} questions among {len(CASES):,}: {len(accused)} accused "
        f"it; {len(opened)} left something open. An audit took {slow:.0f} s of processor time at most."
    )
