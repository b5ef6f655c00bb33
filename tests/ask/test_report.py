"""Report: aggregates of a query, weighted, previewed and released."""

import pytest

import discreet as dp
from discreet.core.errors import BadParameter, UnknownName
from tests.curator.questions import head, opened


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    return opened(tmp_path_factory.mktemp("report")).table("visits")


def test_nothing_asked_is_refused(visits):
    with pytest.raises(BadParameter, match="nothing is asked"):
        visits.agg()


@pytest.mark.parametrize("wrong", ["cost", dp.count, 3, None])
def test_what_is_no_aggregate_is_refused(visits, wrong):
    with pytest.raises(BadParameter, match=r"it is not an aggregate|call it: count\(\)"):
        visits.agg(n=wrong)


def test_a_column_is_not_called_like_a_key(visits):
    with pytest.raises(BadParameter, match="name of a key"):
        visits.group_by("ward").agg(ward=dp.count())


@pytest.mark.parametrize("alone", [dp.histogram("ward"), dp.cdf("age", [18]), dp.top_k("ward", 1)])
def test_tables_of_their_own_are_asked_alone(visits, alone):
    with pytest.raises(BadParameter, match="a table of its own"):
        visits.agg(n=dp.count(), h=alone)


def test_weights_are_positive_and_name_what_is_asked(visits):
    report = visits.agg(n=dp.count(), cost=dp.mean("cost"))
    with pytest.raises(UnknownName, match="did you mean 'cost'"):
        report.weighted(coast=2)
    for wrong in (0, -1):
        with pytest.raises(BadParameter, match="without a share"):
            report.weighted(n=wrong)


@pytest.mark.parametrize(
    "aggregate",
    [dp.mean("ward"), dp.sum("city"), dp.median("urgent"), dp.variance("ward"), dp.covariance("age", "ward")],
)
def test_an_aggregate_of_the_wrong_kind_of_column_is_refused_with_the_fix(visits, aggregate):
    before = head(visits.desk)
    with pytest.raises(dp.Refusal, match="takes a number") as refused:
        visits.agg(x=aggregate).release(epsilon=1)
    assert refused.value.fix
    assert head(visits.desk) == before


def test_an_unknown_column_of_an_aggregate_is_refused_with_the_nearest(visits):
    with pytest.raises(UnknownName, match="did you mean 'cost'"):
        visits.agg(x=dp.mean("costs")).preview(epsilon=1)


def test_count_is_short_for_its_aggregate(visits):
    assert visits.count().asked(epsilon=1).question == visits.agg(count=dp.count()).asked(epsilon=1).question


def test_a_release_says_what_was_paid_and_what_remains(visits):
    answer = visits.agg(n=dp.count()).release(epsilon=0.25)
    assert answer.asked == {"epsilon": "1/4"}
    assert answer.unit == "one person (id), at most 3 rows, added or removed"
    assert answer.loss.epsilon(0) == pytest.approx(0.25)
    assert "of the budget of visits (" in answer.remaining
