"""Public SELECTs: questions about public tables alone, whose answers are exact, and free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.core.column import Column
from discreet.core.errors import Refusal
from discreet.core.value import dataclass, replace
from discreet.engines.dialect import Dialect, select
from discreet.plan.expressions import Arithmetic, Case, Expression, Literal, Name
from discreet.plan.nodes import Public
from discreet.plan.sql.expressions import rows_of
from discreet.plan.sql.public_rows import NUMBER, PublicReader, PublicScope, PublicSelect, has_select
from discreet.plan.sql.refusals import is_aggregate, label, unused
from discreet.plan.sql.relations import OUTER, check_inner
from discreet.plan.sql.scope import Scope, identifier
from discreet.plan.sql.source import SqlText
from discreet.plan.to_sql.scalar import Relation, stored_type

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

# More rows than any public table is declared to have, so that sums of so many fit.
MOST_ADDED = 1 << 40
# A mean is rounded to so many parts of its column's step.
PARTS = 1_000_000
MOST_COLUMNS = 200
_CLAUSES = (*OUTER, "distinct")
_SIMPLE = frozenset({"sum", "avg", "min", "max", "count"})


def reader_of(
    source: SqlText, public: Mapping[str, Public], relations: Mapping[str, Relation], dialect: Dialect
) -> PublicReader:
    """Return the reader of a question: what its names mean, and how registered tables are read."""
    return PublicReader(source, public, relations, dialect, selected)


def selected(tables: PublicReader, node: Node, around: Scope | None, *, outermost: bool = False) -> PublicSelect:
    """Read a SELECT over public tables, or refuse what is not understood where it stands."""
    source = tables.source
    if node.key == "subquery" and not outermost:
        check_inner(source, node, "this", "with_")
        return selected(tables.within(node), node.this, around)
    if node.key != "select":
        raise source.refused(node, "a question about public tables is one SELECT", "ask for each part by itself")
    more = () if outermost else ("order", "limit", "offset")
    check_inner(source, node, *(name for name in _CLAUSES if name not in more))
    tables = tables.within(node)
    rows, scope = tables.rows(node, around)
    listed = _listed(tables, node, scope)
    groups = _groups(tables, node, scope, listed)
    clauses = [value for _, value in listed]
    having = node.args["having"].this if node.args.get("having") is not None else None
    order = _ordered(tables, node, listed) if outermost else []
    wanted = [*clauses, *([] if having is None else [having]), *(each for each, _, _ in order)]
    grouped = bool(groups) or any(is_aggregate(each) for part in wanted for each in _parts(part))
    marks: dict[int, Expression] = {}
    if grouped:
        rows, scope, marks = _aggregated(tables, rows, scope, groups, wanted)
    elif having is not None:
        raise source.refused(having, "HAVING is about groups", "write it in WHERE")
    reader = _Marked(tables, rows, scope, marks)
    if having is not None:
        condition = reader.read(having)
        if condition[1].kind != "flag":
            raise source.refused(having, "a condition is true or false", "compare it, as in HAVING COUNT(*) > 100")
        reader.rows = select("*", reader.rows, where=tables.sql(condition[0], reader.scope))
    columns, sorting, taken = [], [], set[str]()
    for title, value in listed:
        name = unused(title, taken)
        taken.add(name.lower())
        columns.append((name, *reader.column(value)))
    for value, down, first in order:
        inner, column = reader.column(value)
        sorting.append((inner, column, down, first))
    if len(columns) > MOST_COLUMNS:
        raise source.refused(node, f"a question has at most {MOST_COLUMNS} columns", "ask for fewer")
    chosen = [tables.dialect.quote(inner) for _, inner, _ in columns] + [tables.dialect.quote(s[0]) for s in sorting]
    what = ", ".join(dict.fromkeys(chosen))
    sql = select(f"DISTINCT {what}" if node.args.get("distinct") else what, reader.rows)
    return PublicSelect(sql, tuple(columns), grouped and not groups, tuple(sorting))


@dataclass(slots=True)
class _Marked:
    """Reads expressions over rows whose aggregates, keys and subqueries are columns by now."""

    tables: PublicReader
    rows: str
    scope: PublicScope
    marks: dict[int, Expression]

    def read(self, node: Node) -> tuple[Expression, Column]:
        """Return an expression with its type; subqueries become columns of the rows."""
        if has_select(node):
            self.rows, self.scope, made = self.tables.marked(self.rows, self.scope, node)
            self.marks |= made
        return rows_of(self.tables.source, self.scope, self.marks).typed(node)

    def column(self, node: Node) -> tuple[str, Column]:
        """Return a column of the rows that an expression is."""
        made, column = self.read(node)
        if isinstance(made, Name):
            return made.name, column
        name = self.tables.fresh()
        value = f"{self.tables.sql(made, self.scope)} AS {self.tables.dialect.quote(name)}"
        self.rows = select(("*", value), self.rows)
        self.scope = replace(self.scope, columns={**self.scope.columns, name: column.named(name)})
        return name, column.named(name)


def _listed(tables: PublicReader, node: Node, scope: PublicScope) -> list[tuple[str, Node]]:
    """Return the columns of a SELECT with their titles; a star is all columns."""
    found = []
    for each in node.expressions:
        value = each.this if each.key == "alias" else each
        if value.key == "star" or (value.key == "column" and value.this.key == "star"):
            if any(value.args.get(name) for name in ("except_", "replace", "rename", "except")):
                raise tables.source.refused(value, "a star stands for all columns", "name those that are wanted")
            parts = scope.parts if value.key == "star" else scope.parts_of(value, tables.source)
            found += [(name, _column(part.alias, name)) for part in parts for name in part.names]
            continue
        title = identifier(each.args["alias"])[0] if each.key == "alias" else None
        written = value.name if value.key == "column" else label(tables.source.written(value))
        found.append((title or written, value))
    return found


def _column(alias: str | None, name: str) -> Node:
    from sqlglot import exp

    table = None if alias is None else exp.to_identifier(alias, quoted=True)
    return exp.column(exp.to_identifier(name, quoted=True), table)


def _groups(tables: PublicReader, node: Node, scope: PublicScope, listed: list[tuple[str, Node]]) -> list[Node]:
    """Return what a SELECT is grouped by: columns, expressions, places and names of the SELECT."""
    group = node.args.get("group")
    if group is None:
        return []
    if any(value for name, value in group.args.items() if name != "expressions"):
        raise tables.source.refused(tables.source.keyword("GROUP"), "groups are columns here", "list the columns")
    return [_meant(tables, each, listed, scope) for each in group.expressions]


def _meant(tables: PublicReader, node: Node, listed: list[tuple[str, Node]], scope: Scope | None) -> Node:
    """Return the part of the SELECT that a place or a name stands for; all else stands for itself."""
    if node.key == "literal" and not node.is_string:
        place = int(node.name) if node.name.isdecimal() and len(node.name) < 6 else 0
        if not 1 <= place <= len(listed):
            why = f"there is no column {node.name} in this SELECT, which has {len(listed)}"
            raise tables.source.refused(node, why, "count from 1, or write the column")
        return listed[place - 1][1]
    if node.key == "column" and node.args.get("table") is None and (scope is None or not scope.knows(node)):
        name, quoted = identifier(node.this)
        for title, value in listed:
            if title == name or (not quoted and title.lower() == name.lower()):
                return value
    return node


def _ordered(tables: PublicReader, node: Node, listed: list[tuple[str, Node]]) -> list[tuple[Node, bool, bool]]:
    """Return what rows are sorted by, whether downwards, and whether nulls are written to come first."""
    clause, found = node.args.get("order"), []
    for each in clause.expressions if clause is not None else []:
        check_inner(tables.source, each, "this", "desc", "nulls_first")
        written = tables.source.written(each).lower()
        found.append((_meant(tables, each.this, listed, None), bool(each.args.get("desc")), "nulls first" in written))
    return found


def _parts(node: Node) -> Iterator[Node]:
    """Yield the parts of an expression that are not inside of a subquery."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        if found.key not in ("select", "subquery"):
            yield found
            waiting += found.iter_expressions()


def _aggregated(
    tables: PublicReader, rows: str, scope: PublicScope, groups: list[Node], wanted: list[Node]
) -> tuple[str, PublicScope, dict[int, Expression]]:
    """Return the groups of some rows: keys and aggregates as columns, and the nodes that these are."""
    reader, dialect = _Marked(tables, rows, scope, {}), tables.dialect
    keys = [(reader.column(each)[0], rows_of(tables.source, scope).read(each)) for each in groups]
    values: dict[str, tuple[str, Column]] = {}
    marks: dict[int, Expression] = {}
    made: dict[tuple[str, str], Expression] = {}
    waiting = list(reversed(wanted))
    while waiting:
        node = waiting.pop()
        if is_aggregate(node):
            marks[id(node)] = _aggregate(reader, node, values, made)
        elif node.key not in ("select", "subquery"):
            key = _key(tables, scope, node, keys)
            if key is None:
                waiting += reversed([*node.iter_expressions()])
            else:
                marks[id(node)] = Name(key)
    own = [dialect.quote(name) for name, _ in keys]
    found = [f"{text} AS {dialect.quote(name)}" for name, (text, _) in values.items()]
    sql = select((*own, *found) or ("1 AS one",), reader.rows, by=own)
    columns = {name: reader.scope.columns[name] for name, _ in keys}
    columns |= {name: column.named(name) for name, (_, column) in values.items()}
    around = {} if scope.around is None else scope.around.columns
    return sql, PublicScope(scope.plan, {**columns, **around}, (), around=_titled(scope, keys)), marks


def _titled(scope: PublicScope, keys: list[tuple[str, Expression]]) -> Scope | None:
    """Return what subqueries of HAVING may name: keys that are columns, and what lies around."""
    kept = {name for name, _ in keys}
    parts = tuple(
        replace(part, names={title: name for title, name in part.names.items() if name in kept}) for part in scope.parts
    )
    columns = {name: column for name, column in scope.columns.items() if name in kept}
    around = {} if scope.around is None else scope.around.columns
    return PublicScope(scope.plan, {**columns, **around}, parts, around=scope.around)


def _key(tables: PublicReader, scope: PublicScope, node: Node, keys: list[tuple[str, Expression]]) -> str | None:
    """Return the key that an expression is, written like an item of GROUP BY."""
    if not keys or has_select(node) or any(is_aggregate(each) for each in _parts(node)):
        return None
    try:
        made = rows_of(tables.source, scope).read(node)
    except Refusal:
        return None
    return next((name for name, known in keys if known.same_as(made)), None)


def _aggregate(
    reader: _Marked, node: Node, values: dict[str, tuple[str, Column]], made: dict[tuple[str, str], Expression]
) -> Expression:
    """Return what an aggregate is; its integers are put into `values`."""
    tables, source = reader.tables, reader.tables.source
    kept, node = (node.expression.this, node.this) if node.key == "filter" else (None, node)
    if node.key not in _SIMPLE:
        why = "of public rows there are COUNT, SUM, AVG, MIN and MAX"
        raise source.refused(node, why, "use one of these, or read the table as it is")
    what, distinct = node.this, False
    check_inner(source, node, "this", "big_int", "expressions")
    if what.key == "distinct":
        if len(what.expressions) != 1 or what.args.get("on"):
            raise source.refused(what, "DISTINCT counts the values of one column", "write COUNT(DISTINCT part)")
        (what,), distinct = what.expressions, True
    if distinct and node.key != "count":
        raise source.refused(node, "DISTINCT is counted, and not added up", "write COUNT(DISTINCT x)")
    chosen = Literal(True) if kept is None else rows_of(source, reader.scope).condition(kept)
    if what.key == "star":
        value: Expression = Case(((chosen, Literal(True)),))
    else:
        value, _ = reader.read(what)
        value = value if kept is None else Case(((chosen, value),))
    column = rows_of(source, reader.scope).type_of(value, what)
    text = tables.sql(value, reader.scope)

    def known(word: str, sql: str, found: Column) -> Expression:
        if (word, text) not in made:
            name = tables.fresh()
            cast = tables.dialect.cast(sql, stored_type(found, tables.dialect))
            values[name], made[word, text] = (cast, found), Name(name)
        return made[word, text]

    if node.key == "count":
        return known(f"count {distinct}", f"count({'DISTINCT ' if distinct else ''}{text})", NUMBER)
    if column.kind != "number" and not (node.key in ("min", "max") and column.kind == "date"):
        raise source.refused(what, f"this is a {column.kind}", "aggregate numbers, or count the rows")
    if node.key in ("min", "max"):
        return known(node.key, f"{node.key}({text})", replace(column, name=None, nullable=True))
    low, high = column.steps
    step = column.step or Fraction(1)
    bounds = min(low, 0) * MOST_ADDED * step, max(high, 0) * MOST_ADDED * step
    total = Column(None, "number", bounds=bounds, step=step)
    added = known("sum", tables.dialect.total(text, low, high), total)
    if node.key == "sum":
        return added
    present = known("count False", f"count({text})", NUMBER)
    return Arithmetic("/", added, present, step / PARTS)


def read_rows(
    found: PublicSelect, rows: list[tuple[object, ...]], shown: Mapping[str, int]
) -> list[tuple[object, ...]]:
    """Return the rows of a SELECT as Python values, sorted as it says; `shown` are the places of its columns."""
    from discreet.plan.keys import exactly

    def value(row: tuple[object, ...], inner: str, column: Column) -> object:
        raw = row[shown[inner]]
        if raw is None:
            return None
        if column.kind == "number" or column.kind == "date" or (column.kind == "category" and not isinstance(raw, str)):
            raw = int(raw)  # type: ignore[call-overload]
        return exactly(column, bool(raw) if column.kind == "flag" else raw)  # type: ignore[arg-type]

    for inner, column, down, first in reversed(found.order):
        read = [(value(row, inner, column), row) for row in rows]
        some = sorted((each for each in read if each[0] is not None), key=lambda each: each[0], reverse=down)  # type: ignore[arg-type,return-value]
        none = [row for key, row in read if key is None]
        rows = none + [row for _, row in some] if first else [row for _, row in some] + none
    return [tuple(value(row, inner, column) for _, inner, column in found.columns) for row in rows]
