"""Public answers: questions in SQL about public tables alone are answered exactly, and cost nothing."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, closing
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from discreet.answers.answer import Answer
from discreet.answers.column import AnswerColumn
from discreet.answers.quantity import PublicValue
from discreet.core.errors import BadParameter, Refusal
from discreet.core.value import dataclass
from discreet.engines import EMBEDDED
from discreet.engines.dialect import Dialect, dialect_of
from discreet.engines.source import Source, home_of
from discreet.plan.dimension import Dimension
from discreet.plan.from_sql import outer_select, whole
from discreet.plan.sql.parse import parsed
from discreet.plan.sql.public_select import read_rows, reader_of, selected
from discreet.plan.sql.refusals import SqlRefused
from discreet.plan.sql.scope import Catalogue, identifier

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

    from discreet.ask.desk import Access, Desk
    from discreet.ask.preview import Preview, PreviewLine
    from discreet.ask.public_table import PublicTable
    from discreet.ask.request import DeskRequest
    from discreet.engines.engine import Engine
    from discreet.plan.nodes import Public
    from discreet.plan.sql.public_rows import PublicSelect
    from discreet.plan.sql.source import SqlText

# More rows are no answer that anyone reads; whoever wants them all has the table.
MOST_SHOWN = 100_000
MOST_LETTERS = 50_000_000
# What is free has no price to bound its work: so long does an engine work on it.
MOST_SECONDS = 60.0
NOTE = "public tables alone: exact, free, and nothing is recorded"


@dataclass(frozen=True, slots=True)
class PublicQuestion:
    """A SELECT that reads public tables alone: those of the vault that it names, in one engine, or those given with it.

    Guarantee: no private table is opened. The engine gets SQL that was written from the tree of the question, with
    names that were looked up and constants that were typed: nothing of the text, no file, no function that it names.
    """

    desk: Desk
    source: SqlText
    tree: Node
    public: Mapping[str, Public]

    def preview(self, *, sql: bool = False) -> Preview:
        """Say that it is free; `sql` shows what the engine would run."""
        from discreet.ask.preview import Preview

        try:
            self.desk.access.admit()
        except Refusal:  # which a grant that has ended gets there, too
            elsewhere: Preview = self.desk.preview(self._request(sql=sql))
            return elsewhere
        registered = self._registered()
        shown: tuple[str, ...] = ()
        dialect = dialect_of(next(iter({each.engine for each in registered.values()}), EMBEDDED))
        found = self._selected(registered, dialect)
        lines = tuple(_line(title) for title, _, column in found.columns if column.kind == "number")
        if sql:
            shown = (found.sql,)
        return Preview(lines, "nothing", (), (NOTE,), None, sql=shown)

    def release(self) -> Answer:
        """Return the rows: numbers as columns, all else as keys; where the vault is elsewhere, it is asked there."""
        try:
            desk = self.desk.access
        except Refusal:
            found: Answer = self.desk.run(self._request(sql=False)).answer
            return found
        return self._answer(desk)

    def _request(self, *, sql: bool) -> DeskRequest:
        from discreet.ask.request import AskTerms, DeskRequest
        from discreet.ask.steps.sql_question import SqlQuestion

        given = tuple(each for each in self.public.values() if not isinstance(each, Dimension))
        question = SqlQuestion(self.desk, self.source.text, {}, given)
        return DeskRequest("sql", question, AskTerms(sql=sql), None)

    def _selected(self, registered: Mapping[str, PublicTable], dialect: Dialect) -> PublicSelect:
        relations = {name: each.relation() for name, each in registered.items()}
        tables = reader_of(self.source, self.public, relations, dialect)
        try:
            found = selected(tables, self.tree, None, outermost=True)
        except SqlRefused as refusal:
            raise tables.told(refusal) from refusal
        if not any(column.kind == "number" for _, _, column in found.columns):
            why = "an answer has a number in each row, and these are none"
            fix = "select a number too, such as a key or COUNT(*)"
            raise self.source.refused(self.tree.expressions[0], why, fix)
        return found

    def _answer(self, desk: Access) -> Answer:
        registered = self._registered()
        engines = {each.engine for each in registered.values()}
        if len(engines) > 1:
            why = f"its tables are in different engines ({', '.join(sorted(engines))})"
            raise BadParameter("tables", sorted(registered), why=why, fix="register them in one engine")
        desk.admit()
        for each in registered.values():
            desk.check_public(each)
        seconds = min(float(desk.work_limits().deadline), MOST_SECONDS)
        with self._opened(registered) as engine, engine.question(seconds):
            found = self._selected(registered, dialect_of(engine.name))
            limit = whole(self.source, self.tree.args.get("limit"), "LIMIT")
            offset = whole(self.source, self.tree.args.get("offset"), "OFFSET") or 0
            rows = self._read(engine, f"{found.sql} LIMIT {MOST_SHOWN + 1}")
        if len(rows) > MOST_SHOWN:
            why = f"it has more than {MOST_SHOWN:,} rows before any LIMIT"
            raise BadParameter("question", len(rows), why=why, fix="narrow it in WHERE, or group it")
        names = [inner for _, inner, _ in found.columns] + [each[0] for each in found.order]
        places = {name: at for at, name in enumerate(dict.fromkeys(names))}
        shown = read_rows(found, [tuple(row) for row in rows], places)[offset:]
        return _answered(found, shown if limit is None else shown[:limit])

    def _read(self, engine: Engine, sql: str) -> list[tuple[object, ...]]:
        """Return the rows, unless their texts are longer than an answer may be."""
        rows: list[tuple[object, ...]] = []
        letters = 0
        with closing(cast("Generator[list[tuple[object, ...]], None, None]", engine.batches(sql))) as parts:
            for part in parts:
                rows += part
                letters += sum(len(value) for row in part for value in row if isinstance(value, str))
                if letters > MOST_LETTERS:
                    why = f"its texts have more than {MOST_LETTERS:,} letters in all"
                    raise BadParameter("question", "...", why=why, fix="select fewer texts, or narrow it in WHERE")
        return rows

    def _registered(self) -> dict[str, PublicTable]:
        names = {each.name for each in self.public.values() if isinstance(each, Dimension)}
        said = {token.text.lower() for token in self.source.tokens}
        return {name: self.desk.public_table(name) for name in sorted(names) if name.lower() in said}

    def _opened(self, registered: Mapping[str, PublicTable]) -> AbstractContextManager[Engine]:
        sources = [each.source for each in registered.values()] or [Source("parquet", "none")]
        return home_of(sources[0]).opened(sources, b"")


def public_question(desk: Desk, text: str, catalogue: Catalogue) -> PublicQuestion | None:
    """Return a question that reads public tables alone, at least one; None for any other."""
    from sqlglot import exp

    source, _, tree = parsed(text)
    if tree.key not in ("select", "subquery"):
        return None
    select = outer_select(source, tree)
    named = {identifier(each.args["alias"].this)[0].lower() for each in tree.find_all(exp.CTE)}
    public = {name.lower() for name in catalogue.public}
    read = {each.name.lower() for each in tree.find_all(exp.Table)} - named
    return PublicQuestion(desk, source, select, catalogue.public) if read and read <= public else None


def _line(title: str) -> PreviewLine:
    from discreet.ask.preview import PreviewLine

    return PreviewLine(title, "none", "0", "none", 0.0, "exact", "nothing", "0")


def _answered(found: PublicSelect, rows: list[tuple[object, ...]]) -> Answer:
    numbers = [at for at, (_, _, column) in enumerate(found.columns) if column.kind == "number"]
    others = [at for at in range(len(found.columns)) if at not in numbers]
    return Answer(
        keys=tuple(found.columns[at][0] for at in others),
        rows=tuple(tuple(row[at] for at in others) for row in rows),
        columns=tuple(
            AnswerColumn(
                found.columns[at][0],
                tuple(PublicValue(_number(row[at])) for row in rows),
                words=found.columns[at][0],
                kind="public",
                mechanism="none",
            )
            for at in numbers
        ),
        notes=(NOTE,),
    )


def _number(value: object) -> Fraction | None:
    assert value is None or isinstance(value, int | Fraction)
    return None if value is None else Fraction(value)
