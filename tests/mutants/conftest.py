"""The table of mutants at the end of a run."""

import pytest

from tests.mutants.runner import Runner


@pytest.fixture(scope="session")
def runner(tmp_path_factory):
    """A copy of the source, for one mutant after the other."""
    return Runner(tmp_path_factory.mktemp("mutants"))


def pytest_terminal_summary(terminalreporter):
    """Print a line for each mutant that was planted."""
    reports = [report for word in ("passed", "failed") for report in terminalreporter.stats.get(word, [])]
    rows = [text for report in reports for key, text in report.user_properties if key == "mutant"]
    if rows:
        terminalreporter.section("mutants")
        for row in sorted(rows):
            terminalreporter.line(row)
