"""Session: what an analyst holds: tables to ask about, and what is left to spend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss
    from discreet.answers.answer import Answer
    from discreet.ask.desk import Desk
    from discreet.ask.dummy import DummyTable
    from discreet.ask.preview import Preview
    from discreet.ask.priced import Rows
    from discreet.ask.query import Query
    from discreet.ask.release_list import Release
    from discreet.ask.remaining import Remaining
    from discreet.ask.request import DeskRequest, Fresh, TrainingTerms
    from discreet.ask.verbs.training_run import TrainingPreview
    from discreet.ask.watches.count_watch import CountWatch, WatchPreview
    from discreet.ask.watches.pmw import Weighed
    from discreet.core.rational import Number
    from discreet.learn.linear_model import LinearModel
    from discreet.ledger.artefacts.artefact import Artefact
    from discreet.ledger.charge import Receipt
    from discreet.ledger.entry import Head
    from discreet.ledger.integrity.certificate import Certificate
    from discreet.ledger.oversight.approval import ApprovalRequest
    from discreet.plan.nodes import Public


class Session:
    """The tables of one grant. Made by `connect(path, token)` or `curator.session(token)`.

    Guarantee: an analyst sees answers, schemas and budgets, never a row; every answer was charged before it was
    computed, to the budget of all tables that share people, anyone who asks.
    """

    __slots__ = ("__weakref__", "_desk")

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @property
    def desk(self) -> Desk:
        """What its verbs go through."""
        return self._desk

    def table(self, name: str) -> Query:
        """Return a table to ask about: a question without conditions."""
        from discreet.ask.query import Query
        from discreet.plan.nodes import Scan

        self._desk.registered(name)
        return Query(self._desk, Scan(name))

    def sql(
        self,
        text: str,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        max_rows: Rows = None,
        fresh: Fresh = False,
        *,
        public: Iterable[Public] = (),
        keys: Mapping[str, Sequence[object]] | None = None,
        cut: bool | int = False,
    ) -> Answer:
        """Ask in SQL, pay, and return the answer: `session.sql("SELECT COUNT(*) FROM visits", epsilon=0.5)`.

        The same question in Python has the same key: whichever comes second is replayed for free.
        `public` are tables made with `session.public` that the text may join; `keys` declares the keys of a column that
        has none, as in `keys={"city": ["Bern", "Basel"]}`. `cut` is that of `Report.release`: in
        the text it is `cut = true`.

        Guarantee: that of `Report.release`; no text of the question reaches an engine, only the plan's own SQL.
        """
        from discreet.ask.sql import spoken

        found = spoken(self._desk, text, epsilon, delta, rho, max_rows, public=public, keys=keys)
        return found.release(fresh=fresh, cut=cut)

    def preview_sql(
        self,
        text: str,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        max_rows: Rows = None,
        *,
        rows: int | None = None,
        public: Iterable[Public] = (),
        keys: Mapping[str, Sequence[object]] | None = None,
        sql: bool = False,
        cut: bool | int = False,
    ) -> Preview:
        """Show what a question in SQL would cost and how far its answer would be off; free, made without any data.

        `sql=True` also shows the statements that the table's engine would run for it.
        """
        from discreet.ask.sql import spoken

        found = spoken(self._desk, text, epsilon, delta, rho, max_rows, public=public, keys=keys)
        return found.preview(rows, sql=sql, cut=cut)

    def pmw(
        self,
        table: str | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        *,
        resume: Receipt | Mapping[str, Any] | str | None = None,
        **terms: Any,  # noqa: ANN401  (checked there)
    ) -> Weighed:
        """Begin a session of private multiplicative weights: many counts of a table, for one price, paid now.

        `columns` are those that questions will name, `bins` how many bins numbers get, `alpha` the share of all rows by
        which a guess may be off, `updates` how many may be further off, `questions` how many there will be at most. The
        table may be left out where the grant covers one alone. See `discreet.ask.watches.pmw`. `resume` goes on with a
        session that was begun before on the same terms, by its receipt or its key, for nothing: its process may have
        died.

        Guarantee: the price is in the ledger, in full, before any row is read; easy questions use up none of it.
        """
        from discreet.account.budgets.price import Price
        from discreet.ask.watches.pmw import interactive

        names = self.tables()
        if table is None and len(names) != 1:
            raise BadParameter("table", names, why="a session is about one table", fix="name it: pmw('visits', ...)")
        asked = interactive(self.table(table or names[0]), Price.of(epsilon, delta, rho), **terms)
        if resume is None:
            return asked.begin()
        return asked.resume(_key_of(resume))

    def watch(self, query: Query, kind: str, *, epsilon: Number, resume: object = None, **terms: Any) -> CountWatch:  # noqa: ANN401  (checked there)
        """Begin to watch counts of a query's rows, for one price, paid now; see docs/watches.md.

        `above_threshold` and `sparse_vector` say of each count whether it reaches `threshold`, until one was, or
        `cutoff` of them were; `questions` says how many looks there will be at most, and `answers` which share of the
        price gives the counts above as well. `counter` gives running totals along the keys of a column, `by`. `resume`
        goes on with a watch that was begun before on the same terms, by its receipt or its key, for nothing.

        Guarantee: the price is in the ledger, in full, before any row is read; looks cost nothing more.
        """
        from discreet.ask.watches.count_watch import CountWatch

        return CountWatch(query, self._desk.run(_watch(query, kind, epsilon, resume, terms)))

    def preview_watch(self, query: Query, kind: str, *, epsilon: Number, **terms: Any) -> WatchPreview:  # noqa: ANN401
        """Show what a watch would promise, and how far off it may be; free, made without any data."""
        found: WatchPreview = self._desk.preview(_watch(query, kind, epsilon, None, terms))
        return found

    def fit(
        self,
        query: Query,
        estimator: Learner,
        target: str,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        *,
        columns: Sequence[str] | None = None,
        fresh: Fresh = False,
    ) -> Learner:
        """Pay for a model that predicts a column of a query from others, and return the estimator, fitted.

        `columns` are those it learns from: all whose values were declared, unless named. Encodings, classes and bounds
        are those of the declarations. The same request on the same version of the data is replayed for free.

        Guarantee: the price is in the ledger before any row is read; a person's rows are clipped together, and nothing
        but noisy sums leaves the engine's side.
        """
        from discreet.account.budgets.price import Price
        from discreet.ask.request import DeskRequest

        terms = _training_terms(estimator, target, columns)
        request = DeskRequest("fit", query, terms, Price.of(epsilon, delta, rho))
        estimator.adopt(self._desk.run(request, fresh=fresh).answer)
        return estimator

    def preview_fit(
        self,
        query: Query,
        estimator: Learner,
        target: str,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        *,
        columns: Sequence[str] | None = None,
    ) -> TrainingPreview:
        """Show what a model would cost and what to expect of it; free, and computed without any data."""
        from discreet.account.budgets.price import Price
        from discreet.ask.request import DeskRequest

        terms = _training_terms(estimator, target, columns)
        found: TrainingPreview = self._desk.preview(DeskRequest("fit", query, terms, Price.of(epsilon, delta, rho)))
        return found

    def bill(self, tables: str | Iterable[str], loss: PrivacyLoss, label: str, *, key: str | None = None) -> Receipt:
        """Charge for work of this analyst that is done elsewhere, as `Curator.bill` does, also to their own caps.

        Guarantee: the loss passes every limit that a question of this analyst would pass, and is durable on return.
        """
        from discreet.curator.bill import names_of

        return self._desk.bill(names_of(tables), loss, label, key)

    def certificate(self, release: Answer | Receipt | Mapping[str, Any]) -> Certificate:
        """Return the signed certificate of an answer, or of the release that a receipt is about."""
        receipt: Receipt | Mapping[str, Any] | None = getattr(release, "receipt", release)  # type: ignore[arg-type]
        return self._desk.certificate(receipt)

    def tables(self) -> list[str]:
        """Return the names of the tables the grant covers."""
        return self._desk.tables()

    def remaining(self) -> Remaining:
        """Return what this analyst may still spend: under the grant, this month, and of the tables' own budgets."""
        from discreet.ask.remaining import Remaining

        return Remaining(tuple(self._desk.budget()))

    def releases(self) -> Sequence[Release]:
        """Return what this analyst has paid for, the newest last: when, about what, at which loss, with which files."""
        return self._desk.releases()

    def artefact(self, file: str | Artefact, place: str | Path) -> Path:
        """Copy a published file, as `releases` lists it, to a new place.

        Guarantee: what lies there has the size and the SHA-256 that were settled; a file that was lost or changed is
        refused, and nothing is made or charged again.
        """
        self._desk.artefact(file if isinstance(file, str) else file.name, Path(place))
        return Path(place)

    def pending(self) -> Sequence[ApprovalRequest]:
        """Return your questions that wait for the custodian's approval, with what became of them.

        One that was `approved` is released by asking it again, just as it was; one that was `denied` has a reason.
        """
        return self._desk.pending()

    def show(self, *receipts: object) -> str | None:
        """Show the vault answers or receipts that you have; return why it is frozen, None if it is not.

        A vault that has lost one of them was put back as it once was. It is frozen then, for everybody.

        Guarantee: only what the vault signed has an effect, so that nobody can freeze it by a word of their own.
        """
        return self._desk.show(receipts) if receipts else None

    def head(self) -> Head:
        """Return the end of the vault's chain: kept elsewhere, it shows whether an older copy was put back."""
        return self._desk.head()

    @property
    def analyst(self) -> str:
        """The name the grant was made out to."""
        return self._desk.analyst

    def close(self) -> None:
        """Close the engine and the vault, or the connection to its server."""
        self._desk.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Session({self.analyst!r}, tables={self.tables()!r})"

    def dummy(self, name: str, rows: int = 1000, *, seed: int = 0) -> DummyTable:
        """Return rows made up from a table's declaration alone, to write code with before anything is spent.

        Guarantee: no row of the table is read; the same declaration and seed give the same rows.
        """
        from discreet.ask.dummy import dummy

        return dummy(self._desk.registered(name).table, rows, seed)

    def public(self, name: str, data: object = None) -> Public:
        """Return a public table to join with: one that the custodian registered, or one of rows that are given here.

        Rows come as columns ({"ward": ["A"], "floor": [1]}), as a list of rows ([{"ward": "A", "floor": 1}]) or as a
        frame of pandas, Polars or Arrow. They become part of the question, and so are at most 100,000; keys may be
        taken from them too. NaN is null.
        """
        from discreet.engines.duckdb.frame_values import values_of
        from discreet.plan.nodes import MOST_PUBLIC_ROWS, public

        return (
            self._desk.public_table(name).dimension if data is None else public(name, values_of(data, MOST_PUBLIC_ROWS))
        )

    def public_tables(self) -> list[str]:
        """Return the names of the public tables that the custodian registered, for any question to join."""
        return self._desk.public_tables()


def _key_of(receipt: object) -> str:
    """Return the key of a running release, by itself, its receipt or the record of that."""
    found = receipt["key"] if isinstance(receipt, Mapping) else getattr(receipt, "key", receipt)
    return str(found)


def _watch(query: Query, kind: str, epsilon: Number, resume: object, terms: Mapping[str, Any]) -> DeskRequest:
    from discreet.account.budgets.price import Price
    from discreet.ask.request import DeskRequest, some_fields
    from discreet.ask.watches.watch import WatchTerms
    from discreet.core.rational import as_written

    known = dict(some_fields("terms", dict(terms), ("threshold", "cutoff", "answers", "questions", "by")))
    if known.get("answers") is not None:
        known["answers"] = as_written("answers", known["answers"])
    key = None if resume is None else _key_of(getattr(resume, "receipt", resume))
    return DeskRequest("watch", query, WatchTerms(kind, **known, resume=key), Price.of(epsilon))


class Learner(Protocol):
    """What `Session.fit` fits: an estimator of `discreet.learn`."""

    objective: ClassVar[Any]
    bins: int | None

    def adopt(self, model: LinearModel) -> Self:
        """Take the model that was trained."""


def _training_terms(estimator: Learner, target: str, columns: Sequence[str] | None) -> TrainingTerms:
    from discreet.ask.request import TrainingTerms

    if not isinstance(getattr(estimator, "objective", None), str) or not hasattr(estimator, "adopt"):
        fix = "use one of discreet.learn, such as learn.LogisticRegression()"
        raise BadParameter("estimator", type(estimator).__name__, why="it is none that a vault trains", fix=fix)
    stated = [name for name in _STATED if getattr(estimator, name, None) is not None]
    if stated or getattr(estimator, "relation", "add_remove") != "add_remove":
        why = "the price is stated with fit, and columns, classes, bounds and neighbours are those of the declarations"
        raise BadParameter("estimator", stated or "relation", why=why, fix="leave it out of the estimator")
    if not isinstance(target, str):
        raise BadParameter("target", target, why="it is the name of a column", fix='write target="again"')
    if isinstance(columns, str):
        raise BadParameter("columns", columns, why="it is a list of names", fix=f"write [{columns!r}]")
    return TrainingTerms(estimator.objective, target, columns if columns is None else [*columns], estimator.bins)


_STATED = ("epsilon", "delta", "budget", "columns", "classes", "target", "rows")
