"""Tasks of the lab: what a custodian waits for."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path


def attack_all() -> Callable[[], object]:
    """Every attack on the shipped table, and the page."""
    from discreet.lab import rand
    from discreet.lab.report import report
    from discreet.lab.report_page import save
    from discreet.lab.table_copy import TableCopy

    folder = tempfile.TemporaryDirectory(prefix="discreet-bench-")

    def call() -> None:
        found = report(TableCopy.read(rand.path(), identifier="zper", name="rand"))
        save(found, Path(folder.name) / "attacks.html")
        assert all(section.outcomes for section in found.sections)

    return call


def audit() -> Callable[[], object]:
    """A question about the shipped table's declaration, on made-up neighbours."""
    from discreet.core.schema import Table
    from discreet.lab import rand
    from discreet.lab.audits.sql import audit_sql

    table = Table("rand", rand.unit(), rand.columns())
    return lambda: audit_sql("SELECT health, COUNT(*), AVG(visits) FROM rand GROUP BY health", table, epsilon=0.5)
