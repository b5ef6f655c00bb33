"""Aggregates: COUNT, SUM, AVG, MEDIAN and the rest, read into those of the plan; equal ones are measured once."""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.core.column import Column
from discreet.core.errors import Refusal
from discreet.core.value import dataclass, fields
from discreet.plan import aggregates as plan
from discreet.plan.aggregates import Aggregate
from discreet.plan.expressions import Case, Expression, Literal
from discreet.plan.refusals import IllTyped
from discreet.plan.sql.parse import Bounds
from discreet.plan.sql.refusals import Span, is_aggregate, label, meant, unused
from discreet.plan.sql.rows import Rows
from discreet.plan.sql.scope import spelled
from discreet.plan.types import type_of

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

# Whoever divides by n - 1 says so; the others are taken to divide by n, as ours do.
_SAMPLES = {
    "VAR_SAMP": "VAR_POP({0}) * COUNT({1}) / (COUNT({1}) - 1)",
    "VARIANCE_SAMP": "VAR_POP({0}) * COUNT({1}) / (COUNT({1}) - 1)",
    "STDDEV_SAMP": "SQRT(VAR_POP({0}) * COUNT({1}) / (COUNT({1}) - 1))",
    "COVAR_SAMP": "COVAR_POP({0}) * COUNT({1}) / (COUNT({1}) - 1)",
}
_RANKED = frozenset({"percentilecont", "percentiledisc", "quantile", "approxquantile"})


@dataclass(frozen=True, slots=True)
class Measures:
    """The aggregates of a question, in the order in which they are first met, each under a name of its own."""

    rows: Rows
    bounds: dict[int, Bounds]
    taken: set[str] = field(default_factory=set)
    known: dict[Aggregate, str] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)

    def name(self, node: Node, wanted: str | None = None) -> str:
        """Return the name under which an aggregate is measured; one that is asked for already is not asked again."""
        made = self.read(node)
        if made in self.known:
            return self.known[made]
        name = unused(wanted or label(self.rows.source.written(node)), self.taken)
        self.taken.add(name.lower())
        self.known[made] = name
        self.spans[name] = self.rows.source.span(node)
        return name

    def read(self, node: Node) -> Aggregate:
        """Return the aggregate that a node means."""
        made = self._read(node, None)
        try:
            found = plan.check(made, self.rows.scope.columns)
        except IllTyped as refusal:
            raise self._of_other_kind(node, made) from refusal
        except Refusal as refusal:
            raise self.rows.source.translated(node, refusal) from refusal
        if not isinstance(made, plan.Count) and any(column.kind == "date" for column in found):
            fix = f"write {self._call(node, '{} - DATE ' + repr('2020-01-01'))}, and add the day to the answer"
            raise self.rows.refused(node, "days are ranked and averaged as numbers", fix)
        if not isinstance(made, plan.Count) and any(_is_one_value(column) for column in found):
            why = "it has one value in every row, so counting rows is enough"
            raise self.rows.refused(node, why, "write COUNT(*), and multiply")
        return made

    def _of_other_kind(self, node: Node, made: Aggregate) -> Refusal:
        """Say which kind an aggregate does not take, and what to write for it."""
        kinds = [type_of(each, self.rows.scope.columns).kind for each in made.expressions]
        kind = next(each for each in kinds if each not in made.kinds)
        cast = self._call(node, "CAST({} AS INTEGER)") if kind == "flag" else ""
        fix = f"write {cast}" if cast else "count it, or group by it"
        return self.rows.refused(node, f"this is of a {kind}, and takes numbers", fix)

    def _call(self, node: Node, inner: str) -> str:
        """Return a call with its argument written otherwise."""
        while node.key in ("filter", "withingroup"):
            node = node.this
        source = self.rows.source
        return f"{source.written(node).partition('(')[0].strip()}({inner.format(source.written(node.this))})"

    def _read(self, node: Node, kept: Expression | None) -> Aggregate:
        rows = self.rows
        if node.key == "filter":
            if not is_aggregate(node.this):
                raise rows.refused(node, "FILTER belongs behind an aggregate", "write COUNT(*) FILTER (WHERE urgent)")
            return self._read(node.this, rows.condition(node.expression.this))
        if node.key == "withingroup":
            if node.this.key not in ("percentilecont", "percentiledisc") or node.this.args.get("expression"):
                fix = "write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age)"
                raise rows.refused(node, "only quantiles are taken within the order of a group", fix)
            return self._ranked(node.this, node.this.this, node.expression, kept)
        name = rows.source.written(node).partition("(")[0].strip().upper()
        if name in _SAMPLES:
            of = [rows.source.written(each) for each in (node.this, node.expression) if each]
            fix = f"write {_SAMPLES[name].format(', '.join(of), of[0])}, or {name[:-4]}POP({', '.join(of)})"
            raise rows.refused(node, "spread is measured over n, not n - 1", fix)
        if node.key == "count":
            return self._count(node, kept)
        if node.key == "countif":
            rows.only(node, "this")
            condition = rows.condition(node.this)
            return plan.count(_when(condition if kept is None else kept & condition, Literal(Fraction(1))))
        if node.key in _RANKED:
            share = node.args.get("quantile") or node.args.get("expression")
            return self._ranked(node, share, node.this, kept)
        kind = meant(node)
        if kind is None:
            rows.only(node, "this")
            return plan.median(self._value(node, node.this, kept))
        return self._called(node, kind, kept)

    def _called(self, node: Node, kind: type[Aggregate], kept: Expression | None) -> Aggregate:
        """Return an aggregate of as many expressions as it takes: those that the function is called with."""
        rows = self.rows
        names = [field.name for field in fields(kind) if field.name not in kind.options]
        if node.key == "anonymous":
            given = node.expressions
        else:
            rows.only(node, *("this", "expression")[: len(names)])
            given = [each for each in (node.this, node.args.get("expression")) if each is not None]
        if len(given) != len(names):
            many = f"{len(names)} column{'s' if len(names) > 1 else ''}"
            called = rows.source.written(node).partition("(")[0].strip()
            raise rows.refused(
                node, f"this is of {many}", f"write {called}({', '.join(['cost', 'age'][: len(names)])})"
            )
        clip = self.bounds.get(node.meta.get("start", -1))
        if kind is plan.Sum and clip is not None and clip.is_of_person:
            return self._total(node, given[0], kept)
        return kind(**{name: self._value(node, each, kept) for name, each in zip(names, given, strict=True)})

    def _total(self, node: Node, of: Node, kept: Expression | None) -> Aggregate:
        """Return a sum of people's totals, each clipped."""
        clip = self.bounds.pop(node.meta["start"])
        if all(part.person is None for part in self.rows.scope.parts):
            why = "rows are protected here, not people, so a person's rows are not told from others"
            raise self.rows.source.refused(clip.span, why, "write contribution_bounds_per_row, which clips every value")
        value = self._value(node, of, kept)
        try:
            return plan.Sum(value, (clip.low, clip.high))
        except Refusal as refusal:
            raise self.rows.source.refused(clip.span, refusal.why, "write (0, 20000), for example") from refusal

    def _count(self, node: Node, kept: Expression | None) -> Aggregate:
        rows = self.rows
        rows.only(node, "this", "big_int")
        if node.this is None:
            raise rows.refused(node, "COUNT counts rows or values", "write COUNT(*)")
        clip = self.bounds.pop(node.meta.get("start", -1), None)
        if clip is not None:
            fix = "leave it out, or lower how many rows a person counts for: max_rows=2, or max_rows_contributed = 2"
            raise rows.source.refused(
                clip.span, "rows of a person are bounded by the unit, for all aggregates alike", fix
            )
        if node.this.key == "distinct":
            return self._people(node, kept)
        if node.this.key == "star":
            return plan.count() if kept is None else plan.count(_when(kept, Literal(Fraction(1))))
        if rows.scope.is_person(node.this):
            why = "this column identifies people, and is not used otherwise"
            raise rows.refused(
                node, why, f"write COUNT(DISTINCT {spelled(node.this.name)}) for people, COUNT(*) for rows"
            )
        value = rows.read(node.this)
        return plan.count(value if kept is None else _when(kept, value))

    def _people(self, node: Node, kept: Expression | None) -> Aggregate:
        rows, listed = self.rows, node.this.expressions
        if kept is not None:
            why = "people are counted among all rows of a group"
            raise rows.refused(node, why, "move the condition to WHERE, in a question of its own")
        if len(listed) == 1 and rows.scope.is_person(listed[0]):
            return plan.people()
        people = [part.person for part in rows.scope.parts if part.person is not None]
        why = "of different values only people are counted: how many others there are may depend on one row"
        fix = f"write COUNT(DISTINCT {spelled(people[0])})" if people else "write COUNT(*), or count by group: GROUP BY"
        raise rows.refused(node, why, fix)

    def _ranked(self, node: Node, share: Node | None, of: Node | None, kept: Expression | None) -> Aggregate:
        rows, turned = self.rows, False
        if of is not None and of.key == "order":
            ordered = of.expressions[0] if len(of.expressions) == 1 else None
            if ordered is None or ordered.args.get("with_fill"):
                raise rows.refused(of, "a quantile is of one column", "write WITHIN GROUP (ORDER BY age)")
            of, turned = ordered.this, bool(ordered.args.get("desc"))
        q = rows.read(share) if share is not None else None
        right = isinstance(q, Literal) and isinstance(q.value, Fraction) and 0 < q.value < 1
        if of is None or not right:
            fix = "write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age), or QUANTILE(age, 0.5)"
            raise rows.refused(node, "a quantile has a share between 0 and 1 and a column", fix)
        assert isinstance(q, Literal)
        assert isinstance(q.value, Fraction)
        return plan.quantile(self._value(node, of, kept), 1 - q.value if turned else q.value)

    def _value(self, node: Node, of: Node, kept: Expression | None) -> Expression:
        """Return what is aggregated: clipped to the bounds that were given, for the rows that are kept."""
        if of.key == "distinct":
            why = "DISTINCT counts people, and nothing else"
            raise self.rows.refused(node, why, "leave DISTINCT out, or group by the column")
        value = self.rows.read(of)
        clip = self.bounds.pop(node.meta.get("start", -1), None)
        if clip is not None and clip.is_of_person:
            called = self.rows.source.written(node).partition("(")[0].strip().upper()
            why = f"{called} has no total of each person that could be clipped, as SUM has"
            fix = "write contribution_bounds_per_row, or aggregate FROM (SELECT id, SUM(cost) AS t ... GROUP BY id)"
            raise self.rows.source.refused(clip.span, why, fix)
        if clip is not None:
            value = value.clip(clip.low, clip.high)
        value = value if kept is None else _when(kept, value)
        self.rows.type_of(value, of)
        return value


def _is_one_value(column: Column) -> bool:
    return column.bounds is not None and column.bounds[0] == column.bounds[1]


def _when(condition: Expression, value: Expression) -> Expression:
    return Case(((condition, value),))
