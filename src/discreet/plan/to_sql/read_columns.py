"""Read columns: which columns of a table a question names, so that an engine reads and plans no others."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.core.value import replace
from discreet.plan.expressions import Expression, Name
from discreet.plan.keys import TallyQuery
from discreet.plan.nodes import Derive, Filter, Plan, Scan
from discreet.plan.to_sql.rows import Relations


def read_for(question: TallyQuery, relations: Relations) -> tuple[Relations, Relations]:
    """Return the relations with the columns that a question names, and with those that its conditions alone name.

    Guarantee: rows, whose they are and what they weigh stay the same. Where all columns of a row decide its place in
    the secret order, as where rows are bounded before a join or once for a table, none is left out.
    """
    named = _named(question.source)
    if named is None or not all(
        relation.kept or relation.table.unit.is_row or (question.weighed and relation.table.unit.bound == "query")
        for relation in relations.values()
    ):
        return relations, relations
    keys = {key.of.name or key.name for key in question.keys.columns}
    tallied = {name for tally in question.tallies for each in tally.of for name in _names(each)}
    known = {each.name for relation in relations.values() for each in relation.table.columns}
    if not named | keys | tallied <= known | _made(question.source):
        return relations, relations  # what names a column that there is none of is refused with those there are
    return _narrowed(relations, named | keys | tallied), _narrowed(relations, named)


def _named(plan: Plan) -> set[str] | None:
    """Return the columns that conditions and derived columns name; None of a plan that joins, unites or renames."""
    match plan:
        case Scan():
            return set()
        case Filter(source, of) | Derive(source, _, of):
            below = _named(source)
            return None if below is None else {*below, *_names(of)}
    return None


def _made(plan: Plan) -> set[str]:
    """Return the columns that a plan derives."""
    match plan:
        case Derive(source, name):
            return {*_made(source), name}
        case Filter(source):
            return _made(source)
    return set()


def _names(expression: Expression) -> Iterable[str]:
    if isinstance(expression, Name):
        yield expression.name
    for part in expression.parts:
        yield from _names(part)


def _narrowed(relations: Relations, named: set[str]) -> Relations:
    return {
        name: replace(relation, table=replace(relation.table, columns=kept))
        for name, relation in relations.items()
        # A row without any column would be none.
        for kept in [tuple(each for each in relation.table.columns if each.name in named) or relation.table.columns[:1]]
    }
