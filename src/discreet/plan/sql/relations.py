"""Relations: FROM, WITH, subqueries and UNION ALL, each a step of the plan that keeps its stability known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.core.column import Column
from discreet.core.errors import Refusal, UnknownName
from discreet.core.schema import Table
from discreet.plan.expressions import Name
from discreet.plan.nodes import Derive, Filter, Project, Public, Scan, Union, columns_of, tables_of
from discreet.plan.sql.expressions import rows_of
from discreet.plan.sql.joins import joined, public_of
from discreet.plan.sql.names import Catalogue, nearest, spelled
from discreet.plan.sql.refusals import label, unused
from discreet.plan.sql.rows import run
from discreet.plan.sql.scope import MOST_NODES, Scope, ScopeTable, identifier, named
from discreet.plan.sql.source import SqlText

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


@dataclass(frozen=True, slots=True)
class Relations:
    """Reads tables; `known` are those that WITH named so far, `tables` the private ones that were met."""

    source: SqlText
    catalogue: Catalogue
    known: Mapping[str, Item] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)

    def within(self, node: Node) -> Relations:
        """Return the reader that also knows what the WITH of a SELECT names."""
        clause = node.args.get("with_")
        if clause is None:
            return self
        if clause.args.get("recursive"):
            why = "a table that is made of itself has no bound on how often a row is in it"
            raise self.source.refused(self.source.keyword("RECURSIVE"), why, "name each step in WITH")
        check_inner(self.source, clause, "expressions")
        known = dict(self.known)
        for each in clause.expressions:
            check_inner(self.source, each, "this", "alias", "materialized")
            reader = Relations(self.source, self.catalogue, known, self.tables)
            name = identifier(each.args["alias"].this)[0]
            known = {**known, name: reader.item(each.this, each.args["alias"])}
        return Relations(self.source, self.catalogue, known, self.tables)

    def select(self, node: Node) -> Scope:
        """Return the rows of a SELECT before it chooses columns: FROM, JOIN and WHERE."""
        begun = node.args.get("from_")
        if begun is None:
            why = "without FROM there is no table to ask about"
            raise self.source.refused(node, why, "write SELECT COUNT(*) FROM visits")
        items = [
            (self._named(begun.this), None),
            *((self._named(each.this), each) for each in node.args.get("joins") or ()),
        ]
        scope = self._checked(joined(self.source, items), node)
        where = node.args.get("where")
        if where is None:
            return scope
        rows = rows_of(self.source, scope)
        return self._checked(scope.now(Filter(scope.plan, rows.condition(where.this))), where)

    def item(self, node: Node, alias: Node | None = None) -> Item:
        """Return a table: one of WITH, a public or a private one, a subquery, a union, or VALUES."""
        columns = [] if alias is None else [identifier(each)[0] for each in alias.args.get("columns") or ()]
        name = None if alias is None or alias.this is None else identifier(alias.this)[0]
        found = self._item(node, name, columns)
        if isinstance(found, Public):
            return found
        if columns:
            found = self._renamed(found, columns, node)
        return found.called(name or self._own_name(node))

    def _named(self, node: Node) -> tuple[Item, Node]:
        return self.item(node, node.args.get("alias")), node

    def _item(self, node: Node, name: str | None, columns: list[str]) -> Item:
        values = _values(node)
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
        table = self.tables[found]
        columns = {column.name or "": column for column in table.columns}
        return Scope(
            Scan(found), columns, (ScopeTable(found, {each: each for each in columns}, table.unit.identifier),)
        )

    def _chosen(self, node: Node) -> Scope:
        """Return a SELECT inside another: its rows, with the columns it names."""
        check_inner(self.source, node, "expressions", "from_", "joins", "where", "with_")
        reader = self.within(node)
        scope = reader.select(node)
        names: dict[str, str] = {}
        person, everything = None, False
        for each in node.expressions:
            if each.key == "star" or (each.key == "column" and each.this.key == "star"):
                everything = True
                for part in self._starred(scope, each):
                    names = self._merged(each, names, part.names)
                    person = person or part.person
                continue
            value = each.this if each.key == "alias" else each
            title = identifier(each.args["alias"])[0] if each.key == "alias" else None
            if scope.is_person(value):
                person = title or value.name
                continue
            scope, column = self._derived(scope, value, title)
            shown = title or (value.name if value.key == "column" else label(self.source.written(value)))
            names = self._merged(each, names, {shown: column})
        if everything and len(set(scope.columns) - set(names.values())) == 0:
            return Scope(scope.plan, scope.columns, (ScopeTable(None, names, person),), scope.size)
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
        if len(titles) != len(part.names):
            why = f"{len(titles)} names are given to {len(part.names)} columns"
            raise self.source.refused(node, why, "name every column, or none")
        return self._projected(scope, dict(zip(titles, part.names.values(), strict=True)), part.person, node)

    def _projected(self, scope: Scope, names: Mapping[str, str], person: str | None, node: Node) -> Scope:
        if not names:
            # Only the person was chosen: all columns stay in the plan, and none is spoken of.
            return Scope(scope.plan, scope.columns, (ScopeTable(None, {}, person),), scope.size)
        columns = {new: scope.columns[old].named(new) for new, old in names.items()}
        plan = Project(scope.plan, tuple(names.items()))
        made = Scope(plan, columns, (ScopeTable(None, {new: new for new in names}, person),), scope.size + 1)
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


def _values(node: Node) -> Node | None:
    """Return VALUES, also where the parser put a SELECT * around it."""
    if node.key == "values":
        return node
    if node.key == "select" and node.args.get("from_") is not None:
        inner: Node = node.args["from_"].this
        plain = {name for name, value in node.args.items() if value} == {"expressions", "from_"}
        if inner.key == "values" and plain and [each.key for each in node.expressions] == ["star"]:
            return inner
    return None
