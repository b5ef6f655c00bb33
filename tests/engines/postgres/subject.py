"""PostgreSQL as a subject of the suite: a real server."""

from itertools import count

from discreet.engines.postgres.engine import PostgresEngine
from tests.engines.subjects import Subject
from tests.plan.relational import SECRET
from tests.postgres import server


class Postgres(Subject):
    """A real server, whose tables the rows lie in; the role is the one that the documentation makes."""

    name = "postgres"
    endless = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b WHERE a % 7 = b % 11"
    examples = 3
    lacks = frozenset({"TINYINT", "UTINYINT", "UINTEGER", "UBIGINT", "HUGEINT", "UHUGEINT"})
    replaced = frozenset({"date", "prefix"})

    def __init__(self):
        super().__init__()
        self._names = count()

    def opened(self):
        return PostgresEngine(server(), SECRET)

    def relation(self, names, kinds, rows):
        table = f'pg_temp."raw{next(self._names)}"'
        self.engine.run(f"CREATE TEMP TABLE {table} AS SELECT * FROM {super().relation(names, kinds, rows)}")
        return table
