"""Subjects: the engines that the suite is run on, each able to read the same rows; the folders of engines are the list.

The engine `x` is put before the suite by `tests/engines/x/subject.py`, whose class `X` is a `Subject`, and before the
suite of neighbours by the `KINDS` of `tests/engines/x/neighbours.py`; `test_conformance` asks for both. Rows are
written into a statement as typed values, so that every engine holds them to the last bit.
"""

from contextlib import ExitStack
from importlib import import_module
from importlib.util import find_spec

import pytest

from discreet.core.registry import capwords
from discreet.engines import registry
from discreet.engines.dialect import dialect_of
from discreet.plan.to_sql.scalar import Relation
from tests.plan import worlds

TESTS = __name__.rpartition(".")[0]


class Subject:
    """An engine, its dialect, and how raw rows are put before it.

    `lacks` are the physical types that it cannot store, `has_infinite_days` whether days may be infinite,
    `spells_fractions` whether floats that are not whole have the fewest digits; `examples` and `more_examples` say how
    many random ones it is given, and one case in `one_in` of the longest tests is not marked slow. `replaced` are the
    constructs of the dialect that it spells by others, so that they are never emitted for it, and `endless` is a
    statement that does not end by itself.
    """

    name = ""
    endless = ""
    examples = 1
    more_examples = 6
    one_in = 1
    lacks = frozenset()
    has_infinite_days = True
    spells_fractions = True
    replaced = frozenset()

    def __init__(self):
        self.dialect = dialect_of(self.name)
        self.engine = None

    def opened(self):
        """Return an engine, to be entered, with `tests.plan.relational.SECRET`."""
        raise NotImplementedError

    def relation(self, names, kinds, rows):
        """Return what stands after FROM to read rows of raw values, given the physical types of their columns."""
        return values_sql(names, kinds, rows, self.dialect)

    def held(self, sql):
        """Return what stands after FROM to read the rows of a query, computed once where the engine can store them."""
        self.engine.run("DROP TABLE IF EXISTS held")
        self.engine.run(f"CREATE TEMP TABLE held AS {sql}")
        return "held"

    def loaded(self, data):
        """Put the raw rows of a world's table before the engine, and return the relation that reads them."""
        physical = {"id": "BIGINT" if data.whole else "VARCHAR", **worlds.PHYSICAL}
        rows = [[row[column] for column in physical] for row in data.rows]
        return Relation(data.table, physical, self.relation(list(physical), list(physical.values()), rows))


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


def offered(engine, module):
    """Return a module of an engine's folder of tests; None where there is none."""
    name = f"{TESTS}.{engine}"
    return import_module(f"{name}.{module}") if find_spec(name) and find_spec(f"{name}.{module}") else None


SUBJECTS = {
    name: getattr(found, capwords(name)) for name in registry if (found := offered(name, "subject")) is not None
}
# An engine's tests stay on one worker, so that its server starts once.
ENGINES = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in SUBJECTS]


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
