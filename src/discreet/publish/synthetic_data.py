"""Synthetic data: a model of a table, fitted once to paid measurements, to be sampled and queried for free."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.zcdp import Zcdp
from discreet.core.errors import BadParameter, Refusal
from discreet.publish.coding import Coding
from discreet.publish.domain import Clique, Domain
from discreet.publish.merged_codes import Merged
from discreet.publish.model.fit import Fit, NoisyMarginal
from discreet.publish.model.junction import Schedule, Table, axes_outside
from discreet.publish.model.marginal import ModelMarginals, summed
from discreet.publish.synthetic_serial import from_json, save, to_json
from discreet.publish.zeros import Zero, is_forbidden

if TYPE_CHECKING:
    from discreet.publish.quality import Quality
    from discreet.publish.sample import Sample

# A potential that leaves no chance: its exponential is zero, and yet it is a number to calculate with.
_NEVER = -1e6
_TINY = 1e-300
_IMPOSSIBLE = 1e-250  # a share that only comes from what stands for zero
# Rows that cannot be are drawn again; a model that knows of them hardly ever draws one.
_MOST_TURNS = 2000
_MOST_ROWS = 1 << 28

# Why there is no bar, where there is none.
_NOT_MEASURED = "not measured"
_NO_BAR = {"merf": "random features were measured, and a count is not a sum of those; ask the table for this count"}


@dataclass(frozen=True, slots=True)
class SyntheticEstimate:
    """A number from synthetic data, and how far the truth may be from it.

    `error` is a half-width that holds with probability 1 - beta, from the noise that was added and from how far the
    model is from what was measured. It is None where nothing that was measured bears on the question: then nobody who
    has not paid can say, and `reason` says what is missing.
    """

    value: float
    error: float | None
    reason: str = ""

    @property
    def low(self) -> float | None:
        """The lower end, where there is one."""
        return None if self.error is None else self.value - self.error

    @property
    def high(self) -> float | None:
        """The upper end, where there is one."""
        return None if self.error is None else self.value + self.error

    def __str__(self) -> str:
        bar = f"(no bar: {self.reason or _NOT_MEASURED})" if self.error is None else f"± {self.error:,.0f}"
        return f"{self.value:,.0f} {bar}"


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticData:
    """A model of a table over coded attributes; with a `coding`, it speaks in the values of declared columns.

    Guarantee: everything here follows from measurements that `loss` paid for; sampling it or asking it costs nothing.
    """

    domain: Domain
    model: Fit
    merged: Merged
    measured: tuple[NoisyMarginal, ...]
    loss: PrivacyLoss
    method: str
    words: tuple[str, ...] = ()
    coding: Coding | None = None
    zeros: tuple[Zero, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows the table has, as far as the measurements tell."""
        return max(0, round(self.model.total))

    def codes(self, rows: int | None = None, *, independent: bool = False) -> dict[str, NDArray[np.int64]]:
        """Draw rows as codes; as many as the table has, unless said otherwise."""
        many = self.rows if rows is None else rows
        if isinstance(many, bool) or not isinstance(many, int) or many < 0:
            raise BadParameter("rows", rows, why="a sample has a whole number of rows", fix="use 1000, for example")
        if many > _MOST_ROWS:
            why = f"a sample is held in memory, and {_MOST_ROWS:,} rows are the most"
            raise BadParameter("rows", many, why=why, fix="say how many you want, and draw several samples")
        drawn = self._drawn(many, independent=independent)
        return dict(zip(self.domain.names, self._possible(drawn), strict=True))

    def sample(self, rows: int | None = None, *, independent: bool = False) -> Sample:
        """Draw rows as values: for pandas, Polars, Arrow, CSV and Parquet; as many as the table has, unless said.

        A number or a date is drawn from its bin, each step of it as likely as any other. Without a coding the values
        are the codes. `independent` draws each row by itself; otherwise rows are spread evenly over the model.
        """
        from discreet.publish.sample import Sample, SampledColumn

        codes = self.codes(rows, independent=independent)
        if self.coding is None:
            return Sample({name: SampledColumn("whole", found) for name, found in codes.items()})
        return Sample({each.name: each.drawn(codes[each.name]) for each in self.coding.codes})

    def report(self) -> Quality:
        """Report the distance to the measurements, and what was never measured; from paid measurements only, free."""
        from discreet.publish.quality import report

        return report(self)

    def marginal(self, columns: str | Iterable[str]) -> Table:
        """Return the expected count of every cell of a marginal, in the order of the domain."""
        clique = self.domain.clique(columns)
        table = ModelMarginals.of(self.model).table(clique) * self.model.total
        return self.merged.expanded(clique, table)

    def answer(self, where: Mapping[str, object], *, beta: float = 0.05) -> SyntheticEstimate:
        """Estimate how many rows have one of the given codes, or values, in every named column.

        The bar holds with probability 1 - beta for each question by itself. A row that lacks a value, in a column
        declared without nulls, counts in no marginal of that column; bars are wider where that shows in what was
        measured. Where all that was measured lacks the row, it is not among the rows that are meant.
        """
        from discreet.publish.error_bars import bar

        if not isinstance(beta, int | float) or not 0 < beta < 1:
            raise BadParameter("beta", beta, why="it is a probability", fix="use 0.05")
        if not isinstance(where, Mapping):
            why = "a question names columns, and what is wanted of each"
            raise BadParameter("where", where, why=why, fix='write {"age": range(0, 12), "married": True}')
        picked = {self.domain.clique(name)[0]: self._picked(name, codes) for name, codes in where.items()}
        clique: Clique = tuple(sorted(picked))
        table = self.marginal(self.domain.named(clique)) if clique else np.asarray(self.model.total)
        for axis, place in enumerate(clique):
            shape = [-1 if other == axis else 1 for other in range(len(clique))]
            table = table * picked[place].reshape(shape)
        gaussian = isinstance(self.loss, Zcdp)
        error = bar(self.model, self.merged, self.measured, picked, beta, gaussian=gaussian)
        return SyntheticEstimate(
            float(table.sum()), error, "" if error is not None else _NO_BAR.get(self.method, _NOT_MEASURED)
        )

    def condition(self, **values: object) -> SyntheticData:
        """Return the synthetic data of rows with one of the given codes, or values, in every named column."""
        found = self
        for name, codes in values.items():
            found = found._given(self.domain.clique(name)[0], self._picked(name, codes))
        return found

    def save(self, path: str | Path) -> None:
        """Write it as one versioned JSON file, which `publish.load` reads; no code is in it."""
        save(path, self.to_json())

    def to_json(self) -> str:
        """Write it as versioned JSON."""
        return to_json(self)

    @classmethod
    def from_json(cls, text: str) -> SyntheticData:
        """Read what `to_json` wrote."""
        return cls(**from_json(text))

    def __repr__(self) -> str:
        return f"SyntheticData({self.method!r}, {len(self.domain)} attributes, about {self.rows:,} rows, {self.loss!r})"

    def _drawn(self, rows: int, *, independent: bool) -> list[NDArray[np.int64]]:
        from discreet.publish.model.sample import sample

        return self.merged.codes(sample(self.model, rows, independent=independent)[: len(self.domain)])

    def _possible(self, drawn: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
        """Draw rows that cannot be again, until there is none."""
        if not self.zeros:
            return drawn
        for _ in range(_MOST_TURNS):
            wrong = np.flatnonzero(is_forbidden(self.zeros, drawn))
            if not len(wrong):
                return drawn
            again = self._drawn(len(wrong), independent=True)
            for column, new in zip(drawn, again, strict=True):
                column[wrong] = new
        why = "the zeros leave no row that it could have"
        raise Refusal("a sample of this synthetic data", why=why, fix="ask for a condition that some row can meet")

    def _picked(self, name: str, codes: object) -> NDArray[np.bool_]:
        (place,) = self.domain.clique(name)
        found = np.zeros(self.domain.sizes[place], bool)
        if self.coding is not None:
            codes = self.coding[name].codes(codes)
        # One by one: a range may be of any length.
        for code in codes if isinstance(codes, Iterable) and not isinstance(codes, str) else [codes]:
            if isinstance(code, bool) or not isinstance(code, int | np.integer) or not 0 <= code < len(found):
                why = f"the codes of {name!r} are 0 to {self.domain.sizes[place] - 1}"
                raise BadParameter(name, code, why=why, fix="use one of them")
            found[code] = True
        return found

    def _given(self, place: int, picked: NDArray[np.bool_]) -> SyntheticData:
        """Leave out what is not picked of one attribute, in the model and in the shares of its groups."""
        kept = self.merged.shares[place] * picked
        group = self.merged.groups[place]
        inside = np.bincount(group, weights=kept).astype(np.float64)
        if not inside.any():
            raise BadParameter(self.domain.names[place], [], why="no code is picked", fix="name at least one")
        shares = [*self.merged.shares]
        # A group that is left out keeps its shares: they still add up to one, and it is never drawn.
        there = inside[group] > 0
        shares[place] = np.where(there, kept / np.where(there, inside[group], 1.0), self.merged.shares[place])
        model = _reweighted(self.model, place, inside)
        if model.total < self.model.total * _IMPOSSIBLE:
            why = "no row of this synthetic data has these values, given the other conditions"
            raise BadParameter(
                self.domain.names[place], np.flatnonzero(picked).tolist(), why=why, fix="name others too"
            )
        return replace(self, model=model, merged=replace(self.merged, shares=tuple(shares)), measured=())


def _reweighted(model: Fit, place: int, weights: Table) -> Fit:
    """Return a model in which the cells of one attribute weigh so much less, and its total accordingly."""
    tree, schedule = model.tree, Schedule.of(model.tree)
    home = tree.home((place,))
    assert home is not None, "every attribute is in the tree"
    logs = []
    for number, (clique, table) in enumerate(zip(tree.cliques, model.tables, strict=True)):
        log = np.log(np.maximum(table, _TINY))
        if tree.separators[number]:
            shared = summed(table, axes_outside(clique, {*tree.separators[number]}))
            log = log - np.log(np.maximum(shared, _TINY)).reshape(schedule.here[number])
        logs.append(log)
    shape = [-1 if each == place else 1 for each in tree.cliques[home]]
    logs[home] = logs[home] + np.where(weights > 0, np.log(np.maximum(weights, _TINY)), _NEVER).reshape(shape)
    beliefs = schedule.beliefs(logs)
    return Fit(tree, tuple(beliefs.tables), model.total * float(np.exp(beliefs.log_scale)), {})
