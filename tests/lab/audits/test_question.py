"""The auditor for questions in Python: what no SQL says is audited too, and planted bugs in it are found."""

import numpy as np
import pytest

import discreet as dp
from discreet.core import doors
from discreet.core.errors import BadParameter
from discreet.core.schema import Table
from discreet.lab import audit_question
from discreet.measures.reach import Reach
from discreet.mechanisms.moments import Moments
from discreet.mechanisms.top_k import TopK
from discreet.testing import seeded

# Nothing is drawn here but where runs are named: all is compared without chance, or with the audit's own alarm of 1e-6.
VISITS = Table(
    "visits", dp.person("pid", max_rows=3, max_groups=2), {"cost": dp.between(0, 100), "ward": dp.one_of("A", "B", "C")}
)


def audited(runs=0, table=VISITS, **aggregates):
    with seeded(1):
        return audit_question(
            lambda session: session.table("visits").group_by("ward").agg(**aggregates),
            table,
            epsilon=1,
            samples=10_000,
            runs=runs,
        )


def ways(found):
    return {each.way for each in found.tried if each.finding.violated}


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "aggregate",
    [
        pytest.param(dp.histogram("cost", [0, 20, 50, 100]), marks=SLOW),
        pytest.param(dp.cdf("cost", [20, 50]), marks=SLOW),
        dp.top_k("ward", 2),
    ],
)
def test_all_but_the_noise_of_bins_is_bounded(aggregate):
    found = audited(x=aggregate)
    assert (found.verdict, found.open) == ("not shown", ())
    assert "visits" in found.question
    assert 0.2 < max(each.finding.lower for each in found.tried) <= 1


SHARED = {"n": dp.count(), "m": dp.mean("cost"), "v": dp.variance("cost")}


def test_all_but_the_noise_of_shared_moments_is_bounded():
    found = audited(**SHARED)
    assert (found.verdict, found.open) == ("not shown", ())
    assert 0.2 < max(each.finding.lower for each in found.tried) <= 1


CAPPED = Table("visits", dp.person("pid", max_rows=4, max_groups=2, max_rows_per_group=1), VISITS.columns)


def test_rows_that_are_capped_by_group_are_bounded_and_forgotten_caps_are_found(monkeypatch):
    found = audited(table=CAPPED, n=dp.count())
    assert (found.verdict, found.open) == ("not shown", ())
    assert 0.2 < max(each.finding.lower for each in found.tried) <= 1
    # The engine forgets the cap, and the noise is that of two rows.
    monkeypatch.setattr("discreet.plan.to_sql.settled_plan.SettledPlan.cap", None)
    assert audited(table=CAPPED, n=dp.count()).verdict == "violated"


def test_a_term_of_shared_moments_without_noise_is_found(monkeypatch):
    honest = Moments._drawn

    def bare(self, count):
        drawn = honest(self, count)
        return [*drawn[:-1], np.zeros(count, dtype=np.int64) if isinstance(drawn[-1], np.ndarray) else [0] * count]

    monkeypatch.setattr(Moments, "_drawn", bare)
    assert audited(**SHARED).verdict == "violated"


def test_shared_moments_with_noise_for_the_width_and_not_its_square_are_found(monkeypatch):
    monkeypatch.setattr(Moments, "whole", property(lambda self: self.grid.width))
    assert audited(**SHARED).verdict == "violated"


def test_top_keys_chosen_three_times_as_surely_are_found_by_their_chances(monkeypatch):
    honest = TopK.sensitivity.fget
    monkeypatch.setattr(TopK, "sensitivity", property(lambda self: honest(self) // 3))
    assert ways(audited(x=dp.top_k("ward", 2))) == {"choices"}


@pytest.mark.slow
def test_the_likeliest_top_keys_are_found_by_what_is_drawn(monkeypatch):
    def likeliest(self, exact):
        counts = doors.opened(exact)
        return tuple(self.keys[place] for place in sorted(range(len(counts)), key=lambda at: -counts[at])[: self.k])

    monkeypatch.setattr(TopK, "release", likeliest)
    assert ways(audited(x=dp.top_k("ward", 2), runs=300)) == {"noise"}


def test_bins_with_noise_for_the_groups_of_a_unit_are_found(monkeypatch):
    def few(self, bins=None):
        return {"contributions": self.groups, "groups": self.groups}

    monkeypatch.setattr(Reach, "contributions", few)
    assert ways(audited(x=dp.histogram("cost", [0, 50, 100]))) == {"integers"}


def test_what_cannot_be_staged_is_refused():
    with pytest.raises(BadParameter, match="declared"):
        audit_question(lambda session: session.table("visits").agg(n=dp.count()), [], epsilon=1)


@pytest.mark.parametrize("relation", ["add_remove", pytest.param("replace", marks=SLOW)])
def test_what_is_bought_of_what_was_cut_uses_no_more_than_its_promise(relation):
    table = Table("visits", dp.person("pid", max_rows=3, relation=relation), {"cost": dp.between(0, 100)})
    with seeded(1):
        found = audit_question(
            lambda session: session.table("visits").count().cut(7), table, epsilon=1, samples=10_000, runs=0
        )
    integers = [each.finding for each in found.tried if each.way == "integers"]
    assert not any(each.violated for each in integers)
    if relation == "add_remove":  # seven rows of one person reach both bounds
        assert max(each.lower / each.claimed for each in integers) == pytest.approx(1)
