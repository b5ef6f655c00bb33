"""Relations: FROM, WITH, subqueries and UNION ALL, each a step of the plan that keeps its stability known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from discreet.core.column import Column
from discreet.core.errors import Refusal, UnknownName
from discreet.core.schema import Table
from discreet.core.value import dataclass, replace
from discreet.plan.expressions import Name
from discreet.plan.nodes import Derive, Filter, Project, Public, Scan, Union, columns_of, tables_of
from discreet.plan.referents import Origin
from discreet.plan.sql.expressions import rows_of
from discreet.plan.sql.join_graph import JoinGraph, factors, is_ordered, names_of
from discreet.plan.sql.joins import columns_in, joined, public_of, values_of
from discreet.plan.sql.parse import Bounds
from discreet.plan.sql.person_groups import people_scope
from discreet.plan.sql.refusals import label, unused
from discreet.plan.sql.rows import joined as both
from discreet.plan.sql.rows import run
from discreet.plan.sql.scope import (
    MOST_NODES,
    Catalogue,
    Scope,
    ScopeTable,
    identifier,
    named,
    nearest,
    place_of,
    spelled,
)
from discreet.plan.sql.source import SqlText
from discreet.plan.sql.subqueries import InnerSelect, Subqueries, has_subquery

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

OUTER = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "with_")

# The word each clause begins with, why it is refused, and what to write.
_CLAUSES: dict[str, tuple[str, str, str]] = {
    "group": (
        "GROUP",
        "groups of groups have no bound that is known in advance",
        "group in the outermost SELECT alone",
    ),
    "having": ("HAVING", "an inner HAVING would need noise of its own", "move it to the outermost SELECT"),
    "order": ("ORDER", "the order of rows changes no aggregate", "leave it out, or move it to the outermost SELECT"),
    "limit": (
        "LIMIT",
        "which rows come first may depend on one person, who would push others out",
        "say which rows are wanted in WHERE",
    ),
    "offset": ("OFFSET", "which rows come first may depend on one person", "say which rows are wanted in WHERE"),
    "distinct": (
        "DISTINCT",
        "whether two rows are equal may depend on another person",
        "GROUP BY the columns, or write COUNT(DISTINCT id)",
    ),
    "into": ("INTO", "a question changes nothing", "keep the answer: answer.to_parquet('answer.parquet')"),
    "locks": ("FOR", "a question changes nothing, and locks nothing", "leave it out"),
    "hint": ("/*+", "engines get our own SQL, without hints", "leave it out"),
    "pivots": ("PIVOT", "its columns would be the values of rows", "GROUP BY the column instead"),
    "qualify": ("QUALIFY", "a window looks at other people's rows", "write HAVING, or ORDER BY and LIMIT"),
    "windows": ("WINDOW", "a window looks at other people's rows", "write GROUP BY, and rank the answer"),
    "sample": ("TABLESAMPLE", "rows are sampled by the curator, who counts what that saves", "leave it out"),
    "laterals": ("LATERAL", "what it returns differs from row to row", "join a public table with ON"),
    "connect": (
        "CONNECT",
        "a table that is made of itself has no bound on how often a row is in it",
        "name each step in WITH",
    ),
    "match": ("MATCH_RECOGNIZE", "a pattern over rows looks at other people's rows", "leave it out"),
    "joins": ("JOIN", "tables are joined in FROM", "write FROM a JOIN b ON ..."),
    "where": ("WHERE", "conditions stand in the SELECT itself", "move it inside the brackets"),
    "by_name": ("BY", "columns are matched by their place", "write UNION ALL"),
}
_ANY = "leave it out"


def check_outer(source: SqlText, node: Node) -> None:
    """Refuse the parts of the outermost SELECT that have no meaning here."""
    _check(source, node, OUTER)


def check_inner(source: SqlText, node: Node, *known: str) -> None:
    """Refuse the parts of a SELECT, a subquery or a union inside FROM that would need to know other rows."""
    _check(source, node, known)


def check_table(source: SqlText, node: Node) -> None:
    """Refuse everything about a table but its name and its alias."""
    if node.this is None or node.this.key != "identifier":
        why = "functions that return tables read files or make rows up"
        raise source.refused(node, why, "name a table of the session")
    if node.args.get("db") or node.args.get("catalog"):
        raise source.refused(node, "tables are known by one name", f"write FROM {spelled(node.name)}")
    _check(source, node, ("this", "alias"))


def _check(source: SqlText, node: Node, known: tuple[str, ...]) -> None:
    for name, value in node.args.items():
        if name in known or value in (None, False, [], ()):
            continue
        word, why, fix = _CLAUSES.get(name, (name.strip("_").upper(), "this part is not understood here", _ANY))
        raise source.refused(source.keyword(word, _around(source, node)), why, fix)


def _around(source: SqlText, node: Node) -> tuple[int, int]:
    """Return where the clauses of a node may stand: from its first word on."""
    if node.parent is None:
        return 0, len(source.text)
    start, _ = source.span(node)
    return (
        (max(0, source.text.upper().rfind("SELECT", 0, start)), len(source.text))
        if node.key == "select"
        else (start, len(source.text))
    )


Item = Scope | Public
# What people are called, and the key that this is.
Person = tuple[str | None, Origin | None]


@dataclass(frozen=True, slots=True)
class Relations:
    """Reads tables; `known` are those that WITH named so far, `tables` the private ones that were met.

    `bounds` are those of aggregates that nobody has read yet.
    """

    source: SqlText
    catalogue: Catalogue
    known: Mapping[str, Item] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    bounds: dict[int, Bounds] = field(default_factory=dict)

    def within(self, node: Node, before: Sequence[Node] = ()) -> Relations:
        """Return the reader that also knows what the WITH of a SELECT names; none from one on that is in `before`."""
        clause = node.args.get("with_")
        if clause is None:
            return self
        if clause.args.get("recursive"):
            why = "a table that is made of itself has no bound on how often a row is in it"
            raise self.source.refused(self.source.keyword("RECURSIVE"), why, "name each step in WITH")
        check_inner(self.source, clause, "expressions")
        known = dict(self.known)
        for each in clause.expressions:
            if any(each is one for one in before):
                break
            check_inner(self.source, each, "this", "alias", "materialized")
            reader = replace(self, known=known)
            name = identifier(each.args["alias"].this)[0]
            known = {**known, name: reader.item(each.this, each.args["alias"])}
        return replace(self, known=known)

    def select(self, node: Node) -> Scope:
        """Return the rows of a SELECT before it chooses columns: FROM, JOIN and WHERE."""
        begun = node.args.get("from_")
        if begun is None:
            why = "without FROM there is no table to ask about"
            raise self.source.refused(node, why, "write SELECT COUNT(*) FROM visits")
        where = node.args.get("where")
        return self._met(node, self._items(node), factors(where), [] if where is None else [where.this])

    def _items(self, node: Node) -> list[tuple[tuple[Item, Node], Node | None]]:
        joins = ((self._named(each.this), each) for each in node.args.get("joins") or ())
        return [(self._named(node.args["from_"].this), None), *joins]

    def _met(
        self,
        node: Node,
        items: list[tuple[tuple[Item, Node], Node | None]],
        conditions: Sequence[Node],
        whole: Sequence[Node],
    ) -> Scope:
        """Return the tables of a FROM, joined, where all conditions hold; `whole` is how these are written together."""
        if is_ordered(self.source, items, self.tables):
            scope = joined(self.source, items, self.tables)
            left = conditions if any(has_subquery(each) for each in whole) else whole
        else:
            graph = JoinGraph.of(self.source, items, conditions, self.tables)
            scope, left = graph.joined(), graph.left
        return self._checked(self._narrowed(self._checked(scope, node), left), node)

    def _narrowed(self, scope: Scope, conditions: Sequence[Node]) -> Scope:
        """Return the rows that pass all of some conditions, those without subqueries first."""
        plain = [each for each in conditions if not has_subquery(each)]
        if plain:
            rows = rows_of(self.source, scope)
            scope = scope.now(Filter(scope.plan, both("and", [rows.condition(each) for each in plain])))
        for each in conditions:
            if has_subquery(each):
                scope = Subqueries(self.source, scope, self.tables, self._subquery).condition(each)
        return scope

    def _subquery(self, node: Node) -> InnerSelect:
        return self.within(node).inner(node)

    def inner(self, node: Node) -> InnerSelect:
        """Return the SELECT of a subquery in a condition; what its WHERE says of outer rows is left for these."""
        if node.args.get("from_") is None:
            raise self.source.refused(node, "without FROM there are no rows to ask about", "write FROM visits")
        check_inner(self.source, node, "expressions", "from_", "joins", "where", "with_", "distinct")
        items = self._items(node)
        known = [item if isinstance(item, Scope) else names_of(item, other) for (item, other), _ in items]
        inner: list[Node] = []
        outer: list[Node] = []
        for each in factors(node.args.get("where")):
            ours = has_subquery(each) or all(any(scope.knows(c) for scope in known) for c in columns_in(each))
            (inner if ours else outer).append(each)
        return InnerSelect(node, self._met(node, items, inner, inner), outer)

    def item(self, node: Node, alias: Node | None = None) -> Item:
        """Return a table: one of WITH, a public or a private one, a subquery, a union, or VALUES."""
        columns = [] if alias is None else [identifier(each)[0] for each in alias.args.get("columns") or ()]
        name = None if alias is None or alias.this is None else identifier(alias.this)[0]
        found = self._item(node, name, columns)
        if isinstance(found, Public):
            return found
        return (self._renamed(found, columns, node) if columns else found).called(name or self._own_name(node))

    def _named(self, node: Node) -> tuple[Item, Node]:
        return self.item(node, node.args.get("alias")), node

    def _item(self, node: Node, name: str | None, columns: list[str]) -> Item:
        values = values_of(node)
        if values is not None:
            check_inner(self.source, values, "expressions", "alias")
            return public_of(self.source, values, name, columns)
        match node.key:
            case "table":
                return self._table(node)
            case "subquery":
                check_inner(self.source, node, "this", "alias", "with_")
                return self.within(node).item(node.this)
            case "select":
                return self._chosen(node)
            case "union":
                return self._union(node)
            case "lateral" | "unnest":
                why = "what it returns differs from row to row, and nobody knows how many that are"
                raise self.source.refused(node, why, "join a public table with ON")
            case "except" | "intersect":
                why = "whether a row is in the other table may depend on another person"
                raise self.source.refused(node, why, "say which rows are wanted in WHERE")
        raise self.source.refused(node, "this is not a table", "name a table, or write a subquery in brackets")

    def _table(self, node: Node) -> Item:
        check_table(self.source, node)
        name, quoted = identifier(node.this)
        for tables in (self.known, self.catalogue.public):
            found = named(tables, name, quoted)
            if found is not None:
                return tables[found]
        found = named(list(self.catalogue.names), name, quoted)
        if found is None:
            names = [*self.known, *self.catalogue.public, *self.catalogue.names]
            unknown = UnknownName("table", name, names)
            raise self.source.refused(node.this, unknown.why, nearest(unknown))
        if found not in self.tables:
            self.tables[found] = self.catalogue.table(found)
        columns = {column.name or "": column for column in self.tables[found].columns}
        part = ScopeTable(found, {each: each for each in columns}, *self._person(found))
        return Scope(Scan(found), columns, (part,))

    def _person(self, name: str) -> Person:
        """Return what identifies the people of a table: its identifier, or a reference to another table's."""
        unit = self.tables[name].unit
        via = unit.via
        if via is None:
            return unit.identifier, None if unit.identifier is None else (name, unit.identifier)
        if via.table not in self.catalogue.names or via.column in self.tables[name]:
            return None, None
        identifies = self.catalogue.table(via.table).unit.identifier == via.key
        return (via.column, (via.table, via.key)) if identifies else (None, None)

    def _chosen(self, node: Node) -> Scope:
        """Return a SELECT inside another: its rows, with the columns it names, or one row for each person."""
        people = ("group", "having") if node.args.get("group") is not None else ()
        check_inner(self.source, node, "expressions", "from_", "joins", "where", "with_", *people)
        reader = self.within(node)
        scope = reader.select(node)
        if people:
            return self._checked(people_scope(self.source, scope, node, self.tables, self.bounds), node)
        names: dict[str, str] = {}
        person: Person = (None, None)
        everything = False
        for each in node.expressions:
            if each.key == "star" or (each.key == "column" and each.this.key == "star"):
                everything = True
                for table in self._starred(scope, each):
                    names = self._merged(each, names, table.names)
                    person = person if person[0] else (table.person, table.owner)
                continue
            value = each.this if each.key == "alias" else each
            title = identifier(each.args["alias"])[0] if each.key == "alias" else None
            if (part := scope.person(value)) is not None:
                person = title or value.name, part.owner
                continue
            scope, column = self._derived(scope, value, title)
            shown = title or (value.name if value.key == "column" else label(self.source.written(value)))
            names = self._merged(each, names, {shown: column})
        if everything and len(set(scope.columns) - set(names.values())) == 0:
            return Scope(scope.plan, scope.columns, (ScopeTable(None, names, *person),), scope.size)
        return self._projected(scope, names, person, node)

    def _starred(self, scope: Scope, node: Node) -> tuple[ScopeTable, ...]:
        """Return the tables that a star stands for: all of them, or the one that is named before it."""
        star = node if node.key == "star" else node.this
        if any(star.args.values()):
            raise self.source.refused(node, "a star stands for all columns", "name those that are wanted")
        return scope.parts if node.key == "star" else scope.parts_of(node, self.source)

    def _merged(self, node: Node, names: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
        """Return more names; one that would mean two columns is refused."""
        found = dict(names)
        for shown, column in more.items():
            known = named(found, shown, quoted=False)
            if known is not None and found[known] != column:
                why = f"two columns would be called {shown!r}"
                raise self.source.refused(node, why, "name the columns, and give one of them another name with AS")
            found[known or shown] = column
        return found

    def _derived(self, scope: Scope, value: Node, title: str | None) -> tuple[Scope, str]:
        """Return the column of a value, added to the plan unless it already exists."""
        rows = rows_of(self.source, scope)
        made, column = rows.typed(value)
        if isinstance(made, Name):
            return scope, made.name
        name = unused(title or label(self.source.written(value)), {each.lower() for each in scope.columns})
        columns = {**scope.columns, name: column.named(name)}
        return self._checked(scope.now(Derive(scope.plan, name, made), columns), value), name

    def _renamed(self, scope: Scope, titles: list[str], node: Node) -> Scope:
        part = scope.called(None).parts[0]
        place = place_of(part.person, node)
        if place is not None and len(titles) == len(part.names) + 1:  # who is no column, and is named among them
            part = replace(part, person=titles[place])
            titles = [*titles[:place], *titles[place + 1 :]]
        if len(titles) != len(part.names):
            why = f"{len(titles)} names are given to {len(part.names)} columns"
            raise self.source.refused(node, why, "name every column, or none")
        names = dict(zip(titles, part.names.values(), strict=True))
        return self._projected(scope, names, (part.person, part.owner), node)

    def _projected(self, scope: Scope, names: Mapping[str, str], person: Person, node: Node) -> Scope:
        if not names:
            # Only the person was chosen: all columns stay in the plan, and none is spoken of.
            return Scope(scope.plan, scope.columns, (ScopeTable(None, {}, *person),), scope.size)
        columns = {new: scope.columns[old].named(new) for new, old in names.items()}
        plan = Project(scope.plan, tuple(names.items()))
        made = Scope(plan, columns, (ScopeTable(None, {new: new for new in names}, *person),), scope.size + 1)
        return self._checked(made, node)

    def _union(self, node: Node) -> Scope:
        """Return the rows of both sides; columns are matched by their place, and called as on the left."""
        first, *others = run(node, "union")
        found = self._side(first, node)
        for each in others:
            check_inner(self.source, each, "this", "expression", "distinct", "with_")
            if each.args.get("distinct"):
                why = "UNION looks for equal rows, of which other people may have some"
                raise self.source.refused(self.source.keyword("UNION", self.source.span(each)), why, "write UNION ALL")
            other = self._side(each.expression, each)
            names = list(found.parts[0].names)
            if list(other.parts[0].names) != names:
                other = self._renamed(other, names, each.expression)
            plan, columns = self._united(found, other, each)
            found = self._checked(Scope(plan, columns, found.parts, found.size + other.size + 1), each)
        return found

    def _side(self, node: Node, union: Node) -> Scope:
        found = self.within(union).item(node)
        if isinstance(found, Public):
            raise self.source.refused(node, "public rows need no protection", "add them to the answer")
        return found

    def _united(self, one: Scope, other: Scope, node: Node) -> tuple[Union, dict[str, Column]]:
        try:
            plan = Union(one.plan, other.plan)
            return plan, columns_of(plan, {name: self.tables[name] for name in tables_of(plan)})
        except Refusal as refusal:
            raise self.source.translated(node, refusal) from refusal

    def _checked(self, scope: Scope, node: Node) -> Scope:
        if scope.size > MOST_NODES:
            why = f"written out this question has more than {MOST_NODES} steps"
            raise self.source.refused(node, why, "ask about fewer tables, and unite them less often")
        return scope

    def _own_name(self, node: Node) -> str | None:
        return identifier(node.this)[0] if node.key == "table" else None
