"""Watches: charged once, looks settled one by one, told within their bars, gone on with elsewhere, ended in time."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.account.budgets.budget import Budget
from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.ask.watches.watch import WatchTerms
from discreet.core.errors import BadParameter, Refusal
from discreet.core.unit import person, row
from discreet.ledger.refusals import AccessRefused, Conflict
from discreet.ledger.running.part import RunEnded
from discreet.ledger.store import StoredDraw
from tests.ask.verbs.conftest import COLUMNS, DATA
from tests.curator.questions import PURE, curator_of, opened

SPARSE = {"threshold": 300, "cutoff": 2, "epsilon": 50}


def test_a_sparse_vector_says_which_counts_are_above_until_its_cutoff(session, visits):
    ledger = curator_of(session).ledger
    watch = session.watch(visits, "sparse_vector", **SPARSE)
    spent = ledger.spent("visits")
    assert spent.loss == 50
    assert not watch.look(visits.n < 10).above
    assert watch.look(visits.n < 90).above
    assert not watch.look(visits.n < 10, visits.n >= 5).above
    assert watch.look().above
    assert ledger.spent("visits") == spent
    assert [each.above for each in watch.looks] == [False, True, False, True]
    with pytest.raises(Conflict, match="all that was paid for"):
        watch.look()
    with pytest.raises(RunEnded):
        watch.look()
    with ledger._read() as look:
        assert next(look.all(StoredDraw), None) is None
    assert ledger.verify().entries == ledger.head[0]


def test_above_threshold_ends_with_the_first(session, visits):
    watch = session.watch(visits, "above_threshold", threshold=300, epsilon=50, questions=20)
    assert not watch.look(visits.n < 10).above
    assert watch.look().above
    with pytest.raises(Conflict):
        watch.look()


def test_a_counter_gives_running_totals_key_by_key(session, visits):
    watch = session.watch(visits.where(visits.n < 50), "counter", by="month", epsilon=200)
    totals = [watch.look().total for _ in range(3)]
    assert all(abs(total - 100 * time) <= watch.preview.error for time, total in enumerate(totals, 1))
    with pytest.raises(Conflict):
        watch.look()


def test_another_process_goes_on_and_the_first_catches_up(session, visits):
    first = session.watch(visits, "sparse_vector", **SPARSE)
    first.look(visits.n < 10)
    second = session.watch(visits, "sparse_vector", resume=first.receipt, **SPARSE)
    assert second.looks == first.looks
    assert second.look(visits.n < 90).number == 2
    assert first.look(visits.n < 11).number == 3
    assert len(first.looks) == 3
    assert curator_of(session).ledger.spent("visits").loss == 50


def test_the_threshold_is_drawn_once_for_all_looks(session, visits, monkeypatch):
    drawn = []
    real = dp.mechanisms.SparseVector.session

    def counted(self):
        drawn.append(self)
        return real(self)

    monkeypatch.setattr(dp.mechanisms.SparseVector, "session", counted)
    watch = session.watch(visits, "sparse_vector", **SPARSE)
    for most in (5, 6, 7):
        watch.look(visits.n < most)
    assert len(drawn) == 1


def test_other_terms_another_analyst_or_another_version_do_not_resume(session, visits):
    curator = curator_of(session)
    watch = session.watch(visits, "sparse_vector", **SPARSE)
    with pytest.raises(Conflict, match="other terms"):
        session.watch(visits, "sparse_vector", resume=watch, **SPARSE | {"threshold": 299})
    with (
        curator.session(curator.grant("bob", "visits")) as other,
        pytest.raises(AccessRefused, match="another analyst"),
    ):
        other.watch(other.table("visits"), "sparse_vector", resume=watch, **SPARSE)


def test_a_refreshed_table_ends_what_was_begun_on_the_old_rows(session, visits):
    import pandas as pd

    watch = session.watch(visits, "sparse_vector", **SPARSE)
    curator_of(session).refresh("visits", pd.DataFrame(DATA | {"n": DATA["n"][::-1]}))
    with pytest.raises(Conflict, match="refreshed"):
        session.watch(session.table("visits"), "sparse_vector", resume=watch, **SPARSE)


def test_one_that_does_not_fit_reads_nothing(tmp_path, monkeypatch):
    with opened(tmp_path, DATA, unit=row(), columns=COLUMNS, budget=Budget(epsilon=1)) as session:
        monkeypatch.setattr(type(session.desk), "runner", lambda *_: pytest.fail("the data were read"))
        with pytest.raises(BudgetExceeded):
            session.watch(session.table("visits"), "above_threshold", threshold=3, epsilon=2)


def test_noise_is_for_all_rows_of_a_person_and_a_counter_needs_rows_bounded_once(tmp_path):
    loose, kept = person("id", max_rows=5), person("id", max_rows=5, bound="table")
    errors = {}
    for name, unit in {
        "rows": row(),
        "loose": loose,
        "kept": kept,
        "replaced": person("id", max_rows=5, relation="replace"),
    }.items():
        with opened(tmp_path, DATA, unit=unit, columns=COLUMNS, budget=PURE) as session:
            visits = session.table("visits")
            errors[name] = session.preview_watch(visits, "sparse_vector", **SPARSE | {"epsilon": 0.1}).error
            if name in ("loose", "replaced"):
                with pytest.raises(BadParameter, match="bound='table'"):
                    session.preview_watch(visits, "counter", by="month", epsilon=1)
            else:
                errors[name, "counter"] = session.preview_watch(visits, "counter", by="month", epsilon=0.1).error
    assert errors["loose"] == errors["kept"]
    assert errors["loose"] == pytest.approx(5 * errors["rows"], rel=0.05)
    # One count moves by the rows of one person under replace too, but in both directions: answers have twice the noise.
    assert 1.5 * errors["loose"] < errors["replaced"] < 2 * errors["loose"]
    assert errors["kept", "counter"] == pytest.approx(5 * errors["rows", "counter"], rel=0.05)


@pytest.mark.parametrize(
    ("kind", "terms", "match"),
    [
        ("sparse", {}, "no such watch"),
        ("above_threshold", {}, "needs it"),
        ("above_threshold", {"threshold": 3, "cutoff": 2}, "no such term"),
        ("sparse_vector", {"threshold": 3.5, "cutoff": 2}, "whole number"),
        ("sparse_vector", {"threshold": 3, "cutoff": 0}, "whole number from 1"),
        ("sparse_vector", {"threshold": 3, "cutoff": 1, "answers": 1}, "share of the price"),
        ("counter", {"by": "n", "threshold": 3}, "no such term"),
        ("counter", {"by": "nothing"}, "no such column"),
        ("counter", {"by": "month", "wrong": 1}, "no field"),
    ],
)
def test_terms_that_make_no_sense_are_refused_before_anything_is_paid(session, visits, kind, terms, match):
    with pytest.raises(BadParameter, match=match):
        session.watch(visits, kind, epsilon=1, **terms)
    assert curator_of(session).ledger.spent("visits").loss == 0


def test_small_groups_that_a_policy_withholds_are_not_watched(session, visits):
    curator_of(session).withhold(below=5)
    with pytest.raises(BadParameter, match="withholds groups"):
        session.watch(visits, "sparse_vector", **SPARSE)


def test_terms_survive_their_record():
    terms = WatchTerms("sparse_vector", 3, 2, Fraction(1, 3), 7)
    assert WatchTerms.from_record(terms.record()) == terms
    with pytest.raises(Refusal):
        WatchTerms.from_record({"kind": "sparse_vector", "threshold": 1, "cutoff": 1, "answers": 0.5})
