"""Run the long runs of the auditor: `python -m tests.lab.audits.release planted|honest [--jobs N] [--write]`.

A run that is broken off goes on where it stopped. `--write` puts the table into docs/audit.md.
"""

import sys

from tests.jobs import ROOT, options, part, rewritten, run
from tests.lab.audits.release import long_runs

PAGE = ROOT / "docs" / "planted.md"


def planted(words):
    """Plant every defect for every aggregate at every price; return how many are not flagged."""
    parser = options("plant defects in the code that answers, and audit it", "planted")
    parser.add_argument("--count", type=int, default=len(long_runs.EVERY), help="how many cells of the table")
    given = parser.parse_args(words)
    keys = part(long_runs.EVERY[: given.count], given.share)
    records = run(long_runs.planted_record, keys, given.file, given.jobs, say=_said)
    lines, summary = long_runs.planted_table(records), long_runs.planted_summary(records)
    sys.stdout.write("\n".join([*lines, "", summary, ""]))
    if given.write:
        rewritten(PAGE, "planted", [summary, "", *lines])
    return sum(each["verdict"] not in long_runs.FLAGGED for each in records.values())


def honest(words):
    """Audit honest code many times; return how often it was accused."""
    parser = options("audit honest code", "honest")
    parser.add_argument("--count", type=int, default=2000, help="how many audits")
    given = parser.parse_args(words)
    keys = [str(number) for number in range(given.count)]
    records = run(long_runs.honest_record, part(keys, given.share), given.file, given.jobs, say=_said)
    summary = long_runs.honest_summary(records)
    sys.stdout.write(summary + "\n")
    if given.write:
        rewritten(PAGE, "honest", [summary])
    return sum(each["verdict"] == "violated" for each in records.values())


def _said(key, record):
    left_open = "; ".join(record.get("open", []))
    told = (record["verdict"], f"{record['cpu']:.1f} s", record.get("case", key), record["event"], left_open)
    sys.stdout.write(" ".join(told) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(1 if {"planted": planted, "honest": honest}[sys.argv[1]](sys.argv[2:]) else 0)
