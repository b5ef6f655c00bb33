"""One mutant of a long run: in a copy of the source that each process has of its own."""

import os
from functools import cache
from pathlib import Path

from tests.mutants.runner import CAUGHT, HARMLESS, Runner
from tests.mutants.table import all_mutants

FINE = (CAUGHT, HARMLESS)


@cache
def runner(folder, process):
    """Return the copy of this process."""
    return Runner(Path(folder) / f"mutants-{process}")


def mutant_record(name, folder):
    """Plant a mutant of the table, by its name, and say what became of it."""
    (mutant,) = [each for each in all_mutants() if each.name == name]
    verdict = runner(folder, os.getpid()).verdict(mutant)
    return {
        "package": mutant.package,
        "file": mutant.place if not mutant.harmless else mutant.file,
        "why": mutant.why,
        "word": verdict.word,
        "by": caught_by(verdict.seen) if verdict.word == CAUGHT else mutant.harmless,
        "seen": verdict.seen,
        "seconds": round(verdict.seconds, 1),
    }


def caught_by(seen):
    """Return what noticed a mutant: the test that failed, or the type checker."""
    return f"`{seen.split(' - ')[0].split()[1]}`" if seen.startswith(("FAILED ", "ERROR ")) else "the type checker"


def table(records):
    """Return the lines of the table: package, what is planted where, and what notices it."""
    lines = ["| package | planted | in | noticed by |", "|---|---|---|---|"]
    for each in records.values():
        by = each["by"] if each["word"] == CAUGHT else f"{each['word']}: {each['by']}".rstrip(": ")
        lines.append(f"| {each['package']} | {each['why']} | `{each['file']}` | {by.replace('|', ' ')} |")
    return lines


def summary(records):
    """Return a sentence for all of them."""
    caught, harmless = (sum(each["word"] == word for each in records.values()) for word in FINE)
    packages = len({each["package"] for each in records.values()})
    left = len(records) - caught - harmless
    argued = f", {harmless} argued harmless" if harmless else ""
    return f"{len(records)} bugs planted in {packages} packages: {caught} caught{argued}, {left} left."
