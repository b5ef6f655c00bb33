"""Every construct that the generator can emit is executed on every engine: none is only ever read by its author."""

import inspect
from dataclasses import fields

import discreet as dp
from discreet.core.doors import opened
from discreet.core.errors import Refusal
from discreet.engines.dialect import Dialect
from discreet.plan.expressions import Name
from discreet.plan.function import FUNCTIONS, function
from discreet.plan.keys import TallyQuery, keys_of
from discreet.plan.nodes import Scan
from discreet.plan.to_sql.cells import CellRequest, cells
from discreet.plan.to_sql.key_counts import people_by_key
from discreet.plan.to_sql.scalar import Relation, expression_sql, raw_sql, stored_type
from discreet.plan.to_sql.statement import in_order, tallies_sql
from discreet.plan.types import type_of
from tests.plan import worlds
from tests.plan.relational import Oracle
from tests.plan.strategies import rows
from tests.plan.worlds import Chance

CONSTRUCTS = {
    name for name, found in inspect.getmembers(Dialect, inspect.isfunction) if not name.startswith("_") and found
}


def recording(dialect, used):
    """Return a dialect that writes the same SQL, and notes which of its constructs the generator asks for."""
    kind = type(dialect)

    def noted(name):
        def call(self, *arguments, **named):
            used.add(name)
            return getattr(kind, name)(self, *arguments, **named)

        return call

    made = type(f"Recording{kind.__name__}", (kind,), {"__slots__": (), **{name: noted(name) for name in CONSTRUCTS}})
    return made(**{field.name: getattr(dialect, field.name) for field in fields(kind)})


def ask_everything(subject, dialect):
    """Run questions of all kinds, and read and compute all kinds of values, comparing tallies with the reference."""
    engine = subject.engine
    for kind in ("row", "groups", "rows", "table"):
        for whole in (True, False):
            chance = Chance("constructs", kind)
            data = worlds.table_of(chance, worlds.unit_of(chance, kind), whole=whole)
            relations, keys = {"t": subject.loaded(data)}, keys_of(("ward", "level", "ill"), worlds.COLUMNS)
            question = TallyQuery(Scan("t"), keys, tuple(worlds.TALLIES))
            found = in_order(engine.rows(tallies_sql(question, relations, dialect).sql), question)
            assert found == Oracle().tallied(question, {"t": data}, data.table.unit)
            with cells(engine, Scan("t"), keys, worlds.N, relations, dialect) as count:
                assert len(opened(count([CellRequest(0, 0, 5, 10), CellRequest(1, 2, 5, 10)]))) == 2
            people_by_key(engine, Scan("t"), keys_of(("note",), worlds.COLUMNS), relations, dialect)
    read_everything(subject, dialect)
    schema = {"d": dp.date("1990-01-01", "2030-01-01").named("d"), "t": dp.text().named("t")}
    expressions = [Name("t").starts_with("a"), Name("t").like("%a%b"), Name("t").substring(2, 3), *unary(schema)]
    kinds = [stored_type(column, dialect) for column in schema.values()]
    relation = subject.relation(list(schema), kinds, [list(row.values()) for row in rows(schema, 1, 9)])
    written = [expression_sql(expression, schema, dialect) for expression in expressions]
    assert len(engine.rows(f"SELECT {', '.join(written)} FROM {relation}")) == 9


def unary(schema):
    """Return every function of one value, of each column that it takes."""
    found = [getattr(Name(column), name)() for name in FUNCTIONS if not wants_more(name) for column in schema]
    return [each for each in found if has_type(each, schema)]


def wants_more(name):
    return function(name).least > 1 or function(name).parameters


def has_type(expression, schema):
    try:
        type_of(expression, schema)
    except Refusal:
        return False
    return True


def read_everything(subject, dialect):
    """Read values of every family as columns of every kind."""
    columns = [dp.between(0, 9, step=3), dp.between(-(2**50), 2**50), dp.date("2020-01-01", "2020-02-01"), dp.flag()]
    columns += [dp.between(-(2**62), 2**62), dp.text(), dp.one_of("a", "b"), dp.one_of(1, 7)]
    raw = {"VARCHAR": "7", "DOUBLE": "7.5", "DECIMAL(9,2)": "7.50", "DATE": "2020-01-09", "TIMESTAMP": "2020-01-09"}
    for physical, value in {
        **raw,
        "TIMESTAMP WITH TIME ZONE": "2020-01-09",
        "DECIMAL(38,6)": "7",
        "FLOAT": "1",
    }.items():
        relation = subject.relation(["x"], [physical], [[value], [None]])
        written = [raw_sql(column.named("x"), physical, dialect) for column in columns]
        people = dp.Table("t", dp.person("x", max_rows=1), {"y": dp.flag()})
        written.append(Relation(people, {"x": physical}, relation).person_sql(dialect))
        assert len(subject.engine.rows(f"SELECT {', '.join(written)} FROM {relation}")) == 2


def test_every_construct_of_the_dialect_is_executed(subject):
    used = set()
    ask_everything(subject, recording(subject.dialect, used))
    assert CONSTRUCTS - used == subject.replaced
