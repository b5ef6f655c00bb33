"""The table: what the modules of `planted` list, or a file of the same form from elsewhere."""

import importlib
import importlib.util
from pathlib import Path

from tests.mutants.mutant import SourceMutant

FOLDER = Path(__file__).with_name("planted")


def read(path):
    """Return the mutants of one file."""
    spec = importlib.util.spec_from_file_location(f"planted_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.MUTANTS)


def all_mutants(folder=FOLDER):
    """Return every mutant of a folder of files, in the order of their names."""
    found: list[SourceMutant] = []
    for path in sorted(folder.glob("[!_]*.py")):
        found += read(path)
    return found


def lines(rows):
    """Return the table of mutants and verdicts as text."""
    rows = [(mutant.package, verdict.word, f"{verdict.seconds:5.1f} s", mutant.name) for mutant, verdict in rows]
    return [f"{package:<11}{word:<12}{seconds}  {name}" for package, word, seconds, name in rows]
