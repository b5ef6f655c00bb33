"""Expressions: every engine computes what the reference does, for any expression and any row."""

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from discreet.plan.to_sql.scalar import expression_sql, stored_type
from discreet.plan.types import type_of
from tests.plan import reference
from tests.plan.strategies import OPERATORS, accepted, rows, schemas

# So many expressions share a statement, which reads so many rows.
TOGETHER, ROWS = 10, 60


@pytest.mark.parametrize("operator", OPERATORS)
def test_expressions_are_those_of_the_reference(subject, operator):
    seen = 0

    @settings(max_examples=subject.examples, database=None, derandomize=True, phases=[Phase.generate])
    @given(st.data())
    def run(data):
        nonlocal seen
        schema = data.draw(schemas())
        drawn = st.sampled_from([0, 0, 1, 2]).flatmap(lambda depth: OPERATORS[operator](schema, depth))
        expressions = [found for _ in range(TOGETHER) if accepted(found := data.draw(drawn), schema)]
        read = rows(schema, data.draw(st.integers(0, 1 << 32)), ROWS)
        seen += check(subject, expressions, schema, read)

    run()
    assert seen


def check(subject, expressions, schema, read):
    """Compare the engine with the reference, the kinds of values included, and say how many were compared."""
    if not expressions:
        return 0
    dialect = subject.dialect
    kinds = [stored_type(column, dialect) for column in schema.values()]
    relation = subject.relation(list(schema), kinds, [[row[name] for name in schema] for row in read])
    columns = [expression_sql(expression, schema, dialect) for expression in expressions]
    found = subject.engine.rows(f"SELECT {', '.join(columns)} FROM {relation}")
    expected = [tuple(reference.evaluate(each, row, schema) for each in expressions) for row in read]
    for place, expression in enumerate(expressions):
        mine, theirs = sorted_column(found, place), sorted_column(expected, place)
        assert mine == theirs, (type_of(expression, schema), columns[place])
    assert sorted(map(repr, found)) == sorted(map(repr, expected))
    return len(read) * len(expressions)


def sorted_column(found, place):
    """The values of a column with their types, in an order of their own: engines give back rows in any."""
    return sorted((type(row[place]).__name__, repr(row[place])) for row in found)
