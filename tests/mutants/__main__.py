"""Run mutants and print the table: `python -m tests.mutants [FILE or PACKAGE or WORD ...] [--jobs N] [--write]`.

A FILE is a list of new mutants from anywhere, in the form of those in `planted`; it need not be part of the table, and
is run at once. All others are dealt out to processes, and a run that is broken off goes on where it stopped; `--write`
puts the table of all into docs/planted.md.
"""

import sys
import tempfile
from pathlib import Path

from tests.jobs import ROOT, options, part, rewritten, run
from tests.mutants.long_run import FINE, mutant_record, summary, table
from tests.mutants.runner import CAUGHT, Runner
from tests.mutants.table import all_mutants, lines, read

PAGE = ROOT / "docs" / "planted.md"


def from_files(files):
    """Run the mutants of files one by one; return how many are not caught."""
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(folder)
        for mutant in (each for file in files for each in read(Path(file))):
            mutant.check()
            verdict = runner.verdict(mutant)
            missed += not verdict.fine
            sys.stdout.write("\n".join(lines([(mutant, verdict)])) + "\n")
            if verdict.word != CAUGHT:
                sys.stdout.write(" " * 11 + verdict.seen.replace("\n", "\n" + " " * 11) + "\n")
            sys.stdout.flush()
    return missed


def from_table(given):
    """Run the mutants of the table that words name, or all; return how many are not caught."""
    wanted = [
        each
        for each in all_mutants()
        if not given.words or each.package in given.words or any(word in each.name for word in given.words)
    ]
    for mutant in wanted:
        mutant.check()
    names = part([each.name for each in wanted], given.share)
    records = run(mutant_record, names, given.file, given.jobs, say=said)
    sys.stdout.write("\n".join([*table(records), "", summary(records), ""]))
    if given.write and not given.words:
        rewritten(PAGE, "mutants", [summary(records), "", *table(records)])
    return sum(each["word"] not in FINE for each in records.values())


def said(name, record):
    """Tell of a mutant as soon as it is known, and all that was seen where it is not caught."""
    seen = "" if record["word"] in FINE else "\n" + record["seen"]
    sys.stdout.write(f"{record['package']:<11}{record['word']:<12}{record['seconds']:5.1f} s  {name}{seen}\n")
    sys.stdout.flush()


def main():
    """Run what is named."""
    parser = options("plant bugs, and see whether tests notice", "mutants")
    parser.add_argument("words", nargs="*", metavar="FILE or PACKAGE or WORD")
    given = parser.parse_args()
    files = [word for word in given.words if word.endswith(".py")]
    return from_files(files) if files else from_table(given)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
