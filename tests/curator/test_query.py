"""Query: columns to speak of, verbs that return another table, and nothing paid."""

import copy

import pytest

import discreet as dp
from discreet.core.errors import BadParameter, UnknownName
from discreet.curator.query import UnknownColumn
from discreet.plan.expressions import Name
from tests.curator.questions import answered, head, opened


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    return opened(tmp_path_factory.mktemp("query"), rows=10).table("visits")


def exactly(report, **others):
    (answer,) = answered(report.asked(epsilon=10**6, **others))
    return answer


def test_columns_are_attributes_and_items(visits):
    assert isinstance(visits.age, Name)
    assert visits["age"].same_as(visits.age)
    assert {"age", "where", "ward"} <= set(dir(visits))


@pytest.mark.parametrize("ask", [lambda t: t.agee, lambda t: t["agee"], lambda t: t.group_by("agee")])
def test_an_unknown_column_is_refused_with_the_nearest(visits, ask):
    with pytest.raises(UnknownColumn, match="did you mean 'age'"):
        ask(visits)


def test_a_private_attribute_is_no_column(visits):
    assert not hasattr(visits, "_age")
    assert not hasattr(visits, "nothing_like_it")
    assert copy.copy(visits) == visits


def test_rows_are_kept_where_all_conditions_are_true_and_not_null(visits):
    assert exactly(visits.where(visits.age >= 18, visits.urgent).count()).value() == 4
    assert exactly(visits.where((visits.age >= 18) | visits.age.is_null()).count()).value() == 8


@pytest.mark.parametrize("condition", [lambda t: t.age, lambda t: t.age + 1, lambda t: "age"])
def test_a_condition_that_is_no_flag_is_refused(visits, condition):
    with pytest.raises(dp.Refusal) as refused:
        visits.where(condition(visits))
    assert "true or false" in str(refused.value)


def test_no_condition_is_refused(visits):
    with pytest.raises(BadParameter, match="nothing to keep rows by"):
        visits.where()


def test_derived_columns_may_build_on_each_other(visits):
    wide = visits.derive(double=visits.age * 2).derive(more=visits.age + 1)
    assert {"double", "more"} <= set(wide.columns)
    assert exactly(wide.where(wide.double > 100).count()).value() == 2


def test_a_join_adds_public_columns_and_leaves_rows_without_partner_out(visits):
    wards = visits.desk.public("wards", {"code": ["A", "B"], "floor": [1, 2]})
    joined = visits.join(wards, on={"ward": "code"})
    assert exactly(joined.count()).value() == 8
    assert [row["n"] for row in exactly(joined.group_by("floor").agg(n=dp.count()))] == [5, 3]


def test_a_union_has_the_rows_of_both(visits):
    old, young = visits.where(visits.age >= 40), visits.where(visits.age < 40)
    assert exactly(old.union(young).count()).value() == 9


def test_a_union_is_with_an_ungrouped_table_of_the_same_session(visits, tmp_path):
    with pytest.raises(BadParameter, match="no table of this session"):
        visits.union(opened(tmp_path).table("visits"))
    with pytest.raises(BadParameter, match="no table of this session"):
        visits.union("visits")
    with pytest.raises(BadParameter, match="grouped already"):
        visits.union(visits.group_by("ward"))


def test_groups_come_last_and_once(visits):
    grouped = visits.group_by("ward")
    for verb in (lambda: grouped.where(visits.age > 3), lambda: grouped.derive(x=visits.age)):
        with pytest.raises(BadParameter, match="before group_by"):
            verb()
    with pytest.raises(BadParameter, match="grouped already"):
        grouped.group_by("urgent")
    with pytest.raises(BadParameter, match="nothing to group by"):
        visits.group_by()


def test_groups_may_be_derived_on_the_spot_and_keys_given(visits):
    answer = exactly(visits.group_by(old=visits.age >= 40).agg(n=dp.count()))
    assert [(row["old"], row["n"]) for row in answer] == [(False, 4), (True, 5)]
    cities = exactly(visits.group_by("city", keys={"city": ["東京", "Bern", "Paris"]}).agg(n=dp.count()))
    assert [(row["city"], row["n"]) for row in cities] == [("東京", 1), ("Bern", 5), ("Paris", 0)]


def test_keys_of_a_column_that_is_not_grouped_by_are_refused(visits):
    with pytest.raises(UnknownName, match="key column"):
        visits.group_by("ward", keys={"city": ["Bern"]})


def test_only_all_rows_have_the_declared_size(visits):
    assert visits.count().asked(epsilon=1).reach.size == 10
    assert visits.where(visits.age > 3).count().asked(epsilon=1).reach.size is None
    assert visits.group_by("ward").agg(n=dp.count()).asked(epsilon=1).reach.size is None


def test_an_expression_is_neither_true_nor_false(visits):
    with pytest.raises(dp.Refusal):
        visits.where(18 <= visits.age <= 65)


def test_asking_around_leaves_the_ledger_alone(visits):
    before = head(visits.desk)
    visits.where(visits.age > 3).group_by("ward").agg(n=dp.count()).preview(epsilon=1)
    assert head(visits.desk) == before
