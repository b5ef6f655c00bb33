"""DuckDB as a subject of the suite: the embedded engine."""

from discreet.engines.duckdb.engine import DuckDBEngine
from tests.engines.subjects import Subject
from tests.plan.relational import SECRET


class Duckdb(Subject):
    """The embedded engine."""

    name = "duckdb"
    endless = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range % 7 = b.range % 11"

    def opened(self):
        return DuckDBEngine(SECRET, threads=1)
