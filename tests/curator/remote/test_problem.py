"""Problems: every refusal of the package has a status, and comes back as its own class in its own words."""

import sys
from fractions import Fraction

import pytest

from discreet.account.budgets.cost import Uncountable
from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.account.losses.loss import Unsupported
from discreet.core.errors import BadParameter, MissingExtra, Refusal, UnknownName
from discreet.curator.remote.problem import KINDS, TooMany, Unreachable, kind_of, problem, refusal_of
from discreet.engines.source import SourceChanged, SourceMissing
from discreet.ledger.refusals import (
    AccessRefused,
    Conflict,
    Frozen,
    LimitExceeded,
    QuestionFailed,
    Tampered,
    Unavailable,
)
from discreet.plan.refusals import IllTyped, TooWide
from discreet.plan.sql.refusals import SqlRefused
from discreet.plan.stability import UnboundedSensitivity

WORDS = {"why": "the reason", "fix": "do something else"}
EXCEEDED = BudgetExceeded("epsilon", Fraction(1, 3), Fraction(1, 7), budget=Fraction(2), theorem="sum", fits="less")
REFUSALS = [
    Refusal("this", **WORDS),
    BadParameter("epsilon", -1, **WORDS),
    UnknownName("table", "visist", ["visits"]),
    MissingExtra("plots", "plot", "matplotlib"),
    EXCEEDED,
    LimitExceeded(EXCEEDED, limit="your cap", account="visits"),
    TooMany("this request", **WORDS, seconds=2.5),
    QuestionFailed(),
    SqlRefused("SELECT agee FROM visits", (7, 11), **WORDS),
    *(kind("age", **WORDS) for kind in (IllTyped, TooWide, UnboundedSensitivity, Unsupported, Uncountable)),
    *(kind("visits", **WORDS) for kind in (SourceChanged, SourceMissing)),
    *(kind("this", **WORDS) for kind in (AccessRefused, Conflict, Frozen, Tampered, Unavailable)),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda each: type(each).__name__)
def test_a_refusal_comes_back_as_it_was(refusal):
    found = refusal_of(problem(refusal), kind_of(refusal).status)
    assert (type(found), str(found)) == (type(refusal), str(refusal))
    assert (found.what, found.why, found.fix) == (refusal.what, refusal.why, refusal.fix)
    if isinstance(refusal, BudgetExceeded):
        assert (found.requested, found.remaining, found.budget) == (Fraction(1, 3), Fraction(1, 7), 2)
    if isinstance(refusal, TooMany):
        assert found.seconds == 2.5


# What nobody is told over HTTP as it is: it is told as the question that failed, or never leaves its process.
ELSEWHERE = {"EngineFailed", "DeadlineExceeded"}


def test_every_refusal_of_a_question_has_a_kind_of_its_own():
    """Classes of plans and sources: what an analyst may catch at hand, can be caught over HTTP."""
    made = {type(each).__name__ for each in REFUSALS}
    for word in ("plan", "engines"):
        package = f"discreet.{word}"
        for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
            for each in vars(sys.modules[name]).values():
                if isinstance(each, type) and issubclass(each, Refusal) and each.__module__ == name:
                    assert each.__name__ in made | ELSEWHERE


def test_budgets_questions_and_rates_have_their_status():
    statuses = {kind.word: kind.status for kind in KINDS}
    assert (statuses["budget"], statuses["parameter"], statuses["rate"]) == (403, 422, 429)
    assert all(400 <= status < 600 and status != 500 for status in statuses.values())


@pytest.mark.parametrize("record", [None, [], {}, {"what": 1, "why": "x", "fix": "y"}, "text"])
def test_what_is_no_problem_document_is_no_answer_of_discreet(record):
    assert isinstance(refusal_of(record, 502), Unreachable)
