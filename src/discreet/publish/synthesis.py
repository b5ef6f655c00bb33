"""Synthesis: synthetic data of a coded table, by a given method or by the one that suits the question best."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from discreet.account.budgets.budget import Budget
from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.publish.allowance import Allowance
from discreet.publish.code_table import Coded, Measure, columns_of
from discreet.publish.coding import DEFAULT_BINS, Coding
from discreet.publish.domain import Domain
from discreet.publish.method import MarginalWorkload, check_cells, check_method, method_of
from discreet.publish.stages import Progress, stages_of, telling
from discreet.publish.synthetic_data import SyntheticData
from discreet.publish.zeros import Zero, constrained, spoken_of, zeros_of

WorkloadLike = int | Sequence[Sequence[str]] | None


# A workload of no more marginals than this for each attribute is about as many as rounds would measure anyway.
FEW_MARGINALS = 8
# The noise, in rows, at which it is better to measure all of them than to spend on choosing.
LITTLE_NOISE = 16.0
# The noise of the whole budget on one marginal, in rows, below which rounds may take their time.
RICH = 1.0


def synthesize(
    data: object,
    domain: Mapping[str, int] | Mapping[str, Column] | Domain,
    *,
    budget: Budget,
    method: str = "auto",
    workload: WorkloadLike = None,
    zeros: Iterable[Mapping[str, Any]] = (),
    bins: int = DEFAULT_BINS,
    progress: Progress | None = None,
) -> SyntheticData:
    """Make synthetic data of a table: a data frame, an Arrow table or a dict of arrays.

    `domain` says how many codes each column has, where columns hold whole-number codes; what lies outside counts as
    missing. Or it declares the columns, {"age": between(0, 110)}: then numbers and dates are put into at most `bins`
    bins, and samples are values. `workload` says what to preserve: all marginals of 3 columns,
    unless told otherwise. `zeros` are combinations that no row can have: [{"age": range(0, 12), "married": True}].
    `progress` is told every step of the method as it begins, which of how many it is, and how long it takes at most.

    Guarantee: the budget, where adding or removing a row makes neighbours. Nothing but noisy marginals and choices
    leaves the table; the number of rows is one of them.
    """
    _check(domain, budget)
    allowance, listed = Allowance.of(budget), [*zeros]
    if not isinstance(domain, Domain) and any(isinstance(each, Column) for each in domain.values()):
        coding = Coding.of(cast("Mapping[str, Column]", domain), bins=bins, zeros=listed)
        found = coding.coded(columns_of(data))
        synthetic = synthesized(
            found.measure, coding.domain, allowance, method, workload, progress, coding.zeros(listed)
        )
        return replace(synthetic, coding=coding, words=(*synthetic.words, *coding.left_out))
    known = domain if isinstance(domain, Domain) else Domain.of(cast("Mapping[str, int]", domain))
    coded = Coded.of(data, known)
    return synthesized(coded.measure, known, allowance, method, workload, progress, zeros_of(known, listed))


def synthesized(
    measure: Measure,
    domain: Domain,
    allowance: Allowance,
    method: str = "auto",
    workload: WorkloadLike = None,
    progress: Progress | None = None,
    zeros: Sequence[Zero] = (),
) -> SyntheticData:
    """Make synthetic data from a function that measures exact marginals.

    Guarantee: `allowance.loss`, for marginals in which one person moves at most `allowance.rows` rows.
    """
    wanted = replace(MarginalWorkload.of(domain, workload), apart=spoken_of(zeros))
    words: tuple[str, ...] = ()
    if method == "auto":
        method, why = chosen(domain, allowance, wanted)
        words = (why,)
    check_method(method, domain)
    check_cells(method, domain, wanted)
    say = telling(stages_of(method, domain, wanted), progress or (lambda _: None))
    built = method_of(method).build(measure, domain, allowance, wanted, say)
    built, words = constrained(built, zeros), (*words, *built.words)
    return SyntheticData(
        domain, built.model, built.merged, built.measured, allowance.loss, method, words, zeros=tuple(zeros)
    )


def chosen(domain: Domain, allowance: Allowance, workload: MarginalWorkload) -> tuple[str, str]:
    """Return the name of a method, and the reason in words."""
    if all(len(clique) == 1 for clique in workload.weights):
        return "independent", "independent: the workload asks for single attributes alone"
    from discreet.publish.methods import mwem, tables

    many, cells = len(workload.weights), math.prod(domain.sizes)
    noise = allowance.scale(allowance.amount / many)
    if cells <= tables.MOST_CELLS and many <= FEW_MARGINALS * len(domain) and noise <= LITTLE_NOISE:
        return "tables", f"tables: the budget measures all {many} marginals with a noise of {noise:.2g} rows a cell"
    if cells <= mwem.MOST_CELLS and allowance.scale(allowance.amount) > RICH:
        return "mwem", f"mwem: a histogram of all {cells:,} cells can be held, and few measurements have to do"
    return "aim", "aim: its rounds measure what the model so far gets most wrong"


def _check(domain: object, budget: object) -> None:
    if not isinstance(budget, Budget):
        raise BadParameter("budget", budget, why="it is not a budget", fix="use Budget(epsilon=1, delta=1e-9)")
    if isinstance(domain, Domain):
        return
    if not isinstance(domain, Mapping):
        why = "it does not say how many codes each column has"
        raise BadParameter("domain", domain, why=why, fix='write {"age": 32, "sex": 2}, or declare the columns')
    declared = {name: isinstance(each, Column) for name, each in domain.items()}
    if any(declared.values()) and not all(declared.values()):
        mixed = [name for name, is_declared in declared.items() if not is_declared]
        why = "some columns are declared, and these are numbers of codes"
        raise BadParameter("domain", mixed, why=why, fix="declare all columns, or give numbers for all")


def load(path: str | Path) -> SyntheticData:
    """Read saved synthetic data."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise BadParameter(
            "path", str(path), why="it contains no synthetic data", fix="pass the file that save wrote"
        ) from None
    return SyntheticData.from_json(text)
