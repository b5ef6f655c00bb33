"""SQL: a question in text, turned into the report that the Python verbs would make, and its answer into a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.account.budgets.price import Price
from discreet.ask.priced import Rows
from discreet.ask.query import Query
from discreet.ask.request import part_of
from discreet.ask.steps.bought import Bought, check_room, divided, previewed_together, with_bought
from discreet.core.errors import BadParameter
from discreet.core.rational import Number, as_written, typed
from discreet.core.value import dataclass
from discreet.measures import declare
from discreet.plan.from_sql import from_sql
from discreet.plan.nodes import Public, tables_of
from discreet.plan.sql.grouping import SqlStatement
from discreet.plan.sql.parse import Given
from discreet.plan.sql.refusals import SqlRefused
from discreet.plan.sql.scalars import LARGEST, SUPPOSED
from discreet.plan.sql.scope import Catalogue

if TYPE_CHECKING:
    from discreet.answers.answer import Answer
    from discreet.ask.desk import Desk
    from discreet.ask.preview import Preview
    from discreet.ask.registered import Registered
    from discreet.ask.report import Report
    from discreet.ask.request import Fresh
    from discreet.ask.steps.public_answer import PublicQuestion
    from discreet.core.schema import Table


@dataclass(frozen=True, slots=True)
class Spoken:
    """A question in SQL, with the price that its text or its caller named.

    `first` are the numbers that it compares with: each is a question of its own, paid for before this one. `bought` are
    those that have been. `again` reads the question with more of them, and a number to suppose for the others.
    """

    statement: SqlStatement
    report: Report
    epsilon: Number | None
    delta: Number | None
    rho: Number | None
    max_rows: Rows
    first: tuple[Report, ...] = ()
    bought: tuple[Bought, ...] = ()
    again: Callable[[tuple[Bought, ...], Fraction], Spoken] | None = None

    def preview(self, rows: int | None = None, *, sql: bool = False, cut: bool | int = False) -> Preview:
        """Show what it would cost and how far its answer would be off; free.

        `sql` shows the statements that the engine would run, too. Of what is bought first the sizes are not known that
        `rows` says of the question itself.
        """
        price, each = self._prices
        found = self.report.preview(*_amounts(price), rows=rows, max_rows=self.max_rows, sql=sql, cut=self._cut(cut))
        inner = [one.preview(*_amounts(each), max_rows=self.max_rows, sql=sql) for one in self.first]
        named = zip((scalar.written for scalar in self.statement.first), inner, strict=True)
        return previewed_together([*named], found, self._price) if inner else found

    def release(self, *, fresh: Fresh = False, cut: bool | int = False) -> Answer:
        """Pay, and return the answer as the SELECT arranges it.

        Guarantee: that of `Report.release`, for each number that is bought first and then for the question about these
        noisy numbers: together they cost the price. Totals, HAVING, ORDER BY and LIMIT are done to the answer alone.
        """
        price, each = self._prices
        asking = self._rehearsed(price, each, fresh=fresh) if self.first else self
        while (at := len(asking.bought)) < len(asking.first):
            assert asking.again is not None
            scalar, name = asking.statement.first[at], part_of(fresh, f"number {at + 1}")
            found = asking.first[at].release(*_amounts(each), max_rows=self.max_rows, fresh=name)
            number = Bought.of(scalar.written, each, _arranged(found, scalar.statement))
            asking = asking.again((*asking.bought, number), SUPPOSED)
        answer = asking.report.release(*_amounts(price), max_rows=self.max_rows, fresh=fresh, cut=self._cut(cut))
        found = with_bought(_arranged(answer, asking.statement), asking.bought, self._price)
        option = self.statement.options.given.get("sampling")
        return found.sampled() if option is not None and option.value is True else found

    @property
    def registered(self) -> Mapping[str, Registered]:
        """The tables that it asks about."""
        return self.report.query.registered

    @property
    def _price(self) -> Price:
        return Price.of(self.epsilon, self.delta, self.rho)

    @property
    def _prices(self) -> tuple[Price, Price]:
        """What the question itself costs, and each of the numbers before it."""
        return divided(self._price, len(self.first))

    def _cut(self, argument: bool | int) -> bool | int:
        """Whether what bounding cut is bought too, or up to how many rows of a person; said once."""
        option = self.statement.options.given.get("cut")
        if option is None:
            return argument
        if argument is not False:
            raise self.statement.source.refused(option.span, f"cut was also given, as {argument}", "give it once")
        if isinstance(option.value, bool):
            return option.value
        if not isinstance(option.value, Fraction) or option.value.denominator != 1:
            why = "a person has a whole number of rows"
            raise self.statement.source.refused(option.span, why, "write cut = true, or cut = 200")
        return int(option.value)

    def _rehearsed(self, price: Price, each: Price, *, fresh: Fresh) -> Spoken:
        """Return the question, which can be asked whatever numbers it will compare with: none is paid for in vain."""
        assert self.again is not None
        for number in (SUPPOSED, LARGEST, -LARGEST):
            rest = self.again((), number).report.asked(*_amounts(price), max_rows=self.max_rows)
        first = [
            one.asked(*_amounts(each), max_rows=self.max_rows)
            for one in self.first
            if fresh or not one.preview(*_amounts(each), max_rows=self.max_rows).answered
        ]
        if first:  # else all but the question itself was paid for, which is checked when it is asked, or a replay
            check_room(first, rest)
        return self


def _amounts(price: Price) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    return price.epsilon, price.delta or None, price.rho


def _arranged(answer: Answer, statement: SqlStatement) -> Answer:
    from discreet.answers.select_clauses import arranged

    return arranged(answer, statement)


def spoken(
    session: Desk,
    text: str,
    epsilon: Number | None,
    delta: Number | None,
    rho: Number | None,
    max_rows: Rows,
    *,
    public: Iterable[Public] = (),
    keys: Mapping[str, Sequence[object]] | None = None,
) -> Spoken | SpokenPublic:
    """Read a question: the same plan, keys and aggregates, and so the same ledger entry, as in Python.

    One that is refused, and reads public tables alone, is answered as what it is.
    """
    declare()
    public = tuple(public)

    def read(bought: tuple[Bought, ...], supposed: Fraction) -> Spoken:
        known: dict[str, Registered] = {}
        catalogue = _catalogue(session, known, public, keys or {})
        statement = from_sql(text, catalogue, [*(each.value for each in bought), supposed])
        report = _report(session, statement, known)
        first = tuple(_report(session, each.statement, known) for each in statement.first)
        given = _Given(statement)
        found = Spoken(
            statement,
            report,
            given.price("epsilon", epsilon, rho),
            given.price("delta", delta, None),
            rho,
            given.rows(max_rows),
            first,
            bought,
            read,
        )
        for each in (report, *first):
            given.check_unit(each, found.max_rows)
        _check_keys(found)
        return found

    try:
        return read((), SUPPOSED)
    except SqlRefused:
        from discreet.ask.steps.public_answer import public_question

        found = public_question(session, text, _catalogue(session, {}, public, keys or {}))
        if found is None:
            raise
    return SpokenPublic(found)


@dataclass(frozen=True, slots=True)
class SpokenPublic:
    """A question in SQL about public tables alone: whatever the price, it costs nothing."""

    question: PublicQuestion

    @property
    def registered(self) -> Mapping[str, Registered]:
        """The private tables that it asks about: none."""
        return {}

    def preview(self, rows: int | None = None, *, sql: bool = False, cut: bool | int = False) -> Preview:  # noqa: ARG002
        """Say that it is free; what it would return is not looked at."""
        return self.question.preview(sql=sql)

    def release(self, *, fresh: Fresh = False, cut: bool | int = False) -> Answer:  # noqa: ARG002  (nothing is cut)
        """Return the rows, exactly.

        Guarantee: that of `PublicQuestion`.
        """
        return self.question.release()


def _report(session: Desk, statement: SqlStatement, known: Mapping[str, Registered]) -> Report:
    """Return what a SELECT measures, about tables as they were when its text was read.

    So keys and bounds are of one version; `pay` refuses one that is gone.
    """
    tables = {name: known[name] for name in tables_of(statement.plan)}
    query = Query(session, statement.plan, statement.keys, tables)
    session.work_limits().check_joins(query.plan, query.tables, "join fewer tables, or give each fewer rows for a key")
    return query.agg(**dict(statement.aggregates))


def _catalogue(
    session: Desk, known: dict[str, Registered], public: Iterable[Public], keys: Mapping[str, Sequence[object]]
) -> Catalogue:
    """Return what the text may name; private tables are looked up when they are named, and noted in `known`."""

    def table(name: str) -> Table:
        known[name] = session.registered(name)
        return known[name].table

    tables: dict[str, Public] = {name: session.public_table(name).dimension for name in session.public_tables()}
    for each in public:
        if not isinstance(each, Public):
            why, fix = "it is not a public table", "make it with session.public('wards', {'ward': ['A'], 'floor': [1]})"
            raise BadParameter("public", type(each).__name__, why=why, fix=fix)
        tables[each.name] = each
    return Catalogue(session.tables(), table, tables, keys)


def _check_keys(spoken: Spoken) -> None:
    """Refuse keys that would have to be selected without a delta, where they stand."""
    keys, source = spoken.statement.keys, spoken.statement.source
    if keys is None or not keys.selected or spoken.delta:
        return
    missing = next(key.name for key in keys.columns if key.values is None)
    why = "its keys were not declared, and which there are may depend on one person"
    fix = f"pass keys={{'{missing}': [...]}}, or a delta (delta=1e-9), with which keys are selected privately"
    raise source.refused(spoken.statement.spans[missing], why, fix)


@dataclass(frozen=True, slots=True)
class _Given:
    """What BigQuery's clause said, held against the arguments of the call and the declared unit."""

    statement: SqlStatement

    def _option(self, name: str) -> Given | None:
        return self.statement.options.given.get(name)

    def price(self, name: str, argument: Number | None, other: Number | None) -> Number | None:
        """Return an amount that was given once, or twice alike."""
        option = self._option(name)
        if option is None:
            return argument
        assert isinstance(option.value, Fraction)
        if argument is not None and as_written(name, argument) != option.value:
            raise self._refused(option, f"{name} was also given, as {typed(argument)}", "give it once")
        if other is not None:
            raise self._refused(option, "rho was also given, and a price has one currency", "give one of them")
        return option.value

    def rows(self, argument: Rows) -> Rows:
        """Return how many rows a person counts for."""
        option = self._option("max_rows_contributed")
        if option is None:
            return argument
        if argument is not None and argument != option.value:
            raise self._refused(option, f"how many rows count was also given, as {argument}", "give it once")
        if not isinstance(option.value, Fraction) or option.value.denominator != 1:
            raise self._refused(option, "a person has a whole number of rows", "write max_rows_contributed = 2")
        return int(option.value)

    def check_unit(self, report: Report, max_rows: Rows) -> None:
        """Refuse what contradicts the unit that was declared with the table."""
        from discreet.ask.priced import unit_and_reach

        units = {table.unit for table in report.query.tables.values()}
        named, rows, groups = (
            self._option(name) for name in ("privacy_unit_column", "max_rows_contributed", "max_groups_contributed")
        )
        declared = next(iter(units))
        if named is not None and str(named.value).lower() != (declared.identifier or "").lower():
            whom = "single rows" if declared.is_row else f"people, by {declared.whom}"
            raise self._refused(named, f"the table protects {whom}", "leave it out: the custodian declared it")
        if rows is not None and (declared.is_row or int(rows.value) > declared.max_rows):
            why = (
                "rows are protected here" if declared.is_row else f"the table allows {declared.max_rows} rows a person"
            )
            raise self._refused(rows, why, "lower it, or leave it out")
        if groups is not None:
            unit, _ = unit_and_reach(report, max_rows)
            if unit.max_groups != groups.value:
                why = f"a person counts in at most {unit.max_groups} groups, as was declared with the table"
                raise self._refused(groups, why, "leave it out")

    def _refused(self, option: Given, why: str, fix: str) -> Exception:
        return self.statement.source.refused(option.span, why, fix)
