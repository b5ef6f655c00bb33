"""Join graphs: tables separated by commas, joined in an order in which people are bounded best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from discreet.core.errors import Refusal
from discreet.core.schema import Table
from discreet.core.value import dataclass
from discreet.plan.nodes import MOST_SCANS, Filter, Public, Scan
from discreet.plan.referents import is_unique
from discreet.plan.sql.expressions import rows_of
from discreet.plan.sql.joins import (
    Item,
    Pair,
    check_join_words,
    columns_in,
    conjuncts,
    is_bare,
    is_left,
    left_joined,
    named_column,
    same_person,
    title_of,
    unjoined,
    unprotected,
    with_private,
    with_public,
)
from discreet.plan.sql.rows import joined as both
from discreet.plan.sql.rows import run
from discreet.plan.sql.scope import Scope, ScopeTable
from discreet.plan.sql.source import SqlText
from discreet.plan.stability import reach, unit_of

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

Items = Sequence[tuple[tuple[Item, "Node"], "Node | None"]]


def is_ordered(source: SqlText, items: Items, tables: Mapping[str, Table]) -> bool:
    """Say whether the tables of a FROM are joined one after the other, as they are written.

    That is so where each JOIN says what is equal, and no table is linked: a link decides which side has one partner.
    """
    joins = [join for _, join in items if join is not None]
    for join in joins:
        check_join_words(source, join)
    if any(is_bare(join) for join in joins):
        return False
    return len(items) == 1 or all(table.unit.via is None for table in tables.values())


def factors(where: Node | None) -> list[Node]:
    """Return the conditions that all have to be true, those of every branch of an OR among them."""
    return [] if where is None else [*_factors(where.this)]


def _factors(node: Node) -> Iterator[Node]:
    for each in conjuncts(node):
        if each.key == "or":
            yield from _shared(each)
        yield each


def _shared(node: Node) -> Iterator[Node]:
    """Yield the equalities that are in every branch of an OR."""
    first, *others = run(node, "or")
    branches = [[*_factors(each)] for each in (first, *(other.expression for other in others))]
    written = [{_names(each) for each in branch if _is_equality(each)} for branch in branches[1:]]
    for each in branches[0]:
        if _is_equality(each) and all(_names(each) in names for names in written):
            yield each


def _names(node: Node) -> tuple[str, ...]:
    """Return the columns of an equality as they are written, the table before each."""
    return tuple(name for side in (node.this, node.expression) for name in (side.table, side.name))


def _is_equality(node: Node) -> bool:
    return bool(node.key == "eq" and node.this.key == "column" and node.expression.key == "column")


@dataclass(frozen=True, slots=True)
class Edge:
    """Two columns of two tables that are equal: each with its table's place in the FROM, and where that is said."""

    one: tuple[int, Node]
    two: tuple[int, Node]
    at: Node

    def between(self, met: Sequence[int], other: int) -> tuple[int, Pair] | None:
        """Return the place of a table met already from which the edge leads to other, and its column and other's."""
        for (ours, mine), (theirs, their) in ((self.one, self.two), (self.two, self.one)):
            if ours in met and theirs == other:
                return ours, (mine, their)
        return None


@dataclass(frozen=True, slots=True)
class JoinGraph:
    """The tables of a FROM, and which of their columns are equal.

    Tables are joined in the order that leaves fewest rows of a person: it begins with the table from which most others
    are reached with one partner a row, by a link or a person of one row. `left` are the conditions that are none of a
    join or of one private table, once it is joined.

    Guarantee: private tables meet on the person alone, in whichever order; see `PersonJoin`.
    """

    source: SqlText
    items: list[Item]
    nodes: list[Node]
    joins: list[Node | None]
    edges: list[Edge]
    left: list[Node]
    tables: Mapping[str, Table]
    _known: list[Scope] = field(default_factory=list)

    @classmethod
    def of(cls, source: SqlText, items: Items, conditions: Sequence[Node], tables: Mapping[str, Table]) -> JoinGraph:
        """Divide conditions into equalities between tables, those of one private table, and all others."""
        if len(items) > MOST_SCANS:
            why = f"a question reads at most {MOST_SCANS} tables, counting one that is read twice as two"
            raise source.refused(items[MOST_SCANS][0][1], why, "ask in several questions")
        first = [(item, node) for (item, node), _ in items]
        joins = [join for _, join in items]
        graph = cls(source, [item for item, _ in first], [node for _, node in first], joins, [], [], tables)
        graph._known.extend(graph._names(place) for place in range(len(items)))
        for place, join in enumerate(joins):
            if join is None or is_left(join):
                continue
            for name in join.args.get("using") or ():
                graph._used(place, named_column(name))
            if join.args.get("on"):
                graph._add(_factors(join.args["on"]))
        graph._add(iter(conditions))
        return graph

    def joined(self) -> Scope:
        """Return the tables joined; what joins none of them is refused."""
        lefts = [place for place, join in enumerate(self.joins) if is_left(join)]
        inner = [place for place in range(len(self.items)) if place not in lefts]
        private = [place for place in inner if isinstance(self.items[place], Scope)]
        if not private:
            raise unprotected(self.source, self.nodes[0])
        root = max(private, key=lambda place: (len(self._single(place)), -place))
        met, waiting = [root], [place for place in inner if place != root]
        scope = self._private(root)
        while waiting:
            place = min(waiting, key=lambda other: self._rank(met, other))
            pairs = self._taken(met, place)
            scope = self._with(scope, place, pairs)
            met.append(place)
            waiting.remove(place)
        for place in lefts:
            join = self.joins[place]
            assert join is not None
            scope = left_joined(self.source, scope, self.items[place], join, self.tables)
        self.left.extend(edge.at for edge in self.edges)
        return scope

    def _names(self, place: int) -> Scope:
        """Return what a table's columns are called, by which it is told which table a column is of."""
        item = self.items[place]
        return item if isinstance(item, Scope) else names_of(item, self.nodes[place])

    def _everything(self) -> Scope:
        columns = {name: column for scope in self._known for name, column in scope.columns.items()}
        return Scope(Scan(""), columns, tuple(part for scope in self._known for part in scope.parts))

    def _private(self, place: int) -> Scope:
        item = self.items[place]
        assert isinstance(item, Scope)
        return item

    def _of(self, node: Node) -> list[int]:
        return [place for place, scope in enumerate(self._known) if scope.knows(node)]

    def _used(self, place: int, name: Node) -> None:
        ours = next((other for other in self._of(name) if other < place), 0)
        self.edges.append(Edge((ours, name), (place, name), name))

    def _add(self, conditions: Iterator[Node]) -> None:
        narrowed: dict[int, list[Node]] = {}
        for each in conditions:
            nodes = columns_in(each)
            places = [self._of(node) for node in nodes]
            found = {place[0] for place in places} if all(len(place) == 1 for place in places) else set()
            nested = each.find(*_queries()) is not None
            for node, place in zip(nodes, places, strict=True):
                if not place and not nested:
                    self._everything().column(node, self.source)  # refuses what no table has, with the nearest
            if nested or not found or any(is_left(self.joins[place]) for place in found):
                self.left.append(each)
            elif len(found) == 2 and _is_equality(each):
                self.edges.append(Edge((places[0][0], nodes[0]), (places[1][0], nodes[1]), each))
            elif len(found) == 1 and isinstance(self.items[min(found)], Scope):
                narrowed.setdefault(min(found), []).append(each)
            else:
                self.left.append(each)
        for item, mine in narrowed.items():
            scope = self._private(item)
            rows = rows_of(self.source, scope)
            self.items[item] = scope.now(Filter(scope.plan, both("and", [rows.condition(each) for each in mine])))

    def _single(self, root: int) -> list[int]:
        """Return the private tables that are reached from one with one partner a row."""
        met = [root]
        for _ in self.items:
            met += [
                place
                for place, item in enumerate(self.items)
                if isinstance(item, Scope) and place not in met and not is_left(self.joins[place])
                if self._rank(met, place)[0] == 0
            ]
        return met

    def _rank(self, met: Sequence[int], place: int) -> tuple[int, int]:
        """Return how early a table is joined: with one partner, with several, a public one, last what nothing joins."""
        item = self.items[place]
        pairs = [found for edge in self.edges if (found := edge.between(met, place)) is not None]
        if isinstance(item, Public):
            return self._rank_of_public(item, [pair for _, pair in pairs]), place
        people = [pair for ours, pair in pairs if self._is_person(pair, self.items[ours], item)]
        if not people:
            return (4 if pairs else 5), place
        alone = reach(item.plan, unit_of(item.plan, self.tables), self.tables) == 1
        keyed = (node for _, (_, node) in pairs if item.person(node) is None)
        unique = any(is_unique(item.plan, item.column(node, self.source), self.tables) for node in keyed)
        return (0 if alone or unique else 1), place

    @staticmethod
    def _rank_of_public(item: Public, pairs: Sequence[Pair]) -> int:
        """Return 2 for what is joined by a key, 3 for what may have several partners, or waits for more of its key."""
        try:
            return 5 if not pairs else 2 if item.fan_out({pair[1].name for pair in pairs}) <= 1 else 3
        except (Refusal, ValueError):  # the join itself says what is wrong
            return 3

    def _is_person(self, pair: Pair, ours: Item, item: Scope) -> bool:
        return isinstance(ours, Scope) and same_person(pair, ours, item, self.source, self.tables)

    def _taken(self, met: Sequence[int], place: int) -> list[Pair]:
        """Return the pairs by which a table is joined, each column of a public one once; they are edges no longer."""
        found: list[tuple[Edge, Pair]] = []
        for edge in self.edges:
            between = edge.between(met, place)
            if between is None:
                continue
            _, pair = between
            taken = {known[1].name.lower() for _, known in found}
            if not isinstance(self.items[place], Public) or pair[1].name.lower() not in taken:
                found.append((edge, pair))
        for edge, _ in found:
            self.edges.remove(edge)
        return [pair for _, pair in found]

    def _with(self, scope: Scope, place: int, pairs: list[Pair]) -> Scope:
        item, node, join = self.items[place], self.nodes[place], self.joins[place]
        if not pairs:
            bare = join if join is not None else next(each for each in self.joins if each is not None)
            raise unjoined(self.source, bare)
        at = join if join is not None and not is_bare(join) else pairs[0][1].parent or node
        if isinstance(item, Public):
            return with_public(self.source, scope, item, title_of(node, item), at, pairs)
        return with_private(self.source, scope, item, at, pairs, self.tables)


def names_of(item: Public, node: Node) -> Scope:
    """Return what the columns of a public table are called; nothing is read of it."""
    return Scope(Scan(""), {}, (ScopeTable(title_of(node, item), {name: name for name in item.names}),))


def _queries() -> tuple[type[Node], ...]:
    from sqlglot import exp

    return (exp.Select,)
