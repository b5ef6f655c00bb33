"""The engines that the suite is run on, each able to read the same rows; a new engine is one more class here.

Rows are written into a statement as typed values, so that every engine holds them to the last bit.
"""

from contextlib import ExitStack
from itertools import count

from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.plan.to_sql.relation import Relation
from tests.plan import worlds
from tests.plan.relational import SECRET


class Subject:
    """An engine, its dialect, and how raw rows are put before it.

    `lacks` are the physical types that it cannot store; `examples` says how many random ones it is given, and
    `replaced` which constructs of the dialect it spells by others, so that they are never emitted for it.
    """

    name = ""
    examples = 1
    lacks = frozenset()
    replaced = frozenset()

    def __init__(self, dialect):
        self.dialect = dialect
        self.engine = None

    def relation(self, names, kinds, rows):
        """Return what stands after FROM to read rows of raw values, given the physical types of their columns."""
        return values_sql(names, kinds, rows, self.dialect)

    def loaded(self, data):
        """Put the raw rows of a world's table before the engine, and return the relation that reads them."""
        physical = {"id": "BIGINT" if data.whole else "VARCHAR", **worlds.PHYSICAL}
        rows = [[row[column] for column in physical] for row in data.rows]
        return Relation(data.table, physical, self.relation(list(physical), list(physical.values()), rows))


class Duckdb(Subject):
    """The embedded engine."""

    name = "duckdb"

    def __init__(self):
        super().__init__(DUCKDB)

    def opened(self):
        return DuckDBEngine(SECRET, threads=1)


class Postgres(Subject):
    """A real server, whose tables the rows lie in; the role is the one that the documentation makes."""

    name = "postgres"
    examples = 3
    lacks = frozenset({"TINYINT", "UTINYINT", "UINTEGER", "UBIGINT", "HUGEINT", "UHUGEINT"})
    replaced = frozenset({"date", "prefix"})

    def __init__(self):
        from discreet.engines.postgres.dialect import DIALECT as POSTGRES

        super().__init__(POSTGRES)
        self._names = count()

    def opened(self):
        from discreet.engines.postgres.engine import PostgresEngine
        from tests.postgres import server

        return PostgresEngine(server(), SECRET)

    def relation(self, names, kinds, rows):
        table = f'pg_temp."raw{next(self._names)}"'
        self.engine.run(f"CREATE TEMP TABLE {table} AS SELECT * FROM {super().relation(names, kinds, rows)}")
        return table


class Spark(Subject):
    """Spark in this process; its plans and tasks take their time, so that it is given few examples, interpreted."""

    name = "spark"
    lacks = frozenset({"UTINYINT", "UINTEGER", "UBIGINT", "HUGEINT", "UHUGEINT"})
    replaced = frozenset({"date"})

    def __init__(self):
        from discreet.engines.spark.dialect import DIALECT as SPARK

        super().__init__(SPARK)

    def opened(self):
        from tests.spark import opened

        return opened(SECRET)

    def relation(self, names, kinds, rows):
        from tests.spark import loaded

        return loaded(self.engine, dict(zip(names, kinds, strict=True)), rows)


def values_sql(names, kinds, rows, dialect):
    """Write rows of raw values as a relation, every value of its column's physical type."""
    quoted = [dialect.quote(name) for name in names]
    if not rows:
        empty = ", ".join(f"{dialect.cast('NULL', kind)} AS {name}" for name, kind in zip(quoted, kinds, strict=True))
        return f"(SELECT * FROM (SELECT {empty}) AS none WHERE 1 = 0) AS rows"
    written = [", ".join(raw(value, kind, dialect) for value, kind in zip(row, kinds, strict=True)) for row in rows]
    return f"(VALUES ({'), ('.join(written)})) AS rows({', '.join(quoted)})"


def raw(value, kind, dialect):
    """Write a raw value of a physical type, through its text."""
    if value is None:
        return dialect.cast("NULL", kind)
    if isinstance(value, bool):
        return dialect.literal(value) if kind == "BOOLEAN" else dialect.cast(dialect.literal(str(value)), kind)
    text = format(value, "f") if hasattr(value, "as_tuple") else str(value)
    return dialect.cast(dialect.literal(text), kind)


SUBJECTS = {"duckdb": Duckdb, "postgres": Postgres, "spark": Spark}


class Opened:
    """Opens each engine once, when it is first asked for, and closes them all in the end."""

    def __init__(self):
        self._stack, self._found = ExitStack(), {}

    def __getitem__(self, name):
        if name not in self._found:
            subject = SUBJECTS[name]()
            subject.engine = self._stack.enter_context(subject.opened())
            self._found[name] = subject
        return self._found[name]

    def close(self):
        self._stack.close()
