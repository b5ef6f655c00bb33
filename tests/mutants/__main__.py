"""Run mutants and print the table: `python -m tests.mutants [FILE or PACKAGE or WORD ...]`.

A FILE is a list of new mutants from anywhere, in the form of those in `planted`; it need not be part of the table.
"""

import sys
import tempfile
from pathlib import Path

from tests.mutants.runner import CAUGHT, Runner
from tests.mutants.table import all_mutants, lines, read


def wanted(words):
    """Return the mutants that the words name, or all."""
    files = [Path(word) for word in words if word.endswith(".py")]
    words = [word for word in words if not word.endswith(".py")]
    known = [mutant for file in files for mutant in read(file)] if files else all_mutants()
    return [each for each in known if not words or each.package in words or any(word in each.name for word in words)]


def main():
    """Run them, and say how many are not caught."""
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(folder)
        for mutant in wanted(sys.argv[1:]):
            mutant.check()
            verdict = runner.verdict(mutant)
            missed += not verdict.fine
            print(*lines([(mutant, verdict)]), flush=True)
            if verdict.word != CAUGHT:
                print(" " * 11 + verdict.seen.replace("\n", "\n" + " " * 11), flush=True)
    sys.exit(1 if missed else 0)


main()
