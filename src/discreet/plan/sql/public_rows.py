"""Public rows: FROM, WHERE and subqueries of a question that reads nothing private, as SQL of ours.

Nobody is in these rows, so that nothing has to be bounded: they are joined, compared and aggregated as SQL says. But
the text goes no further than that of any question: names are looked up, values are typed, and every word that an
engine gets is written here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING

from discreet.core.column import Column
from discreet.core.errors import UnknownName
from discreet.core.value import dataclass, replace
from discreet.engines.dialect import Dialect, select
from discreet.plan.dimension import Dimension
from discreet.plan.expressions import Case, Compare, Expression, Literal, Name
from discreet.plan.nodes import Public, Scan
from discreet.plan.sql.expressions import rows_of
from discreet.plan.sql.join_graph import factors
from discreet.plan.sql.joins import check_join_words, columns_in, conjuncts, is_left, named_column, unjoined, values_of
from discreet.plan.sql.joins import public_of as listed_public
from discreet.plan.sql.refusals import SqlRefused
from discreet.plan.sql.relations import check_inner, check_table
from discreet.plan.sql.scope import Scope, ScopeTable, identifier, nearest
from discreet.plan.sql.scope import named as name_among
from discreet.plan.sql.source import SqlText
from discreet.plan.to_sql.dimension_join import read_sql
from discreet.plan.to_sql.scalar import Relation, expression_sql, stored_type

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node


# A table of nobody: what a scope wants for a plan, which nothing here makes use of.
_NOWHERE = Scan("nowhere")
# Columns: the title, the name in the SQL, which no analyst chose, and the type.
Titled = tuple[tuple[str, str, Column], ...]
MOST_ITEMS = 16
# A question names a table as often as it likes, and each is written out: so many characters of SQL are a question.
MOST_WRITTEN = 20_000_000
_FRESH = re.compile("~[0-9]+")
NUMBER = Column(None, "number", bounds=(Fraction(0), Fraction(1 << 40)), step=Fraction(1), nullable=False)


@dataclass(frozen=True, slots=True)
class PublicScope(Scope):
    """The columns of a SELECT over public tables; what it does not know may be one of the SELECT around it."""

    around: Scope | None = None

    def column(self, node: Node, source: SqlText) -> str:
        """Return the column that a name means: one of this SELECT, or else of the one around it."""
        if self.around is not None and next(self._own(node), None) is None and self.around.knows(node):
            return self.around.column(node, source)
        return Scope.column(self, node, source)

    def knows(self, node: Node) -> bool:
        """Say whether a column may be one of these tables, or of those around them."""
        return Scope.knows(self, node) or (self.around is not None and self.around.knows(node))

    def _own(self, node: Node) -> Iterator[ScopeTable]:
        table = node.args.get("table")
        for part in self.parts:
            mine = table is None or name_among([part.alias or ""], *identifier(table)) is not None
            if mine and name_among(part.names, *identifier(node.this)) is not None:
                yield part


@dataclass(frozen=True, slots=True)
class PublicSelect:
    """The SQL of a SELECT, its columns (the title, the name in the SQL, the type), and whether it has one row.

    `order` are the names that its rows are sorted by, whether downwards, and whether nulls come first; these columns
    stand behind the others.
    """

    sql: str
    columns: tuple[tuple[str, str, Column], ...]
    is_single: bool
    order: tuple[tuple[str, Column, bool, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class PublicReader:
    """Where public rows are read: what names mean, how each registered table is read, and in which dialect.

    `with_` are the tables that WITH named so far, as SQL with the columns that they have; `titles` say what the names
    that columns get here stand for.
    """

    source: SqlText
    public: Mapping[str, Public]
    relations: Mapping[str, Relation]
    dialect: Dialect
    read: Callable[[PublicReader, Node, Scope | None], PublicSelect]
    with_: Mapping[str, tuple[str, Titled]] = field(default_factory=dict)
    numbers: count[int] = field(default_factory=count)
    titles: dict[str, str] = field(default_factory=dict)

    def told(self, refusal: SqlRefused) -> SqlRefused:
        """Return a refusal that calls columns what the question calls them."""
        why, fix = (
            _FRESH.sub(lambda found: self.titles.get(found[0], "it"), text) for text in (refusal.why, refusal.fix)
        )
        return SqlRefused(refusal.text, refusal.span, why=why, fix=fix)

    def check_length(self, node: Node, *parts: str) -> None:
        """Refuse SQL that is longer than a question may become, before it is made of its parts."""
        if sum(map(len, parts)) > MOST_WRITTEN:
            why = f"written out this question has more than {MOST_WRITTEN:,} characters"
            raise self.source.refused(node, why, "name fewer tables, and those of WITH less often")

    def fresh(self) -> str:
        """Return a name that nothing else has."""
        return f"~{next(self.numbers)}"

    def rows(self, node: Node, around: Scope | None) -> tuple[str, PublicScope]:
        """Return the SQL of the rows of a SELECT, before it chooses columns, and their columns."""
        begun = node.args.get("from_")
        if begun is None:
            raise self.source.refused(node, "without FROM there is no table to ask about", "write FROM wards")
        joins = node.args.get("joins") or []
        if len(joins) >= MOST_ITEMS:
            raise self.source.refused(joins[-1], f"at most {MOST_ITEMS} tables are joined", "join fewer")
        items = [self._item(each) for each in (begun.this, *(join.this for join in joins))]
        self.check_length(node, *(text for text, _, _ in items))
        conditions = list(factors(node.args.get("where")))
        parts = [part for _, _, part in items]
        for join in joins:
            check_join_words(self.source, join)
            if is_left(join):
                why = "rows without a partner are kept of private tables alone"
                raise self.source.refused(self.source.keyword("LEFT"), why, "write JOIN")
            if join.args.get("on") is not None:
                conditions += conjuncts(join.args["on"])
        columns = {name: column for _, found, _ in items for name, column in found.items()}
        if around is not None:
            columns |= dict(around.columns)
        scope = PublicScope(_NOWHERE, columns, tuple(parts), around=around)
        where = {name: place for place, (_, found, _) in enumerate(items) for name in found}
        equal = [*self._using(joins, parts)]
        scope = replace(scope, parts=tuple(parts))
        reader = rows_of(self.source, scope)
        told = [
            _Condition(self.sql(Compare("==", Name(one), Name(two)), scope), frozenset({where[one], where[two]}), True)
            for one, two in equal
        ]
        for each in conditions:
            if not has_select(each):
                at = self._met(each, parts)
                told.append(
                    _Condition(self.sql(reader.condition(each), scope), at, each.key == "eq" and len(at or ()) == 2)
                )
        sql = self._joined(joins, [text for text, _, _ in items], told)
        own = [self.dialect.quote(name) for _, found, _ in items for name in found]
        found = select(own, sql, where=" AND ".join(each.sql for each in told if not each.at))
        for each in conditions:
            if has_select(each):
                found, scope, made = self.marked(found, scope, each)
                condition = rows_of(self.source, scope, made).condition(each)
                found = select("*", found, where=self.sql(condition, scope))
        return found, scope

    def sql(self, expression: Expression, scope: Scope) -> str:
        """Write an expression over the columns of a scope."""
        return expression_sql(expression, scope.columns, self.dialect)

    def marked(self, rows: str, scope: PublicScope, node: Node) -> tuple[str, PublicScope, dict[int, Expression]]:
        """Add a column for each subquery in an expression, and return what each became."""
        marks: dict[int, Expression] = {}
        for each in selects_in(node):
            made: list[tuple[str, str, Column]] = []
            marks[id(each)] = self._subquery(each, scope, made)
            more = [f"{text} AS {self.dialect.quote(name)}" for name, text, _ in made]
            self.check_length(each, rows, *more)
            rows = select(("*", *more), rows)
            columns = {**scope.columns, **{name: column.named(name) for name, _, column in made}}
            scope = replace(scope, columns=columns)
        return rows, scope, marks

    def _subquery(self, node: Node, scope: PublicScope, made: list[tuple[str, str, Column]]) -> Expression:
        """Return what a subquery is for a row; columns that it needs are put into `made`."""

        def number(where: str, rows: str) -> Expression:
            name = self.fresh()
            counted = select(self.dialect.cast("count(*)", stored_type(NUMBER, self.dialect)), rows, where=where)
            made.append((name, f"({counted})", NUMBER))
            return Name(name)

        if node.key == "subquery":
            found = self._alone(node, scope)
            if len(found.columns) != 1 or not found.is_single:
                why = "a subquery in the place of a number has one column and one row"
                raise self.source.refused(node, why, "select one aggregate, without GROUP BY")
            ((_, inner, column),) = found.columns
            name = self.fresh()
            made.append((name, f"({select(self.dialect.quote(inner), found.sql)})", replace(column, nullable=True)))
            return Name(name)
        query = node.this if node.key == "exists" else node.args["query"]
        query = query.this if query.key == "subquery" else query
        if node.key == "exists":
            rows, _ = self.within(query).rows(query, scope)
            return number("", rows) > 0
        found = self.read(self, query, scope)
        if len(found.columns) != 1:
            raise self.source.refused(node, "IN compares one column", "write x IN (SELECT y FROM ...)")
        ((_, inner, column),) = found.columns
        known = replace(scope, columns={**scope.columns, inner: column.named(inner)})
        value = rows_of(self.source, scope).read(node.this)
        same = number(self.sql(Compare("==", value, Name(inner)), known), found.sql)
        # As SQL has it: among nulls nobody knows, and in an empty list nothing is.
        missing = number(f"{self.dialect.quote(inner)} IS NULL", found.sql)
        some = number("", found.sql)
        told = (missing == 0) & (~value.is_null() | (some == 0))
        return Case(((same > 0, Literal(True)), (told, Literal(False))))

    def _alone(self, node: Node, scope: PublicScope) -> PublicSelect:
        """Read a subquery in the place of a number, which is one number for all rows."""
        try:
            return self.read(self, node.this, None)
        except SqlRefused as refusal:
            spans = [self.source.span(each) for each in columns_in(node.this) if scope.knows(each)]
            if not any(start <= refusal.span[0] and refusal.span[1] <= end for start, end in spans):
                raise
            why = "its rows follow from the row that asks, so that there would be a number for each row"
            fix = "write it as a table, SELECT part, MIN(cost) AS least ... GROUP BY part, and join that"
            raise self.source.refused(node, why, fix) from refusal

    def within(self, node: Node) -> PublicReader:
        """Return the reader that also knows what the WITH of a SELECT names."""
        clause, found = node.args.get("with_"), self
        for each in [] if clause is None else clause.expressions:
            if clause is not None and clause.args.get("recursive"):
                raise self.source.refused(self.source.keyword("RECURSIVE"), "it is made of itself", "name each step")
            check_inner(self.source, each, "this", "alias", "materialized")
            made = self.read(found, each.this, None)
            titles = [identifier(title)[0] for title in each.args["alias"].args.get("columns") or ()]
            names = titles or [title for title, _, _ in made.columns]
            if len(names) != len(made.columns):
                why = f"{len(names)} names are given to {len(made.columns)} columns"
                raise self.source.refused(each, why, "name every column, or none")
            columns = tuple((name, inner, column) for name, (_, inner, column) in zip(names, made.columns, strict=True))
            found = replace(found, with_={**found.with_, identifier(each.args["alias"].this)[0]: (made.sql, columns)})
        return found

    def _item(self, node: Node) -> tuple[str, dict[str, Column], ScopeTable]:
        """Return a table of a FROM: its SQL, its columns by names that nothing else has, and what they are called."""
        alias = node.args.get("alias")
        title = identifier(alias.this)[0] if alias is not None and alias.this is not None else None
        if (values := values_of(node)) is not None:
            joined = listed_public(self.source, values, title, [])
            return self._named(public_sql(joined, self.dialect), own_columns(joined), title or joined.name)
        if node.key == "subquery":
            check_inner(self.source, node, "this", "alias", "with_")
            made = self.read(self.within(node), node.this, None)
            return self._named(made.sql, made.columns, title)
        check_table(self.source, node)
        name, quoted = identifier(node.this)
        if (known := name_among(list(self.with_), name, quoted)) is not None:
            return self._named(*self.with_[known], title or known)
        found = name_among(list(self.public), name, quoted)
        if found is None:
            unknown = UnknownName("table", name, list(self.public))
            raise self.source.refused(node.this, unknown.why, nearest(unknown))
        joined = self.public[found]
        sql = self._dimension(joined) if isinstance(joined, Dimension) else public_sql(joined, self.dialect)
        return self._named(sql, own_columns(joined), title or found)

    def _dimension(self, joined: Dimension) -> str:
        """Write the rows of a registered table, every value read as it was declared."""
        relation = self.relations[joined.name]
        assert relation.is_public  # a private table is never read here
        read = [read_sql(column, relation, self.dialect) for column in joined.columns]
        return select(read, relation.from_sql)

    def _named(self, sql: str, columns: Titled, title: str | None) -> tuple[str, dict[str, Column], ScopeTable]:
        new = [(shown, inner, self.fresh(), column) for shown, inner, column in columns]
        own = [f"{self.dialect.quote(inner)} AS {self.dialect.quote(name)}" for _, inner, name, _ in new]
        made = {name: column.named(name) for _, _, name, column in new}
        self.titles.update((name, shown) for shown, _, name, _ in new)
        return select(own, sql), made, ScopeTable(title, {shown: name for shown, _, name, _ in new})

    def _using(self, joins: list[Node], parts: list[ScopeTable]) -> Iterator[tuple[str, str]]:
        """Yield the columns that USING says are equal; the later table has no such column of its own then."""
        for place, join in enumerate(joins, 1):
            for each in join.args.get("using") or ():
                name, quoted = identifier(named_column(each).this)
                theirs = name_among(parts[place].names, name, quoted)
                ours = [found for part in parts[:place] if (found := name_among(part.names, name, quoted)) is not None]
                if theirs is None or len(ours) != 1:
                    raise self.source.refused(each, "USING names a column that both have", "write ON a.x = b.y")
                mine = next(part.names[ours[0]] for part in parts[:place] if ours[0] in part.names)
                yield mine, parts[place].names[theirs]
                left = {name: column for name, column in parts[place].names.items() if name != theirs}
                parts[place] = replace(parts[place], names=left)

    def _met(self, node: Node, parts: list[ScopeTable]) -> frozenset[int]:
        """Return the places of the tables that a condition is about; none where it is about rows around them too."""
        alone = [Scope(_NOWHERE, {}, (part,)) for part in parts]
        known = [{place for place, scope in enumerate(alone) if scope.knows(each)} for each in columns_in(node)]
        return frozenset().union(*known) if all(known) else frozenset()

    def _joined(self, joins: list[Node], items: list[str], told: list[_Condition]) -> str:
        """Write the tables, each joined to those before by what is equal; conditions stand where they can be told."""
        narrowed = []
        for place, text in enumerate(items):
            mine = " AND ".join(each.sql for each in told if each.at == {place})
            found = select("*", text, where=mine) if mine else text
            narrowed.append(f"({found}) AS {self.dialect.quote(self.fresh())}")
        met, sql, waiting = {0}, narrowed[0], [each for each in told if len(each.at) > 1]
        while len(met) < len(items):
            near = (
                place for each in waiting if each.is_equality and len(each.at - met) == 1 for place in each.at - met
            )
            nearest_one = next(near, None)
            if nearest_one is None:
                raise unjoined(self.source, joins[min({*range(len(items))} - met) - 1])
            place = nearest_one
            met.add(place)
            now = [each for each in waiting if each.at <= met]
            waiting = [each for each in waiting if not each.at <= met]
            sql += f" JOIN {narrowed[place]} ON {' AND '.join(each.sql for each in now)}"
        return sql


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition as SQL, the places of the tables that it is about, and whether it says that two of them are equal."""

    sql: str
    at: frozenset[int]
    is_equality: bool


def has_select(node: Node) -> bool:
    """Say whether there is a subquery in a part of a question."""
    return next(selects_in(node), None) is not None


def selects_in(node: Node) -> Iterator[Node]:
    """Yield the subqueries in an expression, but for those inside of others."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        if found.key in ("exists", "subquery") or (found.key == "in" and found.args.get("query") is not None):
            yield found
        else:
            waiting += reversed([*found.iter_expressions()])


def own_columns(joined: Public) -> Titled:
    """Return the columns of a public table: in SQL the custodian's names, or places where it stands in the question."""
    registered = isinstance(joined, Dimension)
    return tuple(
        (column.name or "", column.name or "" if registered else f"~p{place}", column)
        for place, column in enumerate(joined.columns)
    )


def public_sql(joined: Public, dialect: Dialect) -> str:
    """Write the rows of a public table that stand in the question."""
    names = [dialect.quote(f"~p{place}") for place in range(len(joined.columns))]
    rows = [f"({', '.join(map(dialect.literal, row))})" for row in joined.rows]
    listed = rows or [f"({', '.join(['NULL'] * len(names))})"]
    read = [
        f"{dialect.cast(name, stored_type(column, dialect))} AS {name}"
        for name, column in zip(names, joined.columns, strict=True)
    ]
    return select(read, f"(VALUES {', '.join(listed)}) AS p({', '.join(names)})", where="" if rows else "1 = 0")
