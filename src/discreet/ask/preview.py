"""Preview: what an answer would cost and how far it would be off, before anything is paid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.account.numeric.checks import whole
from discreet.ask.engine_sql import statements
from discreet.ask.priced import PricedQuestion, Rows, asked, spelled, stability_words
from discreet.ask.registered import with_referred
from discreet.ask.remaining import enough_for, figures, fitting, limit_words, none_fits, percent, share_left, too_little
from discreet.core import record as records
from discreet.core.errors import BadParameter, Refusal
from discreet.core.value import dataclass
from discreet.ledger.charge import Charge

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Group
    from rich.table import Table

    from discreet.account.budgets.price import Price
    from discreet.account.losses.loss import PrivacyLoss
    from discreet.ask.question import QueryBase, Question
    from discreet.ledger.standing import Standing
    from discreet.measures.measure import Measure


_HEADINGS = ("column", "mechanism", "sensitivity", "noise", "95% half-width", "cost", "delta")


_FAILED = "this was charged and failed, which is its final answer: only fresh=True runs it again, for another charge"


_FIELDS = ("price", "answered", "failed", "columns", "stability", "remaining", "notes", "sql")


@dataclass(frozen=True, slots=True)
class PreviewLine:
    """What is known in advance about one column of the answer; `half_width` is None where it depends on the data."""

    column: str
    mechanism: str
    sensitivity: str
    noise: str
    half_width: float | None
    within: str
    cost: str
    delta: str
    ranks: float | None = None

    def texts(self) -> tuple[str, ...]:
        """Return the line as it is shown."""
        return self.column, self.mechanism, self.sensitivity, self.noise, self.within, self.cost, self.delta


@dataclass(frozen=True, slots=True)
class Preview:
    """A table of expected errors and prices: a function of the question, the schema, and what was declared or bought.

    Guarantee: no row of the private tables was looked at, so that a preview is free and may be asked for at will.
    """

    lines: tuple[PreviewLine, ...]
    price: str
    remaining: tuple[str, ...]
    notes: tuple[str, ...]
    asked: PricedQuestion | None  # None where public tables alone are read
    rows: int | None = None
    max_rows: int | Literal["auto"] | None = None
    stability: tuple[str, ...] = ()
    sql: tuple[str, ...] = ()
    answered: bool = False
    failed: bool = False

    def __getitem__(self, column: str) -> PreviewLine:
        for line in self.lines:
            if line.column == column:
                return line
        from discreet.core.errors import UnknownName

        raise UnknownName("column", column, [line.column for line in self.lines])

    def __str__(self) -> str:
        rows = [_HEADINGS, *(line.texts() for line in self.lines)]
        widths = [max(len(row[place]) for row in rows) for place in range(len(_HEADINGS))]
        table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*table, *self._below(), *(f"\n{statement}" for statement in self.sql)])

    __repr__ = __str__

    def __rich__(self) -> Table | Group:
        from rich.console import Group
        from rich.text import Text

        # As plain text: the brackets of a list are no markup.
        statements = [Text(f"\n{statement}", overflow="fold") for statement in self.sql]
        return Group(self._table(), *statements) if statements else self._table()

    def _table(self) -> Table:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(box=SIMPLE_HEAD, pad_edge=False, caption="\n".join(self._below()), caption_justify="left")
        # A narrow terminal has no room for a column of zeros.
        shown = [place for place, heading in enumerate(_HEADINGS) if heading != "delta" or self._has_delta]
        for place in shown:
            table.add_column(_HEADINGS[place], min_width=max(map(len, _HEADINGS[place].split())))
        for line in self.lines:
            table.add_row(*(line.texts()[place] for place in shown))
        return table

    @property
    def _has_delta(self) -> bool:
        return any(line.delta != "0" for line in self.lines)

    def _repr_html_(self) -> str:
        from discreet.answers.html import listing

        shown = [place for place, heading in enumerate(_HEADINGS) if heading != "delta" or self._has_delta]
        rows = [[line.texts()[place] for place in shown] for line in self.lines]
        return listing([_HEADINGS[place] for place in shown], rows, self._below(), self.sql)

    def record(self) -> dict[str, Any]:
        """Return the preview as plain JSON values."""
        return {
            "price": self.price,
            "answered": self.answered,
            "failed": self.failed,
            "columns": [
                {name: getattr(line, name) for name in PreviewLine.__slots__ if name != "within"}
                | {"within": line.within}
                for line in self.lines
            ],
            "stability": list(self.stability),
            "remaining": list(self.remaining),
            "notes": list(self.notes),
            "sql": list(self.sql),
        }

    @classmethod
    def from_record(
        cls, record: object, asked: PricedQuestion | None, rows: int | None, max_rows: int | Literal["auto"] | None
    ) -> Preview:
        """Read what `record` returned, about a question at its price."""
        found = records.fields("preview", record, _FIELDS)
        lines = tuple(PreviewLine(**records.fields("column", each, PreviewLine.__slots__)) for each in found["columns"])
        remaining, notes, stability, sql = (tuple(found[name]) for name in ("remaining", "notes", "stability", "sql"))
        answered, failed = found["answered"] is True, found["failed"] is True
        price = found["price"]
        return cls(lines, price, remaining, notes, asked, rows, max_rows, stability, sql, answered, failed)

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw the half-widths of all columns against the price, on both sides of the one that was asked about."""
        from discreet.answers.plots.error_plot import plot

        price = self._asked.price
        currency, now = ("epsilon", price.epsilon) if price.epsilon is not None else ("rho", price.rho)
        return plot(self._curves(), currency, float(now or 0), None if path is None else Path(path))

    @property
    def _asked(self) -> PricedQuestion:
        if self.asked is None:
            why = "public tables are answered exactly, whatever is paid"
            raise BadParameter("plot", None, why=why, fix="ask it: it is free")
        return self.asked

    def _curves(self) -> dict[str, list[tuple[float, float]]]:
        """Return price and half-width (in ranks for quantiles) of every column, from a tenth to ten times the price."""
        curves: dict[str, list[tuple[float, float]]] = {}
        for step in range(-8, 9):
            part = self._asked.price.share(Fraction(f"{10 ** (step / 8):.4g}"))
            amount = float(part.epsilon if part.epsilon is not None else part.rho or 0)
            for line in _expected(asked(self._asked.report, part, self.max_rows), self.rows)[0]:
                half = line.half_width if line.half_width is not None else line.ranks
                if half is not None:
                    curves.setdefault(line.column, []).append((amount, half))
        return curves

    def _below(self) -> list[str]:
        if self.answered:
            return [f"answered before: free (its price was {self.price})", *self.stability, *self.notes]
        return [f"price: {self.price}", *self.stability, *self.remaining, *self.notes]


def previewed(
    report: Question, price: Price, rows: int | None = None, max_rows: Rows = None, *, sql: bool = False
) -> Preview:
    """Return the preview of a question: kept, if nothing has happened in the vault since, or made now.

    What an engine would be asked depends on its source as well, and is looked at anew each time.
    """
    desk = report.query.desk.access
    if sql or report.query.snapshot is not None:
        return preview(asked(report, price, max_rows), rows, max_rows, sql=sql)
    said = f"{spelled(report, price, max_rows)} {rows!r}"
    if isinstance(found := desk.previewed(said), Preview):
        return found
    known = desk.known
    made = preview(asked(report, price, max_rows), rows, max_rows)
    desk.keep_preview(said, made, known)
    return made


def preview(
    question: PricedQuestion,
    rows: int | None = None,
    max_rows: int | Literal["auto"] | None = None,
    *,
    sql: bool = False,
) -> Preview:
    """Look ahead: from the question, the schema, and a declared or supposed number of rows."""
    lines, size = _expected(question, rows)
    query, loss = question.report.query, question.loss
    standings = query.desk.access.standings(query.accounts)
    fits = "" if all(each.filter.fits(loss) for each in standings) else _offer(question, max_rows, standings)
    remaining = tuple(remaining_after(query, loss, fits))
    notes = (*_notes(question, size), *_too_cheap(question, standings))
    price, shown = str(question.price), statements(question) if sql else ()
    stability, charge = stability_words(question), _charge(question)
    answered, failed = query.desk.access.answered(charge), query.desk.access.failed(charge)
    notes = (_FAILED, *notes) if failed else notes
    return Preview(lines, price, remaining, notes, question, rows, max_rows, stability, shown, answered, failed)


def _too_cheap(question: PricedQuestion, standings: Sequence[Standing]) -> Iterator[str]:
    """Say that a release would be refused for its price, which is below the policy's least."""
    limits = question.report.query.desk.work_limits()
    for each in standings:
        if each.scope == "account":
            try:
                limits.check_price(each.account, each.filter, question.loss)
            except Refusal as refusal:
                yield f"{refusal.what} is refused: {refusal.fix}"


def _expected(question: PricedQuestion, rows: int | None) -> tuple[tuple[PreviewLine, ...], int | None]:
    """Return the lines of all columns, and the number of rows that they are for, if there is one."""
    size = question.reach.size if rows is None else whole("rows", rows)
    return tuple(line for each in question.measures for line in _lines(each, size)), size


def _offer(question: PricedQuestion, max_rows: int | Literal["auto"] | None, standings: Sequence[Standing]) -> str:
    found = fitting(question, max_rows, standings)
    currency = "epsilon" if question.price.epsilon is not None else "rho"
    return f"{currency} {found} would fit" if found else none_fits(question, standings)


def _charge(question: PricedQuestion) -> Charge:
    """Return what the ledger would be asked to charge for the question."""
    query = question.report.query
    versions = {name: found.version for name, found in query.registered.items()}
    text = with_referred(question.question, query.registered)
    return Charge(text, dict.fromkeys(query.accounts, question.loss), versions)


def _lines(measure: Measure, rows: int | None) -> list[PreviewLine]:
    error, cost = measure.expected(rows), f"{measure.price}{measure.shared}"
    known = measure.kind, measure.sensitivity, measure.noise, error.half_width, error.within, cost, "0", error.ranks
    return [PreviewLine(name, *known) for name in measure.columns]


def remaining_after(query: QueryBase, loss: PrivacyLoss, fits: str = "") -> list[str]:
    """Say what each limit would have left after a question of that loss, or that it would refuse it and what fits."""
    texts = []
    for standing in query.desk.access.standings(query.accounts):
        where = limit_words(standing)
        try:
            after = standing.filter.admit(loss)
        except BudgetExceeded as error:
            texts.append(
                f"{where}: too little left: {too_little(standing.filter, loss)}: {enough_for(0)}"
                + ("" if fits else f"; {error.fix}")
            )
            continue
        left = f"{percent(share_left(after))} would remain ({figures(after)})"
        texts.append(f"{where}: {left}, enough for {enough_for(after.more(loss))}")
    return [*texts, fits] if fits else texts


def _notes(question: PricedQuestion, rows: int | None) -> list[str]:
    notes = [*question.withheld]
    if question.selection is not None:
        notes.append(
            f"keys are found by private selection (delta {float(question.selection.delta):.3g}): a key of"
            f" {question.selection.error():,.0f} people or more appears with probability 0.95"
        )
    if question.bound is not None:
        notes.append(
            f"a tenth of the price is spent on choosing max_rows; until then {question.unit.max_rows} is supposed"
        )
    if rows is None and any(each.sized for each in question.measures):
        notes.append("n is the number of rows in a group: pass rows= to see figures")
    return notes
