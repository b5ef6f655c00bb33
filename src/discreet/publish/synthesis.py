"""Synthesize: make the twin of a coded table, by a method of choice or by the one that suits the question best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from discreet.account.budget import Budget
from discreet.core.errors import BadParameter
from discreet.publish.auto import chosen
from discreet.publish.coded import Coded, Measure
from discreet.publish.domain import Domain
from discreet.publish.method import check_method, method_of
from discreet.publish.spending import Allowance
from discreet.publish.twin import Twin
from discreet.publish.workload import Workload

Asked = int | Sequence[Sequence[str]] | None


def synthesize(
    data: object,
    domain: Mapping[str, int] | Domain,
    *,
    budget: Budget,
    method: str = "auto",
    workload: Asked = None,
    progress: Callable[[str], None] | None = None,
) -> Twin:
    """Make a twin of a table of whole-number codes: a data frame, an Arrow table or a dict of arrays.

    `domain` says how many codes each column has; what lies outside counts as missing. `workload` says what the twin is
    to get right: all marginals of 3 columns, unless told otherwise.

    Guarantee: the budget, where adding or removing a row makes neighbours. Nothing but noisy marginals and choices
    leaves the table; the number of rows is one of them.
    """
    known = domain if isinstance(domain, Domain) else Domain.of(domain)
    return twin_of(Coded.of(data, known).measure, known, Allowance.of(budget), method, workload, progress)


def twin_of(
    measure: Measure,
    domain: Domain,
    allowance: Allowance,
    method: str = "auto",
    workload: Asked = None,
    progress: Callable[[str], None] | None = None,
) -> Twin:
    """Make a twin from whatever measures exact marginals.

    Guarantee: `allowance.loss`, for marginals in which one person moves at most `allowance.rows` rows.
    """
    wanted = Workload.of(domain, workload)
    words: tuple[str, ...] = ()
    if method == "auto":
        method, why = chosen(domain, allowance, wanted)
        words = (why,)
    check_method(method, domain)
    built = method_of(method).build(measure, domain, allowance, wanted, progress or (lambda _: None))
    return Twin(domain, built.model, built.merged, built.measured, allowance.loss, method, words)


def load(path: str | Path) -> Twin:
    """Read a twin that was saved."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise BadParameter(
            "path", str(path), why="no twin can be read there", fix="pass the file that save wrote"
        ) from None
    return Twin.from_json(text)
